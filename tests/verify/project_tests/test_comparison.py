"""Tests that a proposal fails if it breaks a test that passed before."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.harness.verdicts.verification_verbs import describe_verdict
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.finding import Outcome, Verdict
from lsp_harness.verify.project_tests import (
    confined_tests,
    run_judgement,
    runner_registry,
    suite_runs,
    suite_search,
    warm_suites,
)
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.lost_tests import find_lost_tests
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker, TracedTest
from lsp_harness.verify.published_findings import PublishedFindings
from tests.support.project_suites import require_sandbox

pytestmark = pytest.mark.process

SOURCE = "def parse(text):\n    return text.split('=')\n"
TESTS = (
    "from config import parse\n\n\n"
    "def test_parse():\n    assert parse('a=1') == ['a', '1']\n\n\n"
    "def test_old():\n    assert parse('') == []\n"
)
STILL = "; 1 failed before and still fails"
HARMLESS_TEXT = SOURCE + "\nLIMIT = 3\n"
"""A proposal that breaks nothing, with a line that runs when a test imports the module."""
RAN = ", 1 of 1 changed lines"
BUSY_S = 0.5
WORK = f"""\
    import time
    end = time.process_time() + {BUSY_S} * (len(text) > 2)
    while time.process_time() < end:
        pass
"""
"""Statements that use the processor for `BUSY_S` if `text` is long, however fast the processor is."""
SLOW_TEST = f"\n\ndef test_slow():\n    text = 's=1'\n{WORK}    assert parse(text)[0] == 's'\n"


class Desk:
    """A project with one file, and a comparison that counts what it asks."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "config.py"
        self.asked: list[Sequence[str]] = []
        self.objection = ""
        self.source = SOURCE
        self.affected = [AffectedTest("test_config.py", "imports config.py", 1)]
        self.sandbox = machine_sandbox()
        self.file.write_text(SOURCE)
        (root / "test_config.py").write_text(TESTS)

    async def compare(
        self, text: str, limits: ResourceLimits | None = None, must_pass: frozenset[str] = frozenset(), **options: Any
    ):
        async def find_affected(root: Path, path: str) -> Sequence[AffectedTest]:
            assert (root, path) == (self.root, self.file.name)
            return self.affected

        async def find_objection(command: Sequence[str], confinement: object, facts: object) -> str:
            self.asked.append(command)
            return self.objection

        if not hasattr(self, "comparison"):
            access = ProjectAccess(find_affected, find_objection, lambda: self.sandbox)
            self.comparison = SuiteComparison(access, limits)
        uri = self.file.as_uri()
        before = Document.from_text(uri, self.source.encode(), language="python")
        after = Document.from_text(uri, text.encode(), language="python")
        return await self.comparison.compare(
            ChangeSet.of(Change.from_documents(before, after, self.file, self.root)), must_pass, **options
        )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    require_sandbox()
    desk = Desk(tmp_path)
    yield desk
    if hasattr(desk, "comparison"):
        await desk.comparison.aclose()


async def test_only_tests_that_passed_before_count(desk: Desk) -> None:
    kept = await desk.compare(HARMLESS_TEXT)
    assert (kept.status, kept.reason) == ("passed", f"1 test in 1 file{RAN}{STILL}")
    broken = await desk.compare(SOURCE.replace("split('=')", "split(':')"))
    assert broken.status == "failed"
    assert [finding.code for finding in broken.findings] == ["test_parse"]
    asked = len(desk.asked)
    # the run before is kept, and so is what is known about a test that was blamed
    assert (await desk.compare(SOURCE.replace("split('=')", "split(';')"))).status == "failed"
    assert len(desk.asked) == asked + 1


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (SOURCE.replace("text.split('=')", "list(text.split('='))"), "skipped"),
        (SOURCE.replace("    return", "    text = str(text)\n    return"), "skipped"),
    ],
    ids=["changed", "added"],
)
async def test_new_code_that_a_failing_test_runs_is_not_verified(desk: Desk, text: str, status: str) -> None:
    # the test fails with the same message as before, so nothing else says that the code does not do what it should
    outcome = await desk.compare(text)
    assert (outcome.status, outcome.reason) == (status, f"1 test in 1 file{RAN}{STILL}")
    assert outcome.is_unresolved
    named = await desk.compare(text, must_pass=frozenset({"test_config.py::test_parse"}))
    assert named.status == "passed", "the caller says which tests it means"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            SOURCE.replace("    return", '    """Split a line."""\n    # at each sign\n    return'),
            "no line of the change",
        ),
        (SOURCE + "\n", "no line of the change"),
        (f"{SOURCE}\n\ndef read(text):\n    return parse(text)\n", "no test runs the changed lines of config.py"),
    ],
    ids=["comments", "blank line", "another function"],
)
async def test_tests_that_do_not_run_the_changed_lines_prove_no_pass(desk: Desk, text: str, reason: str) -> None:
    outcome = await desk.compare(text)
    assert (outcome.status, outcome.is_unresolved) == ("skipped", False)
    assert outcome.reason.startswith(reason)


