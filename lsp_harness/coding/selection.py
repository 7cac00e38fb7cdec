"""What a verb works on: the whole lines of what the user selected, or the function around their cursor."""

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span


def chosen(document: Document, tree: SyntaxTree | None, span: Span) -> Span | None:
    """None where there is nothing but blank space."""
    start, end = span
    if not document.data[start:end].strip():
        function = scope.function_text_span(tree, start) if tree else None
        if function:
            return function
    first, last = document.line_of(start), document.line_of(max(start, end - 1))
    whole = Span(document.line_starts[first], document.line_span(last)[1])
    return whole if document.data[slice(*whole)].strip() else None
