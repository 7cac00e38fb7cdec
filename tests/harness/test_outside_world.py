"""Tests of verdicts and errors that follow files outside of the editor, and of an incomplete index."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.errors import IndexIncomplete
from lsp_harness.harness.events import HarnessEvent, IndexReported, OpenFindingsChanged
from lsp_harness.harness.index_service import BEING_MADE
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.check import Check, CheckContext, CheckTools
from lsp_harness.verify.checks import SuiteCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import QUICK, Bench, Make
from tests.harness.test_prepared_fixes import ManualClock
from tests.harness.tools import make_settings
from tests.support.verification import wait_until_verified

ON_SAVE = make_settings(QUICK, verification={"on_save": True, "debounce_ms": 0, "on_open": False})


class ExpectedNumberSuites:
    """A fake test runner: a change fails unless it has the number that stands in `expected.txt` on disk."""

    def __init__(self, folder: Path) -> None:
        self._expected = folder / "expected.txt"
        self.objection = ""
        self.runs: list[str] = []

    async def compare(
        self, changes: ChangeSet, must_pass: frozenset[str], *, wants_repairs: bool, task: str
    ) -> Outcome:
        if self.objection:
            raise IndexIncomplete(self.objection)
        before, after = changes.main.before.text, changes.main.after.text
        self.runs.append(before)
        expected = self._expected.read_text()
        if expected in after:
            return Outcome("tests", "passed")
        if expected not in before:
            return Outcome("tests", "skipped", reason="all tests fail, with the present text too", is_unresolved=True)
        return Outcome("tests", "failed", (Finding(0, 1, f"expected {expected}", "tests", "test"),))

    def record_file_change(self, file: Path | None = None) -> None: ...
    async def aclose(self) -> None: ...


class Desk:
    """A harness with only the check by tests."""

    def __init__(self, bench: Make, folder: Path) -> None:
        (folder / "expected.txt").write_text("3")
        self.folder, self.suites = folder, ExpectedNumberSuites(folder)
        suites: Any = self.suites

        def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
            return [SuiteCheck(suites)]

        self.b: Bench = bench(config=ON_SAVE, verifier=Verifier(CheckTools(Ruff(), suites), create_checks))
        self.uri = self.b.open("a = 3\n").document.uri

    def save(self, old: str = "", new: str = "") -> None:
        text = self.b.harness.documents.get(self.uri).text
        if old:
            at = text.data.index(old.encode())
            self.b.harness.change(self.uri, Edit(at, at + len(old), new.encode()), text.version + 1)
        (self.folder / "a.py").write_bytes(self.b.harness.documents.get(self.uri).text.data)
        self.b.harness.record_save(self.uri)
        self.b.harness.verification.record_save(self.uri)

    @property
    def lens(self) -> str | None:
        lens = self.b.harness.verification.find_lens(self.b.harness.documents.get(self.uri).text)
        return lens.title if lens else None

    def report_index(self) -> None:
        self.b.harness.events.publish(IndexReported(self.folder, {"state": "ready"}))


async def test_a_failed_test_is_cleared_when_the_test_is_changed(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    desk.save("3", "4")
    await wait_until_verified()
    assert desk.lens == "verification failed ✗ tests"
    (tmp_path / "expected.txt").write_text("4")
    desk.b.harness.record_save((tmp_path / "expected.txt").as_uri())
    await wait_until_verified()
    assert desk.lens == "verified ✓ 1 check"
    assert desk.b.published[-1] == (2, [])


async def test_a_save_without_a_change_checks_unwatched_files(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    desk.save("3", "4")
    await wait_until_verified()
    (tmp_path / "expected.txt").write_text("4")
    desk.save()
    await wait_until_verified()
    assert desk.lens == "verified ✓ 1 check"


async def test_a_verdict_names_later_changes_and_a_save_makes_a_new_verdict(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    desk.save("a = 3", "b = 3")
    await wait_until_verified()
    assert desk.lens == "verified ✓ 1 check"
    (tmp_path / "expected.txt").write_text("a")
    desk.b.harness.record_save((tmp_path / "expected.txt").as_uri())
    assert desk.lens == "verified ✓ 1 check; expected.txt has changed since"
    desk.save()
    await wait_until_verified()
    assert desk.lens == "verification failed ✗ tests"
    assert set(desk.suites.runs) == {"a = 3\n"}


async def test_a_file_that_no_check_reads_is_no_reason_to_check_again(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    desk.save("3", "4")
    await wait_until_verified()
    for name in ("server.log", ".a.py.swp"):
        (tmp_path / name).write_text("1")
        desk.b.harness.record_save((tmp_path / name).as_uri())
    await wait_until_verified()
    assert len(desk.suites.runs) == 1


async def test_a_text_that_was_not_tested_is_no_base_line(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    desk.suites.objection = BEING_MADE
    for number in range(3):
        desk.save("\n", f"\n# {number}\n") if number else desk.save("3", "4")
        await wait_until_verified()
        assert desk.lens == f"not verified yet – tests: {BEING_MADE}"
    desk.suites.objection = ""
    desk.report_index()
    await wait_until_verified()
    assert desk.lens == "verification failed ✗ tests"
    assert desk.suites.runs == ["a = 3\n"]


async def test_a_text_with_failing_tests_is_no_base_line(bench: Make, tmp_path: Path) -> None:
    desk = Desk(bench, tmp_path)
    (tmp_path / "expected.txt").write_text("5")
    desk.save("3", "4")
    await wait_until_verified()
    (tmp_path / "expected.txt").write_text("3")
    desk.save("\n", "\n# more\n")
    await wait_until_verified()
    assert desk.lens == "verification failed ✗ tests"


# -- the index
class SlowQuery:
    """An index that becomes complete after some questions."""

    def __init__(self, gaps: int) -> None:
        self._gaps = gaps

    async def is_complete(self, uri: str) -> bool:
        self._gaps -= 1
        return self._gaps < 0

    async def affected_tests(self, uri: str, path: str) -> Sequence[AffectedTest]:
        return []


@pytest.mark.parametrize(("gaps", "reason"), [(0, ""), (1, BEING_MADE)])
async def test_an_incomplete_index_is_not_used_to_find_tests(bench: Make, gaps: int, reason: str) -> None:
    b = bench(config=ON_SAVE)
    query: Any = SlowQuery(gaps)
    index = b.harness.services.index
    index.ready = type(index.ready)(query)
    if not reason:
        assert await b.harness.services._find_affected_tests(b.folder, "a.py") == []
        return
    with pytest.raises(IndexIncomplete, match=reason) as raised:
        await b.harness.services._find_affected_tests(b.folder, "a.py")
    assert raised.value.is_temporary


async def test_without_an_index_the_reason_is_not_that_there_are_no_tests(bench: Make) -> None:
    b = bench(config=make_settings(ON_SAVE, index={"enabled": False}))
    with pytest.raises(IndexIncomplete, match="the settings switch the index off") as raised:
        await b.harness.services._find_affected_tests(b.folder, "a.py")
    assert not raised.value.is_temporary


# -- errors in open documents
class OpeningClient:
    """A client that stays, and the errors that it gets for its open documents."""

    def __init__(self, bench: Make, **verification: Any) -> None:
        self.hand = ManualClock()
        config = make_settings(QUICK, verification=verification)
        verifier = Verifier(CheckTools(Ruff()))
        self.b: Bench = bench(config=config, clock=self.hand.clock, works_ahead=True, verifier=verifier)
        self.told = 0
        self.b.harness.events.subscribe(self._record_event)

    def _record_event(self, event: HarnessEvent) -> None:
        self.told += isinstance(event, OpenFindingsChanged)

    async def open(self, text: str, name: str = "a.py") -> list[str]:
        self.uri = self.b.open(text, name).document.uri
        return await self.find()

    async def find(self) -> list[str]:
        self.hand.move(1)
        await self.b.harness.open_findings.wait_until_idle()
        found = self.b.harness.open_findings.find(self.b.harness.documents.get(self.uri).text)
        return [finding.code for published in found for finding in published.findings]


async def test_errors_are_shown_when_a_file_is_opened_and_style_is_not(bench: Make) -> None:
    opened = OpeningClient(bench)
    assert await opened.open("import os\nDatabase = 1\nprint(Databse)\n") == ["F821"]
    text = opened.b.harness.documents.get(opened.uri).text
    at = text.data.index(b"Databse")
    opened.b.harness.change(opened.uri, Edit(at, at + 7, b"Database"), text.version + 1)
    assert await opened.find() == []
    assert opened.told == 2


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("a.py", "def f(:\n    pass\n", ["syntax"]),
        ("a.py", "x = 1\n", []),
        # macros look wrong to the grammar
        ("a.c", "FOO(\n", []),
    ],
)
async def test_an_opened_file_shows_the_errors_of_its_language(
    bench: Make, name: str, text: str, codes: list[str]
) -> None:
    assert await OpeningClient(bench).open(text, name) == codes


async def test_the_setting_switches_the_errors_of_opened_files_off(bench: Make) -> None:
    assert await OpeningClient(bench, on_open=False).open("print(Databse)\n") == []


async def test_an_error_that_another_server_reports_is_not_shown_twice(bench: Make) -> None:
    opened = OpeningClient(bench)
    assert await opened.open("print(Databse)\n") == ["F821"]
    document = opened.b.harness.documents.get(opened.uri).text
    at = document.data.index(b"Databse")
    style = Finding(0, 5, "`print` found", "Ruff", "T201")
    opened.b.harness.open_findings.record_foreign(document, [style])
    assert await opened.find() == ["F821"]
    same = Finding(at, at + 7, '"Databse" is not defined', "Pylance", "reportUndefinedVariable")
    opened.b.harness.open_findings.record_foreign(document, [same])
    assert await opened.find() == []
    assert await opened.open("print(Databse)\n", "b.py") == []
