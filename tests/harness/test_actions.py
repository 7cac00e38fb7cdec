"""Edits that a project defines, comments that ask, and the fix of all findings of a kind, with a script for a model."""

from pathlib import Path

import pytest

from lsp_harness.coding.project_actions import read_actions
from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.kernel.results import Progress
from lsp_harness.text.edit import apply
from tests.harness.bench import Make
from tests.harness.spoken import apply_document_edit, fence_code, ignore_progress, open_selection
from tests.harness.tools import make_settings, read_checked_log, select_event_data

pytestmark = pytest.mark.process

FILE = """\
[generation]
candidates = 1
max_retries = 0
repairs = false

[[actions]]
name = "guard"
title = "Guard the arguments"
prompt = "Check {symbol} in {file} ({language}): {selection} with {{braces}}. Known problems: {diagnostics}"
languages = ["python"]

[[actions]]
name = "short"
prompt = "Shorten this"
context = ["docs"]
checks = ["lint"]
"""
CODE = "import os\n\n\ndef f(x):\n    return <|>x\n"


def read(folder: Path, text: str = FILE) -> Config:
    (folder / "lsp-harness.toml").write_text(text)
    config, problems = load(folder, {})
    assert problems == []
    return config


# -- of the project
async def test_an_action_of_the_project_edits_by_its_prompt(bench: Make, tmp_path: Path) -> None:
    b = bench(fence_code("def f(x):\n    return x or 0"), config=read(tmp_path))
    snapshot, span = open_selection(b, CODE)
    assert [(action.name, action.title) for action in b.harness.edits.actions(snapshot)] == [
        ("guard", "Guard the arguments"),
        ("short", "short"),
    ]
    made = await b.harness.edits.run_action(snapshot, span, "guard", ignore_progress)
    assert apply_document_edit(made) == "import os\n\n\ndef f(x):\n    return x or 0\n"
    assert made.proposal.verdict.passed
    wanted = "Check f in a.py (python): def f(x):\n    return x with {braces}. Known problems: none"
    assert wanted in b.engine.prompt(0)


async def test_the_diagnostics_of_the_code_are_in_the_prompt(bench: Make, tmp_path: Path) -> None:
    b = bench(fence_code("def f(x):\n    return x"), config=read(tmp_path))
    where = open_selection(b, "def f(x):\n    return <|>y\n")
    await b.harness.edits.run_action(*where, "guard", ignore_progress)
    assert "Known problems: line 2: Undefined name `y`" in b.engine.prompt(0)


@pytest.mark.parametrize(("context", "is_shown"), [("[]", True), ('["related"]', True), ('["docs"]', False)])
async def test_the_context_has_only_the_parts_that_an_action_names(
    bench: Make, tmp_path: Path, context: str, is_shown: bool
) -> None:
    config = read(tmp_path, FILE.replace('["docs"]', context))
    b = bench(fence_code("def area(r):\n    return square(r)"), config=config)
    text = "def square(n: int) -> int:\n    return n * n\n\n\ndef area(r):\n    return <|>3 * square(r)\n"
    await b.harness.edits.run_action(*open_selection(b, text), "short", ignore_progress)
    assert ("def square(n: int) -> int" in b.engine.prompt(0)) is is_shown


async def test_a_check_of_an_action_runs_although_the_setting_is_off(bench: Make, tmp_path: Path) -> None:
    config = make_settings(read(tmp_path), verification={"lint": False})
    b = bench(fence_code("def f(x):\n    return y"), config=config)
    with pytest.raises(NoAnswer, match="LINT: F821 Undefined name `y`"):
        await b.harness.edits.run_action(*open_selection(b, CODE), "short", ignore_progress)


async def test_an_action_fails_if_its_check_cannot_run(bench: Make, tmp_path: Path) -> None:
    b = bench("```js\nlet y = 1;\n```", config=read(tmp_path))
    where = open_selection(b, "let x = <|>1 + 1;\n", "a.js")
    with pytest.raises(NoAnswer, match="'short' needs the check lint, which did not run: no linter"):
        await b.harness.edits.run_action(*where, "short", ignore_progress)


async def test_an_action_for_other_languages_is_not_offered(bench: Make, tmp_path: Path) -> None:
    b = bench(config=read(tmp_path))
    snapshot, span = open_selection(b, "let x = <|>1;\n", "a.js")
    assert [action.name for action in b.harness.edits.actions(snapshot)] == ["short"]
    with pytest.raises(UsageError, match="'guard' is for python, and "):
        await b.harness.edits.run_action(snapshot, span, "guard", ignore_progress)
    with pytest.raises(UsageError, match="there is no action 'nothing'; the actions are guard, short"):
        await b.harness.edits.run_action(snapshot, span, "nothing", ignore_progress)


