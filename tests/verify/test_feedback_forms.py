"""The lines about findings that prompts, messages and the log repeat, in their exact forms."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.check import Check
from lsp_harness.verify.checks.review_check import ReviewCheck
from lsp_harness.verify.checks.types_check import TypesCheck
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.lint_check import LintCheck
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.review.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.suite_check import SuiteCheck
from lsp_harness.verify.syntax_check import SyntaxCheck
from lsp_harness.verify.types.checker_pool import CheckerPool

DOCUMENT = Document.from_text(Path("/a.py").as_uri(), "x = 1\n" * 20, language="python")
LINE_12 = DOCUMENT.line_starts[11]


async def nobody(*args: object) -> str:
    return ""


def no_engine() -> None:
    raise AssertionError


ACCESS = ToolAccess(nobody, lambda: pytest.fail("no sandbox is needed"))
SUITES = SuiteComparison(ProjectAccess(nobody, nobody, ACCESS.choose_sandbox))  # type: ignore[arg-type]
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
        ReviewCheck(Reviewer(no_engine), "return 1"),  # type: ignore[arg-type]
        Finding(0, 0, "the model says that this change does not address the task", "review", "NO"),
        "REVIEW: NO",
    ),
]


@pytest.mark.parametrize(("check", "finding", "line"), FORMS, ids=[form[0].name for form in FORMS])
def test_a_finding_is_one_line(check: Check, finding: Finding, line: str) -> None:
    assert check.format_finding(finding, DOCUMENT) == line