async def test_tests_without_an_import_run_if_the_others_miss_the_change(desk: Desk) -> None:
    (desk.root / "test_far.py").write_text(
        "import importlib\n\n\ndef test_far():\n    assert importlib.import_module('con' + 'fig').read('a') == ['a']\n"
    )
    desk.source = f"{SOURCE}\n\ndef read(text):\n    return parse(text)\n"
    desk.file.write_text(desk.source)
    kept = await desk.compare(desk.source.replace("return parse(text)", "return list(parse(text))"))
    assert (kept.status, kept.reason) == ("passed", f"2 tests in 2 files{RAN}{STILL}")
    broken = await desk.compare(desk.source.replace("return parse(text)", "return parse(text)[0]"))
    assert [finding.code for finding in broken.findings] == ["test_far"]


async def test_a_test_that_fails_by_chance_is_not_blamed(desk: Desk) -> None:
    # each run has its own view, so only the clock tells the runs apart
    (desk.root / "test_config.py").write_text(
        TESTS + "\n\ndef test_chance():\n    import time\n    assert time.monotonic_ns() // 1000 % 2\n"
    )
    for number in range(4):
        outcome = await desk.compare(f"{SOURCE}\nLIMIT = {number}\n")
        assert outcome.status == "passed", outcome.findings


async def test_a_new_test_that_fails_each_time_counts(desk: Desk) -> None:
    # no run without the proposal says that the test can pass
    desk.file, desk.source = desk.root / "test_config.py", TESTS
    outcome = await desk.compare(f"{TESTS}\n\ndef test_new():\n    assert parse('b') == []\n")
    assert (outcome.status, [finding.code for finding in outcome.findings]) == ("failed", ["test_new"])
    passing = await desk.compare(f"{TESTS}\n\ndef test_new():\n    assert parse('b') == ['b']\n")
    # another test of the file fails as before, so the change is not verified
    assert (passing.status, passing.reason) == ("skipped", f"2 tests in 1 file, 2 of 2 changed lines{STILL}")


async def test_tests_behind_a_failure_that_does_not_count_are_not_called_flaky(desk: Desk) -> None:
    end = "import pytest\n\n\n@pytest.fixture\ndef end():\n    yield\n    assert parse('x') == ['x']\n\n\n"
    tests = (
        "from config import parse\n"
        + end
        + "def test_old(end):\n    assert parse('') == []\n\n\n"
        + "def test_parse():\n    assert parse('a=1') == ['a', '1']\n"
    )
    (desk.root / "test_config.py").write_text(tests)
    # the known failure counts twice now, so the run ends before the other test
    twice = await desk.compare(SOURCE.replace("text.split", "text.upper().lower().replace('x', 'y').split"))
    assert (twice.status, twice.is_unresolved) == ("skipped", True)
    assert "test_parse" not in twice.reason
    broken = await desk.compare(SOURCE.replace("split('=')", "split(':')"))
    assert [finding.code for finding in broken.findings] == ["test_parse"]


async def test_examples_in_a_document_beside_the_settings_are_tests(desk: Desk) -> None:
    (desk.root / "pytest.ini").write_text("[pytest]\naddopts = --doctest-glob=*.md\n")
    (desk.root / "README.md").write_text(
        "# Config\n\n    >>> from config import parse\n    >>> parse('a')\n    ['a']\n"
    )
    (desk.root / "test_config.py").unlink()
    desk.affected = []
    assert (await desk.compare(SOURCE.replace("split('=')", "strip().split('=')"))).status == "passed"
    assert (await desk.compare(SOURCE.replace("split('=')", "split('a')"))).status == "failed"


