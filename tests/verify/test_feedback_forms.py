"""The lines about findings that prompts, messages and the log repeat, in their exact forms."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import LintCheck, ReviewCheck, SuiteCheck, SyntaxCheck, TypesCheck, create_checks
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool
from tests.support.project_suites import create_suites, require_sandbox

pytestmark = pytest.mark.process

DOCUMENT = Document.from_text(Path("/a.py").as_uri(), "x = 1\n" * 20, language="python")
LINE_12 = DOCUMENT.line_starts[11]


async def answer_nothing(*args: object) -> str:
    return ""


def refuse_engine() -> None:
    raise AssertionError


ACCESS = ToolAccess(answer_nothing, lambda: pytest.fail("no sandbox is needed"))
SUITES = create_suites("")
FORMS: list[tuple[Check, Finding, str]] = [
    (SyntaxCheck(), Finding(LINE_12, LINE_12, "unexpected indent"), "SYNTAX ERROR at line 12: unexpected indent"),
    (
        LintCheck(Ruff()),
        Finding(0, 1, "Local variable `x` is assigned to but never used", "ruff", "F841"),
        "LINT: F841 Local variable `x` is assigned to but never used",
    ),
    (
        SuiteCheck(SUITES),
        Finding(0, 0, "test_area — AssertionError: assert 3 == 4", "tests", "test_area"),
        "TEST FAIL: test_area — AssertionError: assert 3 == 4",
    ),
    (
        TypesCheck(TypeComparison(CheckerPool(), ToolComparison(ACCESS))),
        Finding(LINE_12, LINE_12 + 1, "Incompatible return value type", "mypy", "return-value"),
        "TYPE ERROR at line 12: Incompatible return value type",
    ),
    (
        ReviewCheck(Reviewer(refuse_engine), "return 1"),  # type: ignore[arg-type]
        Finding(0, 0, "the model says that this change does not address the task", "review", "NO"),
        "REVIEW: NO",
    ),
]


@pytest.mark.parametrize(("check", "finding", "line"), FORMS, ids=[form[0].name for form in FORMS])
def test_a_finding_is_one_line(check: Check, finding: Finding, line: str) -> None:
    assert check.format_finding(finding, DOCUMENT) == line


PARSER = """\
\"\"\"Reads numbers.\"\"\"


def parse_number(text):
    return int(text)


def parse_input(text):
    if not text:
        raise ValueError("empty")
    number = parse_number(text)
    return number
"""
PARSER_TESTS = "from parser_module import parse_input\n\n\ndef test_parse_input():\n    assert parse_input('3') == 3\n"


@pytest.fixture
async def real_tools(tmp_path: Path) -> AsyncGenerator[CheckContext]:
    require_sandbox()
    (tmp_path / "parser_module.py").write_text(PARSER)
    (tmp_path / "test_parser.py").write_text(PARSER_TESTS)
    suites = create_suites("test_parser.py")
    yield CheckContext(CheckTools(Ruff(), suites))
    await suites.aclose()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("    return number\n", "        return number\n", "SYNTAX ERROR at line 12: unexpected indent"),
        ("    return number\n", "    unused = 1\n    return number\n",
         "LINT: F841 Local variable `unused` is assigned to but never used"),
        ("    return number\n", "    print(number)\n",
         "TEST FAIL: test_parse_input — AssertionError: expected 3, got None, where None = parse_input('3')"),
    ],
    ids=["syntax", "lint", "tests"],
)  # fmt: skip
async def test_each_real_tool_gives_the_documented_line(
    tmp_path: Path, real_tools: CheckContext, old: str, new: str, line: str
) -> None:
    file = tmp_path / "parser_module.py"
    before = Document.from_text(file.as_uri(), PARSER)
    after = Document.from_text(file.as_uri(), PARSER.replace(old, new))
    changes = ChangeSet.of(Change.from_documents(before, after, file, tmp_path))
    verdict = await run_checks(changes, create_checks(Verification(), real_tools))
    assert [shown for outcome in verdict.outcomes for shown in outcome.lines] == [line]
