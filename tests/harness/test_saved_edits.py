"""Verification after a save, step by step: what is published, in which order, and how often a check runs."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.harness.events import HarnessEvent, VerificationReported
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.process.background_permit import CHECKS_REASON
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check, CheckContext, CheckTools, DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import QUICK, Bench, Make
from tests.harness.tools import make_settings
from tests.support.project_suites import create_suites
from tests.support.verification import wait_until_verified

ON_SAVE = make_settings(QUICK, verification={"on_save": True})


class WordCheck(DocumentCheck):
    """A check that fails a text with a word. The test decides when it answers."""

    feedback_label = "WORD"
    criterion = "the word is not there"

    def __init__(self, name: str, word: bytes, log: list[str]) -> None:
        self.name = self.title = name  # type: ignore[misc]
        self._word = word
        self._log = log
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()

    async def run(self, change: Change) -> Outcome:
        self._log.append(f"{self.name} {Path(change.file).name}")
        self.asked.set()
        await self.go.wait()
        place = change.after.data.find(self._word)
        if place < 0:
            return Outcome(self.name, "passed", reason="7 tests in 1 file" if self.name == "tests" else "")
        finding = Finding(place, place + len(self._word), f"there is {self._word.decode()}", "words", "word")
        return Outcome(self.name, "failed", (finding,))


class SavedEditBench:
    """A harness with the checks `cheap` (it fails the word `cheap`) and `tests` (it fails the word `dear`)."""

    def __init__(self, bench: Make, config: object = ON_SAVE) -> None:
        self.log: list[str] = []
        self.cheap, self.tests = WordCheck("cheap", b"cheap", self.log), WordCheck("tests", b"dear", self.log)
        self.b: Bench = bench(config=config, verifier=Verifier(CheckTools(Ruff()), self._create_checks))
        self.reports: list[tuple[str, int]] = []
        self.b.harness.events.subscribe(self._record_event)

    def _create_checks(self, settings: Verification, context: CheckContext) -> list[Check]:
        return [self.cheap, self.tests]

    def _record_event(self, event: HarnessEvent) -> None:
        if isinstance(event, VerificationReported):
            self.reports.append((event.check, event.version))

    def open(self, text: str, name: str = "a.py") -> str:
        return self.b.open(text, name).document.uri

    def replace(self, uri: str, old: bytes, new: bytes) -> None:
        text = self.b.harness.documents.get(uri).text
        at = text.data.index(old)
        self.b.harness.change(uri, Edit(at, at + len(old), new), text.version + 1)

    def save(self, uri: str) -> None:
        self.b.harness.verification.record_save(uri)

    def lens(self, uri: str) -> str | None:
        lens = self.b.harness.verification.find_lens(self.b.harness.documents.get(uri).text)
        return lens.title if lens else None


async def test_each_result_is_published_as_soon_as_its_check_ends(bench: Make) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("a = 1\n")
    steps.tests.go.clear()
    steps.replace(uri, b"1", b"cheap + dear")
    steps.save(uri)
    await steps.tests.asked.wait()
    assert steps.b.published == [(2, [("word", 0)])]
    assert steps.lens(uri) is None
    steps.tests.go.set()
    await wait_until_verified()
    assert steps.b.published == [(2, [("word", 0)]), (2, [("word", 0), ("word", 0)])]
    assert steps.lens(uri) == "verification failed ✗ cheap, tests"
    # the first is right again: that is said at once, and the other as soon as it is checked again
    steps.tests.asked.clear()
    steps.tests.go.clear()
    steps.replace(uri, b"cheap", b"1")
    await steps.tests.asked.wait()
    assert steps.b.published[2:] == [(3, [])]
    steps.tests.go.set()
    await wait_until_verified()
    assert steps.b.published[3:] == [(3, [("word", 0)])]
    steps.replace(uri, b"dear", b"1")
    await wait_until_verified()
    assert steps.b.published[4:] == [(4, [])]
    assert steps.lens(uri) == "verified ✓ 2 checks, 7 tests"
    assert steps.b.stale == []


async def test_work_without_a_user_learns_that_checks_run(bench: Make) -> None:
    steps = SavedEditBench(bench)
    permit = steps.b.harness.services.background
    uri = steps.open("a = 1\n")
    steps.tests.go.clear()
    steps.replace(uri, b"1", b"2")
    steps.save(uri)
    await steps.tests.asked.wait()
    assert permit.check_count == 1
    assert (await steps.b.harness.status())["background"]["why"] == CHECKS_REASON
    steps.tests.go.set()
    await wait_until_verified()
    assert permit.check_count == 0


async def test_only_a_save_with_changes_is_verified_if_the_settings_allow_it(bench: Make) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("a = 1\n")
    steps.save(uri)
    steps.save("file:///never/opened.py")
    assert steps.log == []
    steps.replace(uri, b"1", b"2")
    steps.save(uri)
    await wait_until_verified()
    assert steps.log == ["cheap a.py", "tests a.py"]
    # a clean verdict does not fill the log of the session on disk, but it can be read
    lens = steps.b.harness.verification.find_lens(steps.b.harness.documents.get(uri).text)
    assert lens
    assert "| cheap | ✓ passed |" in steps.b.harness.turns.verdict(lens.verdict)
    assert not steps.b.harness.services.session.log.path.exists()

    off = SavedEditBench(bench, QUICK)
    uri = off.open("a = 1\n")
    off.replace(uri, b"1", b"cheap")
    off.save(uri)
    await wait_until_verified()
    assert off.log == []


async def test_the_lens_is_above_the_changed_function(bench: Make) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("x = 1\n\n\ndef area(r):\n    y = r\n    return y\n")
    steps.replace(uri, b"return y", b"return y + 1")
    steps.save(uri)
    await wait_until_verified()
    text = steps.b.harness.documents.get(uri).text
    lens = steps.b.harness.verification.find_lens(text)
    assert lens
    assert lens.offset == text.data.index(b"def area")
    steps.replace(uri, b"x = 1", b"x = 2")
    assert steps.lens(uri) is None


async def test_the_same_texts_are_checked_once(bench: Make) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("a = 1\n")
    steps.tests.go.clear()
    steps.replace(uri, b"1", b"dear")
    steps.save(uri)
    opened, base = steps.b.harness.documents.get(uri), steps.b.harness.documents.get(uri).saved_text
    # a client that also reports that the edit was applied asks for the same
    steps.b.harness.verification.start(opened, base)
    await steps.tests.asked.wait()
    steps.b.harness.verification.start(opened, base)
    # so does one that saves at once, which changes the file on disk, but not what it is checked against
    steps.b.harness.record_save(uri)
    steps.save(uri)
    steps.b.harness.verification.start(opened, base)
    steps.tests.go.set()
    await wait_until_verified()
    assert steps.log == ["cheap a.py", "tests a.py"]
    # undone before the quiet time was over: what is known of the text is published again, for its new version
    steps.replace(uri, b"dear", b"dear2")
    steps.replace(uri, b"dear2", b"dear")
    await wait_until_verified()
    assert steps.log.count("tests a.py") == 1
    assert steps.b.published[-1] == (4, [("word", 0)])
    # but another file on disk may make the tests end in another way
    (steps.b.folder / "b.py").write_text("b = 1\n")
    steps.b.harness.record_save((steps.b.folder / "b.py").as_uri())
    steps.b.harness.verification.start(opened, base)
    await wait_until_verified()
    assert steps.log.count("tests a.py") == 2


async def test_accepted_edits_and_the_current_document_are_verified_first(bench: Make) -> None:
    steps = SavedEditBench(bench)
    steps.cheap.go.clear()
    uris = {name: steps.open("a = 1\n", f"{name}.py") for name in ("one", "two", "saved", "seen", "accepted")}
    for uri in uris.values():
        steps.replace(uri, b"1", b"2")
    for name in ("one", "two", "saved", "seen"):
        steps.save(uris[name])
    accepted = steps.b.harness.documents.get(uris["accepted"])
    steps.b.harness.verification.start(accepted, accepted.saved_text)
    steps.b.harness.documents.focused_uri = uris["seen"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    # no more run at once
    assert steps.log == ["cheap one.py", "cheap two.py"]
    steps.cheap.go.set()
    await wait_until_verified()
    firsts = [entry for entry in steps.log if entry.startswith("cheap")][2:]
    assert firsts == ["cheap accepted.py", "cheap seen.py", "cheap saved.py"]


async def test_progress_is_reported_until_the_edit_ends_or_is_stopped(bench: Make) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("a = 1\n")
    steps.tests.go.clear()
    steps.replace(uri, b"1", b"dear")
    steps.save(uri)
    await steps.tests.asked.wait()
    assert steps.reports == [("cheap", 2), ("tests", 2)]
    steps.b.harness.verification.stop(uri)
    await wait_until_verified()
    assert steps.reports == [("cheap", 2), ("tests", 2), ("", 2)]
    assert steps.b.published == []


@pytest.mark.parametrize("end", ["close", "lose"])
async def test_a_closed_document_has_no_findings_and_no_lens(bench: Make, end: str) -> None:
    steps = SavedEditBench(bench)
    uri = steps.open("a = 1\n")
    steps.replace(uri, b"1", b"cheap")
    steps.save(uri)
    await wait_until_verified()
    close: Callable[[], object] = {
        "close": lambda: steps.b.harness.close(uri),
        "lose": lambda: steps.b.harness.lose(uri, "a test"),
    }[end]
    close()
    assert steps.b.published[-1] == (2, [])


async def test_the_tests_of_the_project_learn_which_file_was_saved(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Path | None] = []
    monkeypatch.setattr(SuiteComparison, "record_file_change", lambda _, file=None: recorded.append(file))
    b = bench(config=ON_SAVE, verifier=Verifier(CheckTools(Ruff(), create_suites("test_a.py"))))
    assert b.harness.services.verifier.tools.suites
    for uri in ((tmp_path / "a.py").as_uri(), "untitled:a.py"):
        b.harness.record_save(uri)
    # a text without a file may stand for any
    assert recorded == [tmp_path / "a.py", None]
