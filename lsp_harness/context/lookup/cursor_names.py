"""The names around a cursor that other files may define: identifiers, members, base types and imports."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lsp_harness.context.lookup.required_imports import name_locally
from lsp_harness.index.identifier_words import DOTTED_NAME, split_words
from lsp_harness.index.query.definition_lines import CursorNames
from lsp_harness.index.query.rankers import STOP_WORDS
from lsp_harness.syntax.scope import Scope, enclosing_class, enclosing_function, find_imports
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode, encode

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
        name = name_locally(item, tree.language)
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


LINES_ABOVE, LINES_BELOW = 40, 20
"""Lines around the cursor whose names count."""
WORD_RADIUS_LINES = 6
"""Lines around the cursor whose words tell which members of a type are likely."""
MEMBER = re.compile(r"\.\s*([^\W\d]\w*)")
UNFINISHED_IMPORT = re.compile(r"\s*from\s+([\w.]+)\s+import\b(.*)")
"""A Python import on one line. The parser may not see it as an import yet if nothing follows its last comma."""


def read_cursor_names(tree: SyntaxTree, offset: int) -> CursorNames:
    """Return the names in the lines around a byte offset, and in the head of the function around it."""
    document = tree.document
    line = document.line_of(offset)
    # an imported name is not used by its import
    import_lines = {
        n for span in find_imports(tree) for n in range(document.line_of(span.start), document.line_of(span.end) + 1)
    }
    last_line = min(len(document.line_starts), line + LINES_BELOW + 1)
    lines = {*range(max(0, line - LINES_ABOVE), last_line)} - import_lines
    texts = [decode(document.line(n)) for n in sorted(lines, key=lambda n: (abs(n - line), n > line))]
    function = enclosing_function(tree, offset)
    head = decode(document.data[function.start : function.body_start]) if function else ""
    nearest = "\n".join(decode(document.line(n)) for n in lines if abs(n - line) <= WORD_RADIUS_LINES)
    module, imported = _read_import(tree, offset)
    names = _read_names(tree, offset, (head, *texts), nearest)
    return replace(names, module=module, imported=imported, unused_imports=find_unused_imports(tree, offset))


def read_span_names(tree: SyntaxTree, span: Span) -> CursorNames:
    """Return the names in a span, in the order of the text."""
    text = decode(tree.data[slice(*span)])
    return _read_names(tree, span.start, (text,), text)


def _read_names(tree: SyntaxTree, offset: int, texts: Sequence[str], word_text: str) -> CursorNames:
    """Return the names in some texts, without those about imports. `word_text` is the text to take the words from."""
    names = dict.fromkeys(name for text in texts for name in DOTTED_NAME.findall(text))
    members = frozenset(name for text in texts for name in MEMBER.findall(text))
    all_words = split_words(" ".join(DOTTED_NAME.findall(word_text))).lower().split()
    likely_words = {word for word in all_words if len(word) > 2} - STOP_WORDS
    type_ = enclosing_class(tree, offset)
    bases = _read_bases(tree, type_) if type_ else ()
    text = decode(tree.data)
    return CursorNames(tuple(names), members, bases, frozenset(likely_words), "", frozenset(), text, tree.language)


def _read_import(tree: SyntaxTree, offset: int) -> tuple[str, frozenset[str]]:
    """Return the module of the import statement at a place, and the names that are imported from it there."""
    if unfinished := UNFINISHED_IMPORT.match(decode(tree.document.line(tree.document.line_of(offset)))):
        return unfinished[1], frozenset(DOTTED_NAME.findall(unfinished[2]))
    node = tree.root.descendant_for_byte_range(offset, offset)
    while node and node.parent and node.parent.parent:
        node = node.parent
    if node is None or node.parent is None:
        return "", frozenset()
    declarations, all_imports = find_declarations(tree.language, tree.data, tree.root, node.byte_range)
    statement: list[Import] = [item for item in all_imports if node.start_byte <= item.start < node.end_byte]
    if not statement or any(node.start_byte <= item.start < node.end_byte for item in declarations):
        return "", frozenset()

    def distance(item: Import) -> tuple[bool, int]:
        # all imports of a nested list have the same start, so the name is searched in the text; names after the cursor
        # count only if there are none before it
        before = tree.data.rfind(encode(item.name), node.start_byte, offset)
        return (False, offset - before) if before >= 0 else (True, tree.data.find(encode(item.name), offset))

    module = min(statement, key=distance).module
    return module, frozenset(item.name for item in statement if item.module == module)


def _read_bases(tree: SyntaxTree, type_: Scope) -> tuple[str, ...]:
    declarations, _ = find_declarations(tree.language, tree.data, tree.root, (type_.start, type_.body_start))
    return tuple(
        base for item in declarations if type_.start <= item.name_start < type_.body_start for base in item.bases
    )
