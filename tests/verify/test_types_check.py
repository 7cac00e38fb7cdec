"""Tests of the check by the type checker: its results, its reasons, and its setting."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.process.sandbox.sandbox import NoSandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison, choose_checker
from lsp_harness.verify.ruff_linter import Ruff
from tests.verify.types.conftest import Make, make
from tests.verify.types.desk import Desk

pytestmark = pytest.mark.process

__all__ = ["make"]

SETTINGS = Verification(parse_check=False, kept=False, lint=False, test=False, type_check="on")


async def allow_run(argv: object, confinement: object) -> str:
    return ""


def propose(desk: Desk, **texts: tuple[str, str]) -> ChangeSet:
    changes: list[Change] = []
    for name, (old, new) in texts.items():
        file = desk.root / f"{name}.py"
        before = Document.from_text(file.as_uri(), old, language="python", version=1)
        after = Document.from_text(before.uri, new, language="python", version=1)
        changes.append(Change.from_documents(before, after, file, desk.root))
    return ChangeSet(tuple(changes))


async def check(desk: Desk, changes: ChangeSet, settings: Verification = SETTINGS, objection: str = "") -> Outcome:
    async def find_objection(argv: object, confinement: object) -> str:
        return objection

    tools = ToolComparison(ToolAccess(find_objection, lambda: SandboxChoice(NoSandbox())))
    types = TypeComparison(desk.pool, tools)
    verdict = await run_checks(changes, create_checks(settings, CheckContext(CheckTools(Ruff(), types=types))))
    [outcome] = verdict.outcomes
    return outcome


async def test_only_a_new_error_fails(make: Make) -> None:
    desk = make()
    same = await check(desk, propose(desk, a=("wrong1\n", "x = 1\nwrong1\n")))
    assert same.status == "passed"
    new = await check(desk, propose(desk, a=("wrong1\n", "wrong1\nwrong2\n")))
    assert (new.status, new.lines) == ("failed", ("TYPE ERROR at line 2: Name `wrong2` is not defined",))


async def test_all_texts_of_a_proposal_are_sent_and_later_restored(make: Make) -> None:
    desk = make()
    outcome = await check(desk, propose(desk, a=("1\n", "2\n"), b=("3\n", "3\nwrong\n")))
    assert (outcome.status, outcome.findings) == ("failed", ())
    assert outcome.lines == ("b.py: TYPE ERROR at line 2: Name `wrong` is not defined",)
    # each text is sent once, and the texts before stand together
    assert [row[:2] + row[3:] for row in desk.rows("open", "change")][-3:] == [
        ["open", "b.py", "3\n"],
        ["change", "b.py", "3\nwrong\n"],
        ["change", "a.py", "2\n"],
    ]
    await check(desk, propose(desk, a=("1\n", "4\n")))
    assert ["close", "b.py"] in desk.rows("close")
    assert not (desk.root / "a.py").exists()


async def test_an_import_that_was_missing_before_is_ignored(make: Make) -> None:
    desk = make()
    outcome = await check(desk, propose(desk, a=("absent1\n", "absent1\nabsent2\n")))
    assert outcome.status == "passed"
    outcome = await check(desk, propose(desk, a=("1\n", "1\nabsent2\n")))
    assert outcome.status == "failed"


@pytest.mark.parametrize(
    ("text", "reason", "is_temporary"),
    # a checker that ended is started again
    [("crash\n", "the process has ended", True), ("#" * 600_000, "the text is too large for a type checker", False)],
)
async def test_a_checker_that_does_not_answer_is_skipped(
    make: Make, text: str, reason: str, is_temporary: bool
) -> None:
    desk = make()
    assert (await check(desk, propose(desk, a=("1\n", text)))) == Outcome(
        "types", "skipped", reason=reason, title="types", is_temporary=is_temporary
    )


async def test_the_reason_why_types_were_not_checked_is_given(make: Make) -> None:
    desk = make()
    changes = propose(desk, a=("1\n", "wrong\n"))
    assert (await check(desk, changes, objection="ty may not run: no")).reason == "ty may not run: no"
    desk.checker.is_installed = False
    assert (await check(desk, changes)).reason == "ty is not installed (install fake)"
    context = CheckContext(CheckTools(Ruff()))
    verdict = await run_checks(changes, create_checks(SETTINGS, context))
    assert verdict.outcomes[0].reason == "this workspace is not trusted, so no type checker runs on it"
    assert desk.rows() == []


async def test_the_setting_decides(make: Make) -> None:
    desk = make()
    changes = propose(desk, a=("1\n", "wrong\n"))
    off = replace(SETTINGS, type_check="off")
    assert create_checks(off, CheckContext(CheckTools(Ruff()))) == []
    auto = replace(SETTINGS, type_check="auto")
    reason = "the project configures no type checker, and none is running"
    assert (await check(desk, changes, auto)).reason == reason
    assert desk.rows() == []
    (desk.root / "ty.toml").touch()
    # the fake checker has the name of ty
    assert (await check(desk, changes, auto)).status == "failed"
    (desk.root / "ty.toml").unlink()
    # it is running now
    assert (await check(desk, changes, auto)).status == "failed"


async def test_a_checker_that_reads_files_needs_a_sandbox(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    (desk.root / "mypy.ini").write_text("[mypy]\n")
    program = desk.root / ".venv" / "bin" / "mypy"
    changes = propose(desk, a=("1\n", "wrong\n"))
    monkeypatch.setattr("lsp_harness.verify.project_tools.tools.find_tool", lambda name: None)
    assert (await check(desk, changes)).reason == "mypy.ini asks for mypy, which is not installed (pip install mypy)"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    assert (await check(desk, changes)).reason.startswith("mypy runs only in a sandbox, and none works here")


CONFIGURATIONS = [
    ({}, "a.py", ("ty", "")),
    ({"ty.toml": "", "mypy.ini": ""}, "a.py", ("ty", "ty.toml")),
    ({"pyproject.toml": "[tool.mypy]\n"}, "a.py", ("mypy", "[tool.mypy] in pyproject.toml")),
    ({"setup.cfg": "[mypy-numpy.*]\n"}, "a.py", ("mypy", "setup.cfg")),
    ({"pyproject.toml": "[tool.basedpyright]\n"}, "a.py", ("basedpyright", "[tool.basedpyright] in pyproject.toml")),
    ({"pyrightconfig.json": "{}", "mypy.ini": ""}, "a.py", ("pyright", "pyrightconfig.json")),
    ({"pyproject.toml": "not toml"}, "a.py", ("ty", "")),
    ({"web/tsconfig.json": "{}"}, "web/src/a.ts", ("typescript", "tsconfig.json")),
    ({}, "a.js", ("typescript", "")),
    ({"go.mod": "module a\n"}, "a.go", ("go build", "go.mod")),
    ({"Cargo.toml": ""}, "src/a.rs", ("cargo check", "Cargo.toml")),
    ({"Cargo.toml": ""}, "README.md", None),
]


@pytest.mark.parametrize(("files", "name", "expected"), CONFIGURATIONS)
def test_the_checker_is_the_one_that_the_project_configures(
    tmp_path: Path, files: dict[str, str], name: str, expected: tuple[str, str] | None
) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    choice = choose_checker(tmp_path, tmp_path / name)
    assert (choice and (choice.name, choice.reason)) == expected