@pytest.mark.parametrize(
    ("settings", "tests", "reason"),
    [
        ("addopts = --no-such-option\n", TESTS, "unrecognized arguments: --no-such-option"),
        (
            "",
            "import pytest\n\npytest.skip('no service', allow_module_level=True)\n",
            "all tests are skipped: no service",
        ),
        ("", "import pytest\n\npytest.importorskip('no_such')\n", "all tests are skipped: could not import 'no_such'"),
        (
            "",
            "import pytest\n\n\n@pytest.mark.skip('not now')\ndef test_a():\n    pass\n",
            "all tests are skipped: not now",
        ),
    ],
)
async def test_the_outcome_says_why_no_test_ran(settings: str, tests: str, reason: str, desk: Desk) -> None:
    (desk.root / "pytest.ini").write_text(f"[pytest]\n{settings}")
    (desk.root / "test_config.py").write_text(tests)
    outcome = await desk.compare(HARMLESS_TEXT)
    assert outcome.status == "skipped"
    assert outcome.reason.startswith(f"no test ran: {reason}")


async def test_a_test_with_other_parameters_in_each_run_is_the_same_test(desk: Desk) -> None:
    (desk.root / "test_config.py").write_text(
        "import time\nimport pytest\nfrom config import parse\n\n\n"
        "now = pytest.mark.parametrize('when', [time.monotonic_ns()])\n\n\n"
        "@now\ndef test_when(when):\n    assert parse('a') == ['a']\n\n\n"
        "@now\ndef test_bad(when):\n    assert parse('a') == []\n"
    )
    outcome = await desk.compare(HARMLESS_TEXT)
    assert (outcome.status, outcome.reason) == ("passed", f"1 test in 1 file{RAN}{STILL}")


async def test_a_test_that_fails_only_while_its_lines_are_recorded_is_ignored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def trace(worker: SuiteWorker, texts: object, choice: object, file: Path) -> object:
        return None, {"test_parse": TracedTest(False, {2: 1}), "test_old": TracedTest(False, {})}

    monkeypatch.setattr(SuiteWorker, "trace", trace)
    assert (await desk.compare(SOURCE.replace("text.split('=')", "list(text.split('='))"))).status == "passed"


async def test_a_proposal_passes_if_the_lines_of_a_failing_test_cannot_be_recorded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def trace(worker: SuiteWorker, texts: object, choice: object, file: Path) -> object:
        raise OSError("it has ended")

    monkeypatch.setattr(SuiteWorker, "trace", trace)
    assert (await desk.compare(SOURCE.replace("text.split('=')", "list(text.split('='))"))).status == "passed"


async def test_a_test_that_must_be_repaired_is_required(desk: Desk) -> None:
    wanted = frozenset({"test_config.py::test_old"})
    same = await desk.compare(SOURCE + "\n", must_pass=wanted)
    assert [finding.code for finding in same.findings] == ["test_old"]
    repaired = await desk.compare(SOURCE.replace("return", "return text and"), must_pass=wanted)
    assert repaired.status == "failed"
    right = await desk.compare(SOURCE.replace("text.split('=')", "text.split('=') if text else []"), must_pass=wanted)
    assert (right.status, right.reason) == ("passed", f"2 tests in 1 file{RAN}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    return", "    import pytest\n    if not text:\n        pytest.skip('never')\n    return", "is skipped"),
        ("    return", "    import pytest\n    if not text:\n        pytest.xfail('known')\n    return", "is skipped"),
        ("def", "OFF = ('test_old',)\ndef", "no longer runs"),
    ],
)
async def test_a_test_to_repair_must_pass_and_not_be_skipped(desk: Desk, old: str, new: str, message: str) -> None:
    conftest = "def pytest_collection_modifyitems(items):\n    import config\n"
    conftest += "    items[:] = [item for item in items if item.name not in getattr(config, 'OFF', ())]\n"
    (desk.root / "conftest.py").write_text(conftest)
    wanted = frozenset({"test_config.py::test_old"})
    result = await desk.compare(SOURCE.replace(old, new), must_pass=wanted)
    assert (result.status, [finding.code for finding in result.findings]) == ("failed", ["test_old"])
    assert message in result.findings[0].message


async def test_a_test_that_passed_must_not_be_skipped(desk: Desk) -> None:
    skip = "    import pytest\n    if text:\n        pytest.skip('off')\n    return"
    result = await desk.compare(SOURCE.replace("    return", skip))
    assert (result.status, result.findings[0].message) == ("failed", "test_parse — it is skipped")


