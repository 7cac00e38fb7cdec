"""What is around a place that other files may say something about: its names, the members among them, and what it imports."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.context.sources.unused_names import find_unused_imports
from lsp_harness.index.identifier_words import NAME, words
from lsp_harness.index.query.stop_words import STOP_WORDS
from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.scope import Scope, enclosing_class, enclosing_function, imports
from lsp_harness.syntax.symbols.declarations import Import, declared
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode, encode

ABOVE, BELOW = 40, 20
"""Lines around the cursor whose names count."""
CLOSE = 6
"""Lines around the cursor whose words tell which members of something are likely."""
MEMBER = re.compile(r"\.\s*([^\W\d]\w*)")
UNFINISHED = re.compile(r"\s*from\s+([\w.]+)\s+import\b(.*)")
"""An import on one line, which may not be parsed yet as nothing stands after its last comma."""


@dataclass(frozen=True, slots=True)
class CursorNames:
    """`names` are the nearest first, `members` those of something, `bases` of the type it is in, `words` what the nearest names are
    made of, `module` and `imported` of the import it is in; `text` and `language` those of the whole file."""

    names: tuple[str, ...]
    members: frozenset[str]
    bases: tuple[str, ...]
    words: frozenset[str]
    module: str
    imported: frozenset[str]
    text: str
    language: Language
    unused: tuple[str, ...] = ()


def read_cursor_names(tree: SyntaxTree, offset: int) -> CursorNames:
    """Names in the lines near a place, and in the head of the function it is in."""
    document = tree.document
    line = document.line_of(offset)
    # what is imported is not used yet
    brought = {n for span in imports(tree) for n in range(document.line_of(span.start), document.line_of(span.end) + 1)}
    lines = {*range(max(0, line - ABOVE), min(len(document.starts), line + BELOW + 1))} - brought
    texts = [decode(document.line(n)) for n in sorted(lines, key=lambda n: (abs(n - line), n > line))]
    function = enclosing_function(tree, offset)
    head = decode(document.data[function.start : function.body_start]) if function else ""
    close = "\n".join(decode(document.line(n)) for n in lines if abs(n - line) <= CLOSE)
    return replace(
        _seen(tree, offset, (head, *texts), close, *_importing(tree, offset)), unused=find_unused_imports(tree, offset)
    )


def read_span_names(tree: SyntaxTree, span: Span) -> CursorNames:
    """Names in a piece of the text, the first of it first."""
    text = decode(tree.data[slice(*span)])
    return _seen(tree, span.start, (text,), text)


def _seen(
    tree: SyntaxTree,
    offset: int,
    texts: Sequence[str],
    close: str,
    module: str = "",
    imported: frozenset[str] = frozenset(),
) -> CursorNames:
    names = dict.fromkeys(name for text in texts for name in NAME.findall(text))
    members = frozenset(name for text in texts for name in MEMBER.findall(text))
    said = {word for word in words(" ".join(NAME.findall(close))).lower().split() if len(word) > 2} - STOP_WORDS
    type_ = enclosing_class(tree, offset)
    bases = _bases(tree, type_) if type_ else ()
    whole = decode(tree.data)
    return CursorNames(tuple(names), members, bases, frozenset(said), module, imported, whole, tree.language)


def _importing(tree: SyntaxTree, offset: int) -> tuple[str, frozenset[str]]:
    """The module that a place in an import statement is about, and the names that are imported from it there."""
    if unfinished := UNFINISHED.match(decode(tree.document.line(tree.document.line_of(offset)))):
        return unfinished[1], frozenset(NAME.findall(unfinished[2]))
    node = tree.root.descendant_for_byte_range(offset, offset)
    while node and node.parent and node.parent.parent:
        node = node.parent
    if node is None or node.parent is None:
        return "", frozenset()
    found, brought = declared(tree.language, tree.data, tree.root, node.byte_range)
    there: list[Import] = [one for one in brought if node.start_byte <= one.start < node.end_byte]
    if not there or any(node.start_byte <= one.start < node.end_byte for one in found):
        return "", frozenset()

    def far(one: Import) -> tuple[bool, int]:
        # a tree of imports has one start; what is after the cursor counts where nothing is before it
        before = tree.data.rfind(encode(one.name), node.start_byte, offset)
        return (False, offset - before) if before >= 0 else (True, tree.data.find(encode(one.name), offset))

    module = min(there, key=far).module
    return module, frozenset(one.name for one in there if one.module == module)


def _bases(tree: SyntaxTree, type_: Scope) -> tuple[str, ...]:
    found, _ = declared(tree.language, tree.data, tree.root, (type_.start, type_.body_start))
    return tuple(base for one in found if type_.start <= one.named < type_.body_start for base in one.bases)