async def test_without_trust_or_for_a_private_file_no_action_is_offered(bench: Make, tmp_path: Path) -> None:
    b = bench(config=read(tmp_path), is_trusted=False)
    snapshot, span = open_selection(b, f"# ai! do it\n{CODE}")
    assert b.harness.edits.actions(snapshot) == []
    assert b.harness.edits.comment_request(snapshot) is None
    with pytest.raises(UsageError, match="this workspace is not trusted"):
        await b.harness.edits.run_action(snapshot, span, "guard", ignore_progress)
    trusted = bench(config=read(tmp_path))
    snapshot, _ = open_selection(trusted, "<|># ai! do it\nKEY=1\n", ".env")
    assert (trusted.harness.edits.actions(snapshot), trusted.harness.edits.comment_request(snapshot)) == ([], None)


async def test_a_secret_in_the_prompt_of_an_action_is_not_sent(bench: Make, tmp_path: Path) -> None:
    b = bench(config=read(tmp_path))
    key = "sk-" + "live1234567890abcdefghij" * 2
    where = open_selection(b, f"def f(x):\n    return <|>'{key}'\n")
    with pytest.raises(NoAnswer, match="looks like a secret"):
        await b.harness.edits.run_action(*where, "guard", ignore_progress)
    assert b.engine.foreground_requests == []


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("name = 'A b'\nprompt = 'x'", "the action 'A b' is not offered: its name must be of small letters", 1),
        ("prompt = 'x'", "an action is not offered: its name must be", 1),
        ("name = 'a'", "the action 'a' is not offered: it has no prompt", 1),
        ("name = 'a'\nprompt = 'in {folder}'", "unknown placeholder {folder}; the placeholders are selection, ", 1),
        ("name = 'a'\nprompt = 'a { b'", "its prompt has a single {; write {{ for a brace", 1),
        ("name = 'a'\nprompt = 'x'\ncontext = ['all']", "'all' is no part of the context; choose from related, ", 1),
        ("name = 'a'\nprompt = 'x'\nchecks = ['gone']", "'gone' is no check; choose from syntax, lint", 1),
        ("name = 'a'\nprompt = 'x'\nlanguages = ['elvish']", "'elvish' is no language", 1),
        ("name = 'a'\nprompt = 'x'\n[[actions]]\nname = 'a'\nprompt = 'y'", "'a' is defined twice; the first", 4),
    ],
)
def test_an_invalid_definition_is_a_problem_with_its_line(tmp_path: Path, text: str, message: str, line: int) -> None:
    config = read(tmp_path, f"\n[[actions]]\n{text}\n")
    [problem] = read_actions(config)[1]
    assert message in problem.message
    assert (problem.file, problem.line) == (tmp_path / "lsp-harness.toml", line)


@pytest.mark.parametrize("header", ["[[actions]]", "[[actions.custom]]"])
def test_a_key_that_is_unknown_or_has_another_type_is_a_problem(tmp_path: Path, header: str) -> None:
    file = tmp_path / "lsp-harness.toml"
    file.write_text(
        f"[actions]\ncomment_trigger = true\n{header}\nname = 'a'\npromt = 'x'\n"
        if "." in header
        else f"\n\n{header}\nname = 'a'\npromt = 'x'\n"
    )
    config, [problem] = load(tmp_path, {})
    assert problem.message.startswith("unknown key actions.promt; the keys are name, title, prompt, ")
    assert problem.line == 2
    assert config.actions.comment_trigger is ("." in header)


# -- comments
async def test_an_edit_follows_the_comment_and_removes_it(bench: Make) -> None:
    reply = fence_code("def f(x):\n    # check the argument,\n    # else raise ValueError. ai!\n    return int(x)")
    b = bench(reply, config=make_settings(generation={"candidates": 1, "max_retries": 0}))
    text = "def f(x):\n    # check the argument,\n    # else raise ValueError. ai!\n    return x\n"
    snapshot, span = open_selection(b, text.replace("# else", "<|># else"))
    made = await b.harness.edits.follow_comment(snapshot, span, ignore_progress)
    assert apply_document_edit(made) == "def f(x):\n    return int(x)\n"
    assert "Instruction: check the argument, else raise ValueError." in b.engine.prompt(0)


