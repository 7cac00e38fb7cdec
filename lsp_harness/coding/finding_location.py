"""The place of a finding in its file: its statement, the code that may be rewritten, and its lines for a prompt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.files.secrets import find_secrets
from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.resolved_check import SHARED_RULES

UNKNOWN_NAME_MESSAGE = re.compile(
    r"undefined name|not defined|undeclared|cannot find name|unresolved reference|could not be resolved", re.IGNORECASE
)
QUOTED_NAME = re.compile(r"[`'\"“]([A-Za-z_][A-Za-z_0-9]*)[`'\"”]")
MAX_REWRITE_LINES = 80
"""Code with so many lines or more is not rewritten as a whole."""
MODULE_HEAD = re.compile(rb'(?:#[^\n]*\n)*(?:("""|\'\'\')(?:.|\n)*?\1[^\n]*\n)?')
"""The comments and the docstring at the beginning of a Python module."""
MAX_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """The statement and the block that contain a finding, and where an import can be added.

    Spans and offsets are in bytes.

    Attributes:
        statement: The statement of the finding.
        block: The code that may be rewritten: the function around the statement, or else the outermost statement. None
            if it is too long.
        line_in_block: The line of the finding in the block, from 1.
        imports_end: The offset where an import can be added.
        unknown_name: The Python name that the finding calls unknown, or an empty text.
        is_in_function: Whether the block is a function.
    """

    statement: Span
    block: Span | None
    line_in_block: int
    imports_end: int
    unknown_name: str = ""
    is_in_function: bool = True


def locate_finding(tree: SyntaxTree, finding: Finding) -> FindingPlace | None:
    """Return the place of a finding, or None if its line is blank."""
    document = tree.document
    statement = scope.statement_at(tree, finding.start, finding.end)
    if statement is None:
        line = document.line_span(document.line_of(min(finding.start, len(document.data))))
        if not document.data[slice(*line)].strip():
            return None
        statement = Span(*line)
    function = scope.function_text_span(tree, statement.start)
    block = function or scope.outermost_statement(tree, statement.start)
    line = 1
    if block:
        line = document.line_of(finding.start) - document.line_of(block.start) + 1
        if document.line_of(block.end) - document.line_of(block.start) >= MAX_REWRITE_LINES:
            block = None
    # the model writes only imports of this form
    is_unknown_name = tree.language.imports.form == "from-import" and UNKNOWN_NAME_MESSAGE.search(finding.message)
    name = QUOTED_NAME.search(finding.message) if is_unknown_name else None
    unknown_name = name.group(1) if name else ""
    return FindingPlace(
        statement, block, line, find_imports_end(tree), unknown_name, is_in_function=function is not None
    )


def find_imports_end(tree: SyntaxTree) -> int:
    """Return the start of the line after the first imports, or after the first comments and docstring of the module."""
    document, mark = tree.document, tree.document.mark_size
    imports = [
        span
        for span in scope.find_imports(tree)
        if not document.data[max(mark, document.line_starts[document.line_of(span.start)]) : span.start].strip()
    ]
    if imports:
        line = document.line_of(imports[-1].end) + 1
        return document.line_starts[line] if line < len(document.line_starts) else len(document.data)
    match = MODULE_HEAD.match(document.data, mark, MAX_HEAD_BYTES)
    return match.end() if match else mark


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
    document: Document, span: Span, problems: Sequence[Problem], target: Finding | None
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
