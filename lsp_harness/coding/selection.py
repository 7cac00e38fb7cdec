"""The code that an edit or an explanation is about."""

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span


def select_code(document: Document, tree: SyntaxTree | None, span: Span) -> Span | None:
    """Return the whole lines of a selection. If it is empty, return the function around the cursor, or its line.

    Return None if there is only blank space.
    """
    start, end = span
    if not document.data[start:end].strip():
        function = scope.function_text_span(tree, start) if tree else None
        if function:
            return function
    first, last = document.line_of(start), document.line_of(max(start, end - 1))
    lines = Span(document.line_starts[first], document.line_span(last)[1])
    return lines if document.data[slice(*lines)].strip() else None
