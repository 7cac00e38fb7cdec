"""Errors about names, attributes, arguments and imports are findings, and count against every edit."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.process.sandbox.sandbox import NoSandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Author, Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import ResolvedCheck, create_checks
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checkers import TY_VARIABLE
from tests.support.real_checkers import REAL_TY
from tests.verify.types.conftest import Make, make
from tests.verify.types.desk import Desk

pytestmark = pytest.mark.process

__all__ = ["make"]

SETTINGS = Verification(parse_check=False, kept=False, lint=False, test=False)
NEEDS_TY = pytest.mark.skipif(not REAL_TY, reason="ty is not installed")


def create_names(pool: CheckerPool, objection: str = "") -> NameErrors:
    async def find_objection(argv: object, confinement: object) -> str:
        return objection

    return NameErrors(pool, ToolAccess(find_objection, lambda: SandboxChoice(NoSandbox())))


async def check(
    desk: Desk, before: str, after: str, author: Author = "rewrite", objection: str = "", name: str = "a.py"
) -> Outcome:
    file = desk.root / name
    # a command does not know the language of a text
    old, new = (Document.from_text(file.as_uri(), text, version=1) for text in (before, after))
    change = replace(Change.from_documents(old, new, file, desk.root), author=author)
    tools = CheckTools(Ruff(), names=create_names(desk.pool, objection))
    verdict = await run_checks(ChangeSet.of(change), create_checks(SETTINGS, CheckContext(tools)))
    [outcome] = verdict.outcomes
    return outcome


async def test_the_check_runs_by_default_and_fails_a_new_unknown_name(make: Make) -> None:
    outcome = await check(make(), "x = 1\n", "x = 1\nwrong1\n")
    assert (outcome.check, outcome.status) == ("types", "failed")
    assert outcome.lines == ("TYPE ERROR at line 2: Name `wrong1` is not defined",)


async def test_a_name_that_was_reported_before_does_not_count_even_in_another_place(make: Make) -> None:
    assert (await check(make(), "wrong1\n", "wrong1\nwrong1\n")).status == "passed"


async def test_a_repair_is_not_blamed_for_findings_that_it_reveals(make: Make) -> None:
    desk = make()
    before, after = "x = 1\ny = 2\n", "x = 3\ny = 2\n\n\nwrong1\n"
    assert (await check(desk, before, after)).status == "failed"
    file = desk.root / "a.py"
    assert (await check(desk, "x = vaule\nwrong2\n", "x = value\nwrong2\n", "repair")).status == "passed"
    assert (await check(desk, "x = 1\n", "x = wrong3\n", "repair")).status == "failed"
    assert not file.exists()


async def test_without_a_checker_the_verdict_says_that_types_were_not_looked_at(make: Make) -> None:
    desk = make()
    desk.checker.is_installed = False
    outcome = await check(desk, "x\n", "wrong1\n")
    assert (outcome.status, outcome.reason) == ("skipped", "ty is not installed (install fake)")
    outcome = await check(make(), "x\n", "wrong1\n", objection="the settings deny it")
    assert (outcome.status, outcome.reason) == ("skipped", "the settings deny it")
    outcome = await check(make(), "x\n", "y\n", name="a.rb")
    assert (outcome.status, outcome.reason) == ("skipped", "no type checker is known for .rb")


@pytest.mark.parametrize(
    ("text", "reason", "is_temporary"),
    [("crash\n", "the process has ended", True), ("#" * 600_000, "the text is too large for a type checker", False)],
)
async def test_a_check_that_can_run_later_is_skipped_for_the_time_being(
    make: Make, text: str, reason: str, is_temporary: bool
) -> None:
    outcome = await check(make(), "x = 1\n", text)
    assert (outcome.status, outcome.reason, outcome.is_temporary) == ("skipped", reason, is_temporary)


async def test_the_checker_of_each_project_gets_only_its_own_files(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    monkeypatch.setattr(desk.checker, "find_folder", lambda root, file: file.parent)
    for name in ("one", "two"):
        (desk.root / name).mkdir()
        assert (await check(desk, "x = 1\n", "x = 2\n", name=f"{name}/a.py")).status == "passed"
    assert [row["folder"] for row in desk.pool.state()] == [str(desk.root / name) for name in ("one", "two")]


async def test_an_examination_has_the_errors_before_style_and_each_name_once(make: Make, ruff: Ruff) -> None:
    desk = make()
    (desk.root / "ruff.toml").write_text('[lint]\nselect = ["F", "I"]\n')
    file = desk.root / "a.py"
    document = Document.from_text(file.as_uri(), "import sys\nimport os\n\nwrong1\n")
    examined = await examine_text(document, parse(document), ruff, file, desk.root, create_names(desk.pool))
    assert examined.checks == ("syntax", "ruff", "types")
    assert [finding.code for finding in examined.findings] == ["F821", "F401", "F401", "I001"]


async def test_an_examination_says_why_types_were_not_looked_at(make: Make, ruff: Ruff) -> None:
    desk = make()
    desk.checker.is_installed = False
    file = desk.root / "a.py"
    document = Document.from_text(file.as_uri(), "x = 1\n")
    examined = await examine_text(document, parse(document), ruff, file, desk.root, create_names(desk.pool))
    assert examined.skip_reasons == ("types: ty is not installed (install fake)",)


async def test_a_finding_of_the_checker_is_gone_if_the_checker_no_longer_reports_it(make: Make, ruff: Ruff) -> None:
    desk = make()
    file = desk.root / "a.py"
    before = Document.from_text(file.as_uri(), "x.wrong1\n")
    finding = Finding(2, 8, "Name `wrong1` is not defined", "ty", "unresolved-reference")
    statuses = {}
    for text in ("x.right\n", "x.wrong2\n", "y = 1\nx.wrong1\n"):
        change = Change.from_documents(before, Document.from_text(before.uri, text), file, desk.root)
        check = ResolvedCheck(ruff, finding, create_names(desk.pool))
        statuses[text] = (await check.judge(ChangeSet.of(change))).status
    assert [*statuses.values()] == ["passed", "failed", "failed"]


BOX = "class Box:\n    size: int = 1\n\n    def fill(self, amount, *, slow=False):\n        return amount\n\n\n"
WRONG = [
    ("import contextlib\n\ncontextlib.open('a')\n", "missing-attribute", "open"),
    ("import os\n\nos.pth.join('a')\n", "missing-attribute", "pth"),
    ("from contextlib import opne\n\nopne()\n", "missing-module-member", "opne"),
    (f"{BOX}Box().sise\n", "missing-attribute", "sise"),
    (f"{BOX}Box().fill(1, slwo=True)\n", "unknown-argument", "slwo"),
    (f"{BOX}Box().fill()\n", "missing-argument", ""),
    (f"{BOX}Box().fill(1, 2)\n", "too-many-positional-arguments", ""),
    ('"a".uper()\n', "missing-attribute", "uper"),
]


@NEEDS_TY
@pytest.mark.parametrize(("text", "code", "name"), WRONG)
async def test_ty_finds_names_that_do_not_exist(
    text: str, code: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    pool = CheckerPool()
    file = tmp_path / "a.py"
    document = Document.from_text(file.as_uri(), text)
    try:
        [finding] = await create_names(pool).find(document, file, tmp_path)
        assert finding.code == code
        if name:
            subject = find_subject(finding, document, parse(document))
            assert (subject.kind, subject.name) == ("name", name)
        empty = Document.from_text(document.uri, "\n")
        changes = ChangeSet.of(Change.from_documents(empty, document, file, tmp_path))
        assert len((await create_names(pool).compare(changes)).new) == 1
    finally:
        await pool.aclose()


@NEEDS_TY
@pytest.mark.parametrize(("excluded", "is_read"), [("a.py", False), ("b.py", True)])
async def test_a_file_that_the_settings_leave_out_has_not_passed(
    excluded: str, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    (tmp_path / "ty.toml").write_text(f'[src]\nexclude = ["{excluded}"]\n')
    pool, file = CheckerPool(), tmp_path / "a.py"
    file.write_text("x = 1\n")
    old, new = (Document.from_text(file.as_uri(), text) for text in ("x = 1\n", "x = 2\n"))
    changes = ChangeSet.of(Change.from_documents(old, new, file, tmp_path))
    try:
        if is_read:
            assert (await create_names(pool).compare(changes)).new == ()
        else:
            with pytest.raises(NothingComparedError, match=r"ty's configuration excludes a\.py"):
                await create_names(pool).compare(changes)
    finally:
        await pool.aclose()
