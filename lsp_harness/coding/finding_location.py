"""The place of a finding in its file: its statement, the code that may be rewritten, and the place for an import."""

import re
from dataclasses import dataclass

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding

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
