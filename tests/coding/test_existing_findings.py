"""The part of a prompt for an edit or a rewrite that lists the other findings in the code."""

from pathlib import Path

import pytest

from lsp_harness.coding.finding_location import MAX_LINES, describe_existing_findings
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.tree import parse
from lsp_harness.text.position import Span
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.tools import Script, make_settings
from tests.support import markup

pytestmark = pytest.mark.process

TEXT = """
    import os


    <|>def area(r):
        unused = 1
        l = 2
        return pi * width
    #          ^^ F821 what is this
    <|>

    def other(r):
        return tau
    """


async def find_existing_findings(folder: Path, *told: ToolProblem, text: str = TEXT, mended: bool = True) -> list[str]:
    src = markup.parse(text, folder / "a.py")
    output = Digest("pytest", told) if told else None
    turn = SessionLog(is_saved=False).turn()
    job = TurnContext(
        *(
            Script(),
            make_settings(),
            CheckTools(Ruff()),
            turn,
            src.document,
            folder / "a.py",
            folder,
            "a.py",
            lambda progress: None,
        ),
        output=output,
    )
    return await describe_existing_findings(
        job, parse(src.document), Span(*src.marks), src.findings[0] if src.findings and mended else None
    )


async def test_the_prompt_lists_other_findings_but_none_about_style(tmp_path: Path):
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F", "E", "D"]\n')
    assert await find_existing_findings(tmp_path) == [
        "Also at line 2: F841 Local variable `unused` is assigned to but never used",
        "Also at line 3: F841 Local variable `l` is assigned to but never used",
        "Also at line 4: F821 Undefined name `width`",
    ]
    # to who is to do something else, what is unused is nothing to be done about
    assert await find_existing_findings(tmp_path, mended=False) == [
        "Also at line 4: F821 Undefined name `pi`",
        "Also at line 4: F821 Undefined name `width`",
    ]


async def test_the_prompt_lists_findings_of_a_tool_and_failing_tests(tmp_path: Path):
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F821"]\n')
    token = "ghp_" + "a" * 36
    found = await find_existing_findings(
        tmp_path,
        ToolProblem("expected 3, got None", "tests/test_a.py", 9, test="tests/test_a.py::test_area"),
        ToolProblem("wrong type", "a.py", 5, code="assignment"),
        ToolProblem("cannot import name 'size' from 'a'", "tests/test_b.py", code=COLLECTION_CODE),
        ToolProblem("elsewhere", "a.py", 12),
        ToolProblem(f"the key {token}", "a.py", 5),
        ToolProblem("very " * 100, "a.py", 6),
        ToolProblem("one too many", "a.py", 6),
    )
    assert len(found) == MAX_LINES
    assert found[1:4] == [
        "TEST FAIL: test_area — expected 3, got None",
        "Also at line 2: assignment wrong type",
        "TEST FAIL: tests/test_b.py — cannot import name 'size' from 'a'",
    ]
    assert (len(found[4]), found[4][-1]) == (240, "…")


async def test_the_prompt_names_the_place_of_a_syntax_error(tmp_path: Path):
    [one] = await find_existing_findings(tmp_path, text="<|>def f(:\n    return 1\n<|>\n")
    assert one.startswith("Also at line 1: syntax ")