@pytest.mark.parametrize("answer", ["x = 1", "x = 2  # more to do, ai!"])
async def test_an_answer_that_removes_only_the_comment_or_repeats_it_is_rejected(bench: Make, answer: str) -> None:
    b = bench(fence_code(answer), config=make_settings(generation={"candidates": 1, "max_retries": 0}))
    where = open_selection(b, "# ai! a float<|>\nx = 1\n")
    with pytest.raises(NoAnswer):
        await b.harness.edits.follow_comment(*where, ignore_progress)


async def test_a_question_in_a_comment_is_answered(bench: Make) -> None:
    b = bench("Because it is prime.")
    snapshot, span = open_selection(b, "# why 7? ai?<|>\nx = 7\n")
    assert "Because it is prime." in await b.harness.edits.answer_comment(snapshot, span, ignore_progress)
    assert "Answer this question about the code: why 7?" in b.engine.prompt(0)
    with pytest.raises(UsageError, match="there is no comment with ai! on this line"):
        await b.harness.edits.follow_comment(snapshot, span, ignore_progress)


async def test_a_secret_in_a_comment_is_not_sent(bench: Make) -> None:
    b = bench()
    key = "sk-" + "live1234567890abcdefghij" * 2
    where = open_selection(b, f"# ai? is {key} right<|>\nx = 7\n")
    with pytest.raises(NoAnswer, match="looks like a secret"):
        await b.harness.edits.answer_comment(*where, ignore_progress)
    assert b.engine.foreground_requests == []


# -- all of a kind
ALL = "import os\nimport re\nimport sys\n\n\ndef f(x):\n    import json\n    return re.escape(x)\n"


async def test_all_findings_of_a_kind_are_one_verified_edit(bench: Make) -> None:
    b = bench(config=make_settings(Config(), verification={"type_check": "off"}))
    snapshot, _ = open_selection(b, f"<|>{ALL}")
    examined = await b.harness.fixes.diagnose(snapshot)
    [group] = await b.harness.fixes.find_alike(snapshot, examined.findings[:1])
    assert [finding.code for finding in group] == ["F401"] * 3
    progress: list[Progress] = []
    proposal = await b.harness.fixes.fix_all(snapshot, group, progress.append)
    assert (
        apply(snapshot.document.data, proposal.edits).decode() == "import re\n\n\ndef f(x):\n    return re.escape(x)\n"
    )
    assert proposal.summary == (
        "the fix of 3 of 3 diagnostics passes (gone ✓, parse ✓, lint ✓, types – (verification.type_check is off), "
        "tests – (this workspace is not trusted, so no tests run))"
    )
    assert (proposal.is_by_model, b.engine.foreground_requests) == (False, [])
    assert [item.message for item in progress if item.message.startswith("line ")] == [
        "line 1: `os` imported but unused",
        "line 2: `sys` imported but unused",
        "line 5: `json` imported but unused",
    ]
    events = read_checked_log(b.harness.services.session.log.path)
    hashes = [data["hash"] for data in select_event_data(events, "verify.completed") if data["passed"]]
    assert proposal.verdict.hash == hashes[-1]


async def test_the_summary_lists_remaining_findings_and_the_model_helps(bench: Make) -> None:
    config = make_settings(generation={"candidates": 1, "max_retries": 0})
    b = bench("a = foo(1)", "b = 3", config=config)
    snapshot, _ = open_selection(b, "<|>def foo(n):\n    return n\n\n\na = fooo(1)\nb = qqqqqq(2)\n")
    examined = await b.harness.fixes.diagnose(snapshot)
    proposal = await b.harness.fixes.fix_all(snapshot, examined.findings, ignore_progress)
    assert b"a = foo(1)\nb = qqqqqq(2)\n" in apply(snapshot.document.data, proposal.edits)
    assert proposal.summary.startswith("the fix of 1 of 2 diagnostics passes (gone ✓ (1 of 2 diagnostics), parse ✓, ")
    assert "so no tests run); left: line 6: No candid" in proposal.summary.replace("))", ")")
    assert proposal.is_by_model


async def test_if_no_finding_can_be_fixed_the_text_stays(bench: Make) -> None:
    b = bench("a = 3", "b = 3", config=make_settings(generation={"candidates": 1, "max_retries": 0}))
    snapshot, _ = open_selection(b, "<|>a = qqqqqq(1)\nb = qqqqqq(2)\n")
    examined = await b.harness.fixes.diagnose(snapshot)
    with pytest.raises(NoAnswer, match="none of 2 diagnostics could be fixed: line 1: No candidate passed"):
        await b.harness.fixes.fix_all(snapshot, examined.findings, ignore_progress)
