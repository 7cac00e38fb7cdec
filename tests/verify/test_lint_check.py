"""Tests of the lint check: only new findings of the linter of the project count, on unsaved text."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Change
from lsp_harness.verify.checks import LintCheck
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed
from tests.verify.single_change import check_change

pytestmark = pytest.mark.process

UNUSED_IMPORT = "import os\n\n\ndef f():\n    return 1\n"
UNUSED_NAME = "import os\n\n\ndef f():\n    x = 1\n    return 1\n"


def change(before: str, after: str, project: Path, name: str = "a.py") -> Change:
    file = project / name
    old = Document.from_text(file.as_uri(), before)
    return Change.from_documents(old, Document.from_text(old.uri, after), file, project)


async def check(ruff: Ruff, before: str, after: str, project: Path) -> tuple[str, list[str]]:
    candidate = change(before, after, project)
    outcome = await check_change(LintCheck(ruff), candidate)
    return outcome.status, list(outcome.lines)


async def test_an_old_finding_is_ignored_and_a_new_one_reported(ruff: Ruff, project: Path) -> None:
    assert await check(ruff, UNUSED_IMPORT, UNUSED_NAME, project) == (
        "failed",
        ["LINT: F841 Local variable `x` is assigned to but never used"],
    )


async def test_an_old_finding_that_moved_is_still_old(ruff: Ruff, project: Path) -> None:
    moved = UNUSED_IMPORT.replace("import os", "# a comment\n\nimport os")
    assert await check(ruff, UNUSED_IMPORT, moved, project) == ("passed", [])


async def test_a_second_finding_of_the_same_words_is_new_where_the_edit_is(ruff: Ruff, project: Path) -> None:
    before = "def f():\n    return pi\n"
    candidate = change(before, "def g():\n    return pi\n\n\n" + before, project)
    outcome = await check_change(LintCheck(ruff), candidate)
    assert outcome.status == "failed"
    assert [candidate.after.line_of(f.start) for f in outcome.findings] == [1]


async def test_findings_that_a_syntax_error_hid_are_not_blamed_on_its_repair(ruff: Ruff, project: Path) -> None:
    before = "import os\n\n\ndef f(:\n    return pi\n"
    assert await check(ruff, before, before.replace("(:", "():"), project) == ("passed", [])
    status, lines = await check(ruff, before, before.replace("(:", "(a=tau):"), project)
    assert (status, lines) == ("failed", ["LINT: F821 Undefined name `tau`"])


async def test_a_style_rule_that_a_misspelling_hid_does_not_fail_its_repair(ruff: Ruff, project: Path) -> None:
    (project / "ruff.toml").write_text('lint.select = ["F", "SIM", "UP"]\n')
    hidden = "def f(a):\n    if a = 1:\n        return True\n    return False\n"
    candidate = change(hidden, hidden.replace("a =", "a =="), project)
    assert (await check_change(LintCheck(ruff), candidate)).status == "failed"
    assert (await check_change(LintCheck(ruff), replace(candidate, author="repair"))).status == "passed"
    worse = change(hidden, hidden.replace("a = 1", "b == 1"), project)
    assert (await check_change(LintCheck(ruff), replace(worse, author="repair"))).status == "failed"


async def test_the_file_on_disk_does_not_change_the_result(ruff: Ruff, project: Path) -> None:
    (project / "a.py").write_text("y = undefined\n")
    assert await check(ruff, "x = 1\n", "x = 2\n", project) == ("passed", [])
    (project / "a.py").write_text("x = 1\n")
    assert (await check(ruff, "x = 1\n", "x = undefined\n", project))[0] == "failed"
    assert (project / "a.py").read_text() == "x = 1\n"


async def test_a_file_that_is_not_on_disk_can_be_checked(ruff: Ruff, tmp_path: Path) -> None:
    assert (await check(ruff, "x = 1\n", "import os\n", tmp_path / "nowhere"))[0] == "failed"


async def test_the_settings_of_the_project_decide(ruff: Ruff, project: Path) -> None:
    strict, lax = project / "strict", project / "lax"
    for folder, rules in ((strict, '["F"]'), (lax, '["E9"]')):
        folder.mkdir()
        (folder / "ruff.toml").write_text(f"[lint]\nselect = {rules}\n")
    assert (await check(ruff, "x = 1\n", "import os\n", strict))[0] == "failed"
    assert (await check(ruff, "x = 1\n", "import os\n", lax))[0] == "passed"


async def test_without_ruff_the_check_is_skipped_with_a_reason(no_ruff: Ruff, project: Path) -> None:
    outcome = await check_change(LintCheck(no_ruff), change("x = 1\n", "x = undefined\n", project))
    assert outcome == Outcome("lint", "skipped", reason="ruff is not installed (pip install ruff)")


async def test_without_a_linter_for_the_language_the_check_is_skipped(ruff: Ruff, project: Path) -> None:
    outcome = await check_change(LintCheck(ruff), change("x = 1\n", "x = 2\n", project, "a.go"))
    assert outcome == Outcome("lint", "skipped", reason="no linter is known for .go")


async def test_a_ruff_that_fails_is_skipped_and_never_passed(project: Path) -> None:
    (project / "ruff.toml").write_text("no-such-setting = 1\n")
    outcome = await check_change(LintCheck(Ruff()), change("x = 1\n", "x = undefined\n", project))
    assert outcome.status == "skipped"
    assert outcome.reason.startswith(
        "ruff failed: TOML parse error at line 1, column 1: unknown field `no-such-setting`"
    )
    with pytest.raises(RuffFailed, match="ruff failed: stream did not contain valid UTF-8"):
        await Ruff().check(Document.from_text("file:///a.py", b"\xff"), Path("/a.py"), None)


async def test_a_safe_fix_has_edits_of_the_checked_text(ruff: Ruff, project: Path) -> None:
    document = Document.from_text((project / "a.py").as_uri(), "é = '漢'; import os\nprint(é)\n")
    [report] = await ruff.check(document, project / "a.py", project)
    assert report.fix_title == "Remove unused import: `os`"
    start = document.data.index(b"import")
    assert document.data[report.finding.start : report.finding.end] == b"os"
    assert report.finding.start == start + len("import ")
    assert all(isinstance(edit, Edit) and edit.end <= len(document.data) for edit in report.fix)
