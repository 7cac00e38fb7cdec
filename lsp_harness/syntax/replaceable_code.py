"""The statements of a region and the expressions in them, as code that could be written again by itself."""

from collections.abc import Iterator

from tree_sitter import Node

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span

MAX_EXPRESSIONS = 8
"""Most expressions of one statement that are replaced."""
EXPRESSION_FIELDS = frozenset(
    {"condition", "right", "value", "operators", "operator", "subscript", "index", "arguments"}
)
"""Fields of nodes that hold an expression or an operator, as most grammars call them."""
OPERATIONS = ("binary", "boolean", "comparison", "return")
"""The first words of the names of nodes whose named parts are all replaced."""
STRING_STARTS = (b'"', b"'", b"`")


def find_statement_spans(tree: SyntaxTree, region: Span) -> list[Span]:
    """Return the statements that begin a line of a region, in the order of the text.

    A compound statement counts with its header only. Comments and docstrings are left out.

    Args:
        tree: The syntax tree of the text.
        region: The byte range in which to search.
    """
    document = tree.document
    spans: dict[int, Span] = {}
    for line in range(document.line_of(region.start), document.line_of(max(region.start, region.end - 1)) + 1):
        start, end = document.line_span(line)
        text = document.data[start:end]
        offset = start + len(text) - len(text.lstrip())
        if not text.strip() or offset < region.start or text.lstrip().startswith(tree.language.comment.encode()):
            continue
        span = scope.statement_at(tree, offset, offset + 1)
        if span and span.start == offset and not document.data[span.start : span.end].startswith(STRING_STARTS):
            spans[span.start] = span
    return list(spans.values())


def find_expressions(tree: SyntaxTree, statement: Span) -> list[Span]:
    """Return the expressions and operators within a statement that may be wrong, the longest first.

    The whole statement and single names that are assigned to are not among them.
    """
    root = tree.root.descendant_for_byte_range(statement.start, max(statement.start, statement.end - 1))
    found: dict[Span, None] = {}
    for node in _walk(root, statement) if root else ():
        span = Span(node.start_byte, node.end_byte)
        if span.start > statement.start and span.end <= statement.end and span.end > span.start:
            found.setdefault(span)
    spans = sorted(found, key=lambda span: (span.start - span.end, span.start))
    return spans[:MAX_EXPRESSIONS]


def _walk(node: Node, statement: Span) -> Iterator[Node]:
    """Yield the nodes within a statement that hold an expression, an operator or an argument."""
    for index, child in enumerate(node.children):
        if child.end_byte <= statement.start or child.start_byte >= statement.end:
            continue
        field = node.field_name_for_child(index)
        is_argument = field is None and node.type.endswith(("arguments", "argument_list"))
        is_operand = node.type.startswith(OPERATIONS)
        if field in EXPRESSION_FIELDS or (child.is_named and (is_argument or is_operand)):
            yield child
        yield from _walk(child, statement)
