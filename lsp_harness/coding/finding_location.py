"""Where a diagnostic is: its statement, its function, and where an import would go."""

import re
from dataclasses import dataclass

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding

UNKNOWN = re.compile(
    r"undefined name|not defined|undeclared|cannot find name|unresolved reference|could not be resolved", re.IGNORECASE
)
NAME = re.compile(r"[`'\"“]([A-Za-z_][A-Za-z_0-9]*)[`'\"”]")
LONGEST = 80
"""Lines of a function that may be rewritten as a whole."""


@dataclass(frozen=True, slots=True)
class Place:
    """Byte ranges. `function` is None where there is none, or it is too long to rewrite."""

    statement: Span
    function: Span | None
    line_in_function: int
    imports_end: int
    unknown_name: str


def locate(tree: SyntaxTree, finding: Finding) -> Place | None:
    """The place of a finding; None where there is nothing but blank space."""
    document = tree.document
    statement = scope.statement_at(tree, finding.start, finding.end)
    if statement is None:
        line = document.line_span(document.line_of(min(finding.start, len(document.data))))
        if not document.data[slice(*line)].strip():
            return None
        statement = Span(*line)
    function = scope.function_text_span(tree, statement.start)
    line = 1
    if function:
        line = document.line_of(finding.start) - document.line_of(function.start) + 1
        if document.line_of(function.end) - document.line_of(function.start) >= LONGEST:
            function = None
    # The model writes imports of this form only.
    unknown = tree.language.imports.form == "from-import" and UNKNOWN.search(finding.message)
    name = NAME.search(finding.message) if unknown else None
    return Place(statement, function, line, imports_end(tree), name.group(1) if name else "")


def imports_end(tree: SyntaxTree) -> int:
    """The start of the line after the leading imports, or after the module's opening comment and docstring."""
    document = tree.document
    top = [
        span
        for span in scope.find_imports(tree)
        if not document.data[document.line_starts[document.line_of(span.start)] : span.start].strip()
    ]
    if top:
        return _next_line(tree, top[-1].end)
    match = re.match(rb'(?:#[^\n]*\n)*(?:("""|\'\'\')(?:.|\n)*?\1[^\n]*\n)?', document.data[:4096])
    return match.end() if match else 0


def _next_line(tree: SyntaxTree, offset: int) -> int:
    document = tree.document
    line = document.line_of(offset) + 1
    return document.line_starts[line] if line < len(document.line_starts) else len(document.data)
