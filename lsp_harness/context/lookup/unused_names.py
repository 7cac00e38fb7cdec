"""Imports that a file does not use yet. A user imports a name in order to use it, and often uses it next."""

import re
from collections.abc import Sequence

from lsp_harness.context.lookup.required_imports import local_name
from lsp_harness.syntax.scope import enclosing_function, find_imports
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, encode

MAX_UNUSED_NAMES = 6
"""A file with more unused imports exports them for other files, and uses none of them."""
EXPORT = re.compile(rb"\s*(?:export|pub)\b")


def find_unused_imports(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """Return names that are imported before `offset` (in bytes) and occur nowhere else, the last import first.

    Returns:
        The names as the file calls them; empty if there are more than `MAX_UNUSED_NAMES`.
    """
    spans = find_imports(tree)
    unused: dict[str, None] = {}
    for item in reversed(_visible_imports(tree, offset, spans)):
        name = local_name(item, tree.language)
        statement_start = next((span.start for span in spans if span.start <= item.start < span.end), item.start)
        is_export = EXPORT.match(tree.data, _line_start(tree.data, statement_start))
        if not name or name == "*" or item.start >= offset or is_export:
            continue
        function = enclosing_function(tree, item.start)
        # the text that the user types next in a function stands behind the end that the parser sees
        is_in_scope = function is None or not tree.data[function.end : offset].strip()
        if is_in_scope and not _is_used(tree.data, name, item.start, spans):
            unused[name] = None
    return tuple(unused) if len(unused) <= MAX_UNUSED_NAMES else ()


def _line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def _visible_imports(tree: SyntaxTree, offset: int, spans: Sequence[Span]) -> list[Import]:
    """Return the imports at the top of the file and in the function around a place, in the order of the text."""
    function = enclosing_function(tree, offset)
    parts = [(spans[0].start, spans[-1].end)] if spans else []
    parts += [(function.start, function.end)] if function else []
    items = [item for part in parts for item in find_declarations(tree.language, tree.data, tree.root, part)[1]]
    return sorted(dict.fromkeys(items), key=lambda item: item.start)


def _is_used(data: bytes, name: str, import_start: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a name occurs outside of imports and of the line of its own import."""
    line_end = data.find(b"\n", import_start)
    for match in re.finditer(rb"(?<!\w)%s(?!\w)" % re.escape(encode(name)), data):
        start = match.start()
        if import_start <= start <= line_end or any(begin <= start < end for begin, end in spans):
            continue
        return True
    return False