async def test_tests_of_a_file_that_cannot_be_imported_any_more_are_broken(desk: Desk) -> None:
    desk.affected.append(AffectedTest("test_other.py", "imports config.py", 1))
    (desk.root / "test_other.py").write_text("from config import LIMIT\n\n\ndef test_limit():\n    assert LIMIT\n")
    (desk.root / "config.py").write_text(SOURCE)
    desk.source = SOURCE + "LIMIT = 3\n"
    result = await desk.compare(SOURCE)
    assert (result.status, [finding.code for finding in result.findings]) == ("failed", ["test_limit"])
    assert "its file cannot be imported: ImportError" in result.findings[0].message


def test_a_runner_without_test_names_must_count_one_more_pass() -> None:
    before, wanted = Digest("cargo", (), 3, 1), frozenset({"test_old"})
    assert [problem.test for problem in find_lost_tests(before, Digest("cargo", (), 3, 0, 1), wanted)] == ["test_old"]
    assert find_lost_tests(before, Digest("cargo", (), 4), wanted) == []


async def test_many_failing_tests_hide_no_new_failure(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_judgement, "MAX_FINDINGS", 2)
    old = "".join(f"def test_a{n}():\n    assert parse('') == []\n\n\n" for n in range(4))
    head, _, rest = TESTS.partition("\n\n\n")
    (desk.root / "test_config.py").write_text(f"{head}\n\n\n{old}{rest}")
    wanted = frozenset(f"test_config.py::test_a{n}" for n in range(4))
    result = await desk.compare(SOURCE.replace("split('=')", "split(':')"), must_pass=wanted)
    assert [finding.code for finding in result.findings] == ["test_parse", "test_a0"]
    assert (result.count, result.reason) == (5, "5 of 6 tests fail")


async def test_a_changed_failure_counts_if_repairs_are_wanted(desk: Desk) -> None:
    same = await desk.compare(SOURCE.replace("text.split('=')", "list(text.split('='))"), wants_repairs=True)
    assert (same.status, same.reason) == ("skipped", f"1 test in 1 file{RAN}{STILL}"), "it repairs and breaks nothing"
    other = SOURCE.replace("return", "if not text:\n        return {}\n    return")
    left = await desk.compare(other)
    assert (left.status, left.is_unresolved) == ("skipped", True), "it is about a test that still fails"
    published = PublishedFindings(1, (Outcome("syntax", "passed"), left), is_complete=True)
    assert describe_verdict(published) == "not verified –, still wrong: tests"
    closer = await desk.compare(other, wants_repairs=True)
    assert (closer.status, [finding.code for finding in closer.findings]) == ("failed", ["test_old"])
    repaired = await desk.compare(other.replace("{}", "[]"), wants_repairs=True)
    assert (repaired.status, repaired.reason) == ("passed", "2 tests in 1 file, 2 of 2 changed lines")


async def test_a_proposal_without_an_end_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # the limit follows from the time of the run before
    monkeypatch.setattr(suite_runs, "EXTRA_WALL_S", 0.5)
    monkeypatch.setattr(suite_runs, "WALL_FACTOR", 1)
    result = await desk.compare("while True: pass\n", ResourceLimits())
    assert result.status == "failed"
    assert "do not end in time" in result.findings[0].message


async def test_the_outcome_says_that_not_all_tests_ran(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_search, "MAX_TEST_FILES", 1)
    desk.affected.append(AffectedTest("test_far.py", "imports config.py", 2))
    (desk.root / "test_far.py").write_text("def test_far():\n    assert False\n")
    outcome = await desk.compare(HARMLESS_TEXT)
    assert outcome.reason == f"1 test in 1 file{RAN}{STILL}; 1 more depend on the change and did not run"
    outcome = replace(outcome, title="tests")
    assert Verdict("", (outcome,)).short_marks == "tests ✓ (1 of 2 files)"
    published = PublishedFindings(1, (outcome,), is_complete=True)
    assert describe_verdict(published) == "verified ✓ 1 check, 1 test in 1 of 2 files"


async def test_the_outcome_says_why_no_test_was_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.objection = "the mode plan runs nothing"
    assert (await desk.compare(SOURCE)).reason == "the mode plan runs nothing"
    desk.sandbox = SandboxChoice(NoSandbox(), {"landlock": "too old"})
    assert "landlock: too old" in (await desk.compare(SOURCE)).reason
    monkeypatch.setattr(runner_registry, "find_runner", lambda root, path, setting: None)
    skipped = await desk.compare(SOURCE)
    assert (skipped.status, "no program is known" in skipped.reason) == ("skipped", True)


