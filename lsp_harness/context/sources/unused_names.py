"""What a file imports and does not use yet: nobody imports a name but to write it somewhere, and mostly that is where he goes next."""

import re
from collections.abc import Sequence

from lsp_harness.context.sources.required_imports import local_name
from lsp_harness.syntax.scope import enclosing_function, imports
from lsp_harness.syntax.symbols.declarations import Import, declared
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, encode

MOST = 6
"""Of more nobody means to use one here: such a file hands on what others define."""
HANDS_ON = re.compile(rb"\s*(?:export|pub)\b")


def find_unused_imports(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """Names that are imported before `offset` and are nowhere else in the text, the last first; none where there are many."""
    spans = imports(tree)
    found: dict[str, None] = {}
    for one in reversed(_brought(tree, offset, spans)):
        name = local_name(one, tree.language.id)
        start = next((span.start for span in spans if span.start <= one.start < span.end), one.start)
        if not name or name == "*" or one.start >= offset or HANDS_ON.match(tree.data, _line(tree.data, start)):
            continue
        function = enclosing_function(tree, one.start)
        # what is written next in a function is behind its end
        here = function is None or not tree.data[function.end : offset].strip()
        if here and not _used(tree.data, name, one.start, spans):
            found[name] = None
    return tuple(found) if len(found) <= MOST else ()


def _line(data: bytes, at: int) -> int:
    return data.rfind(b"\n", 0, at) + 1


def _brought(tree: SyntaxTree, offset: int, spans: Sequence[Span]) -> list[Import]:
    """What is imported at the top, and in the function around a place."""
    function = enclosing_function(tree, offset)
    parts = [(spans[0].start, spans[-1].end)] if spans else []
    parts += [(function.start, function.end)] if function else []
    found = [one for part in parts for one in declared(tree.language, tree.data, tree.root, part)[1]]
    return sorted(dict.fromkeys(found), key=lambda one: one.start)


def _used(data: bytes, name: str, at: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a name stands anywhere but where it is imported."""
    own = data.find(b"\n", at)
    for match in re.finditer(rb"(?<!\w)%s(?!\w)" % re.escape(encode(name)), data):
        start = match.start()
        if at <= start <= own or any(begin <= start < end for begin, end in spans):
            continue
        return True
    return False
