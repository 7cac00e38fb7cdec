"""Lines for a prompt about the existing findings in the code that is to be changed."""

from collections.abc import Iterator, Sequence

from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.files.secrets import find_secrets
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.checks import SHARED_RULES
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.digest.problem import ToolProblem
from lsp_harness.verify.finding import Finding

MAX_LINES = 5
MAX_LINE_CHARS = 240
BREAKING_CODES = ("syntax", "invalid-syntax", "E9", "F7", "F82")
"""Prefixes of the codes of findings about code that cannot run."""


async def describe_existing_findings(
    context: TurnContext, tree: SyntaxTree | None, span: Span, target: Finding | None = None
) -> list[str]:
    """Return a line for each finding in a span: of our checks, and of the tool whose output the turn is about.

    Beside a finding to repair, findings about style are left out. Without one, only findings about code that cannot run
    are listed, because the others would be more tasks for the model.

    Args:
        context: The document and the tools.
        tree: The syntax tree of the document, or None if it has none.
        span: The code that is to be changed. Line numbers count from 1 at its start.
        target: The finding to repair, which is not listed.
    """
    problems = context.output.problems if context.output else ()
    findings = (await examine_text(context.document, tree, context.ruff, context.file, context.root)).findings
    lines = dict.fromkeys(
        (
            *_describe_findings(context.document, span, findings, target),
            *_describe_problems(context.document, span, problems, target),
        )
    )
    return [line for line in lines if not find_secrets(encode(line))][:MAX_LINES]


def _describe_findings(
    document: Document, span: Span, findings: Sequence[Finding], target: Finding | None
) -> Iterator[str]:
    first = document.line_of(span.start)
    for finding in sorted(findings, key=lambda finding: finding.start):
        line = document.line_of(finding.start)
        # another tool may report the target in other words
        is_at_target = target and (finding.start, finding.end) == (target.start, target.end)
        is_target = is_at_target or (
            target and line == document.line_of(target.start) and finding.message == target.message
        )
        is_listed = finding.code.startswith(("syntax", *SHARED_RULES) if target else BREAKING_CODES)
        if span.start <= finding.start < span.end and is_listed and not is_target:
            yield _format_line(line - first, finding.code, finding.message)


def _describe_problems(
    document: Document, span: Span, problems: Sequence[ToolProblem], target: Finding | None
) -> Iterator[str]:
    first, last = document.line_of(span.start) + 1, document.line_of(max(span.start, span.end - 1)) + 1
    for problem in problems:
        if target and problem.message in target.message:
            continue
        if problem.failed_id:
            yield _shorten(problem.feedback)
        elif first <= problem.line <= last:
            yield _format_line(problem.line - first, problem.code, problem.message)


def _format_line(line: int, code: str, message: str) -> str:
    return _shorten(f"Also at line {line + 1}: {code} {message}")


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"