async def test_a_project_without_tests_has_no_tests_for_a_file(desk: Desk) -> None:
    desk.affected = []
    (desk.root / "test_config.py").unlink()
    (desk.root / "pytest.ini").write_text("[pytest]\n")
    skipped = await desk.compare(HARMLESS_TEXT)
    assert (skipped.status, "no test depends on config.py" in skipped.reason) == ("skipped", True)


async def test_a_failing_test_does_not_hide_one_of_the_same_name_in_another_file(desk: Desk) -> None:
    desk.affected.append(AffectedTest("test_other.py", "imports config.py", 1))
    (desk.root / "test_other.py").write_text(
        "from config import parse\n\n\ndef test_old():\n    assert parse('b') == ['b']\n"
    )
    broken = await desk.compare(SOURCE.replace("text.split('=')", "text.split('=') if '=' in text else ['']"))
    assert (broken.status, len(broken.findings)) == ("failed", 1)
    assert broken.findings[0].related[0].path.endswith("test_other.py")


async def test_a_file_that_cannot_be_imported_does_not_hide_other_tests(desk: Desk) -> None:
    desk.affected.append(AffectedTest("test_broken.py", "imports config.py", 1))
    (desk.root / "test_broken.py").write_text("import nothing_of_this_name\n")
    broken = await desk.compare(SOURCE.replace("split('=')", "split(':')"))
    assert [finding.code for finding in broken.findings] == ["test_parse"]


async def test_tests_that_all_fail_give_no_result(desk: Desk) -> None:
    (desk.root / "test_config.py").write_text("def test_never():\n    assert False\n")
    result = await desk.compare(SOURCE + "\n")
    reason = "all tests fail with the present text, too; the first is test_never: AssertionError: assert False"
    assert (result.status, result.reason) == ("skipped", reason)
    assert result.is_unresolved


async def test_an_edit_that_breaks_the_import_of_failing_tests_fails(desk: Desk) -> None:
    (desk.root / "test_config.py").write_text(TESTS.replace("== ['a', '1']", "== []"))
    broken = await desk.compare(SOURCE.replace("def parse", "def read"))
    assert broken.status == "failed"
    assert "cannot import name 'parse'" in broken.findings[0].message


async def test_failing_tests_of_a_file_that_could_not_be_imported_are_not_new(desk: Desk) -> None:
    imports = TESTS.replace("from config import parse", "from config import parse, read").replace("== []", "== 0")
    (desk.root / "test_config.py").write_text(imports)
    # the other test fails in another way now, so nothing is broken and nothing is repaired
    assert (await desk.compare(f"{SOURCE}\n\nread = parse\n")).status == "skipped"


async def test_a_slow_test_that_passed_before_is_not_taken_for_a_failing_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # other tests must stay far below the limit on a busy machine, and a run without the limit must end there
    monkeypatch.setattr(warm_suites, "TEST_S", BUSY_S / 2)
    for name in ("SLOW_WALL_S", "EXTRA_WALL_S"):
        monkeypatch.setattr(suite_runs, name, 100.0)
    (desk.root / "test_config.py").write_text(TESTS + SLOW_TEST)
    kept = await desk.compare(HARMLESS_TEXT)
    assert kept.status == "passed"
    broken = await desk.compare(SOURCE.replace("text.split('=')", "text.replace('s', 'x').split('=')"))
    assert [finding.code for finding in broken.findings] == ["test_slow"], broken


async def test_a_test_that_is_too_slow_only_sometimes_is_not_called_flaky(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLOW_WALL_S", "EXTRA_WALL_S"):
        monkeypatch.setattr(suite_runs, name, 100.0)
    monkeypatch.setattr(warm_suites, "TEST_S", 100.0)
    (desk.root / "test_config.py").write_text(TESTS + SLOW_TEST)
    assert (await desk.compare(HARMLESS_TEXT)).status == "passed"
    # from now on it takes too long in the warm process, as on a busy machine
    monkeypatch.setattr(warm_suites, "TEST_S", BUSY_S / 4)
    await desk.comparison._runs._warm.aclose()
    broken = await desk.compare(SOURCE.replace("text.split('=')", "text.replace('s', 'x').split('=')"))
    assert [finding.code for finding in broken.findings] == ["test_slow"], broken


async def test_a_proposal_that_ended_in_the_warm_process_has_the_whole_limit_in_a_new_copy(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Landlock().find_problem():
        pytest.skip("Landlock does not work here")
    desk.sandbox = SandboxChoice(Landlock())
    seconds: list[float] = []

    async def run(runner: SuiteRunner, root: Path, texts: Any, choice: SuiteChoice, sandbox: Sandbox) -> SuiteRun:
        seconds.append(choice.limits.wall_s)
        return await run_tests(runner, root, texts, choice, sandbox)

    monkeypatch.setattr(confined_tests, "run_tests", run)
    # at low priority beside a model that generates, a new process may take more than the limit of a proposal
    await desk.compare(HARMLESS_TEXT)
    assert seconds == [ResourceLimits().wall_s]


@pytest.mark.parametrize("sandbox", [PrivateView, Landlock], ids=lambda sandbox: sandbox.name)
async def test_a_changed_file_is_read_again(
    desk: Desk, sandbox: type[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    if problem := sandbox().find_problem():
        pytest.skip(f"{sandbox.name} does not work here: {problem}")
    desk.sandbox = SandboxChoice(sandbox())
    starts: list[Path] = []
    start = SuiteWorker.start

    async def count_start(runner: SuiteRunner, root: Path, *more: Any) -> SuiteWorker:
        starts.append(root)
        return await start(runner, root, *more)

    monkeypatch.setattr(SuiteWorker, "start", count_start)
    assert (await desk.compare(HARMLESS_TEXT)).reason == f"1 test in 1 file{RAN}{STILL}"
    (desk.root / "test_config.py").write_text(TESTS + "\n\ndef test_new():\n    assert parse('n') == ['n']\n")
    desk.comparison.record_file_change(desk.root / "test_config.py")
    assert (await desk.compare(HARMLESS_TEXT)).reason == f"2 tests in 1 file{RAN}{STILL}"
    broken = await desk.compare(SOURCE.replace("text.split('=')", "text.split('=') if '=' in text else []"))
    assert [finding.code for finding in broken.findings] == ["test_new"]
    # the process goes on, with the new content of the file
    assert len(starts) == 1

    helper, new_test = desk.root / "conftest.py", "\n\ndef test_one(one):\n    assert parse('=')[one] == ''\n"
    helper.write_text("import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n")
    (desk.root / "test_config.py").write_text(TESTS + new_test)
    desk.comparison.record_file_change(helper)
    assert (await desk.compare(HARMLESS_TEXT)).reason == f"2 tests in 1 file{RAN}{STILL}"
    # a new file needs a new copy, but no new view
    assert len(starts) == (1 if sandbox.has_overlays else 2)
    helper.unlink()
    desk.comparison.record_file_change(helper)
    assert (await desk.compare(HARMLESS_TEXT)).reason != f"2 tests in 1 file{RAN}{STILL}"
    assert len(starts) == (1 if sandbox.has_overlays else 3)


async def test_a_proposal_that_is_slow_runs_once_more_without_a_limit_for_each_test(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_suites, "TEST_S", BUSY_S / 2)
    monkeypatch.setattr(suite_runs, "SLOW_WALL_S", 100.0)
    desk.source = SOURCE.replace("text.split('=')", "[text]")
    wanted = frozenset({"test_config.py::test_parse"})
    slow = SOURCE.replace("    return", f"{WORK}    return")
    endless = SOURCE.replace("    return", "    while len(text) > 2:\n        pass\n    return")
    assert (await desk.compare(slow, must_pass=wanted)).reason == f"1 test in 1 file, 5 of 5 changed lines{STILL}"
    with monkeypatch.context() as patch:
        # only the run that never ends is cut short: the other one may take long on a busy machine
        patch.setattr(suite_runs, "SLOW_WALL_S", 2.0)
        for _ in range(2):
            failed = await desk.compare(endless, must_pass=wanted)
            assert failed.findings[0].message.startswith("test_parse — ")
            assert run_judgement.SLOW_TEST in failed.findings[0].message
    # two proposals had such a run, so that many that never end do not take long
    assert (await desk.compare(slow, must_pass=wanted)).status == "failed"
    desk.comparison.record_file_change()
    assert (await desk.compare(slow, must_pass=wanted)).status == "passed"


async def test_test_that_fails_only_after_others_is_blamed_on_the_proposal(desk: Desk) -> None:
    later = "import os\n\n\ndef test_environment():\n    assert 'PARSED' not in os.environ\n"
    (desk.root / "test_later.py").write_text(later)
    desk.affected = [*desk.affected, AffectedTest("test_later.py", "is a test of the project", 2)]
    source = "import os\n\n\n" + SOURCE.replace("    return", "    os.environ['PARSED'] = 'yes'\n    return")
    outcome = await desk.compare(source)
    assert (outcome.status, [finding.code for finding in outcome.findings]) == ("failed", ["test_environment"])
