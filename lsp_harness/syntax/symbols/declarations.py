"""The declarations and imports of a file, for the index.

One query finds both in one walk over the tree, as the walk is the expensive part. Other facts about a symbol, such as
its signature and its documentation, are read from the text on demand.
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.syntax.tree_query import matches
from lsp_harness.text.position import decode


def read_use_tree(data: bytes, node: Node, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name and the alias of each imported name.

    Args:
        data: The bytes of the text, in UTF-8.
        node: The argument of a `use` declaration.
        prefix: The path before `node`.

    Yields:
        Three strings. The name is `*` for all names of a module, and empty if the path is a single word.
    """

    def text(part: Node | None) -> str:
        return decode(data[part.start_byte : part.end_byte]) if part else ""

    stack = [(node, prefix)]
    while stack:
        node, prefix = stack.pop()
        match node.type:
            case "use_list":
                stack += ((child, prefix) for child in reversed(node.named_children))
            case "scoped_use_list":
                if use_list := node.child_by_field_name("list"):
                    stack.append((use_list, _join_path(prefix, text(node.child_by_field_name("path")))))
            case "use_as_clause":
                path = _join_path(prefix, text(node.child_by_field_name("path")))
                yield (*_split_path(path), text(node.child_by_field_name("alias")))
            case "use_wildcard":
                yield _join_path(prefix, *map(text, node.named_children)), "*", ""
            case "self" if prefix:
                yield (*_split_path(prefix), "")
            case "line_comment" | "block_comment":
                pass
            case _:
                yield (*_split_path(_join_path(prefix, text(node))), "")


def _join_path(*parts: str) -> str:
    return "::".join(part for part in parts if part)


def _split_path(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    return (module, name) if module else (name, "")


QUERY = "symbols+imports"
QUOTE_MARKS = ":\"'"
IMPLEMENTATION = "implementation"
"""The kind of a block that declares members of a type outside of it."""
TYPE_KINDS = frozenset({"class", "interface", "struct", "enum", IMPLEMENTATION})
"""Kinds of declarations whose functions are methods."""
WEAK_KINDS = frozenset({"field", "variable", "constant", "type"})
"""Unspecific kinds. If another pattern finds another kind for the same name, that kind is used."""
QUERY_DEPTH = 4
"""How many levels of the tree the query walks in languages with declaration words."""
WORD_PREDECESSORS = (b"async", b":", b";")
"""Text that may precede a declaration word on its line."""


class Declaration(NamedTuple):
    """One declaration. All offsets are bytes.

    Attributes:
        kind: The kind of the symbol, such as `function` or `class`.
        name: The name without quotes.
        start: The start of the declaration, with its decorators.
        end: The end of the declaration, without trailing blanks.
        name_start: The start of the name.
        body_start: The end of the signature.
        line: The line of the name, counted from 0.
        parent: The index of the enclosing declaration in the same list, or -1 at the top level.
        owner: The type that it belongs to although it stands outside of it, as in `func (c *Circle) Area`.
        bases: The types that a class extends.
    """

    kind: str
    name: str
    start: int
    end: int
    name_start: int
    body_start: int
    line: int
    parent: int = -1
    owner: str = ""
    bases: tuple[str, ...] = ()


class Import(NamedTuple):
    """One imported name. `name` is empty for the module itself and `*` for all its names. `start` is a byte offset."""

    module: str
    name: str
    alias: str
    start: int


class SymbolRow(NamedTuple):
    """One match of a symbol query.

    The fields are those of `Declaration`, but `start` and `end` are the bytes of the node.

    `kind` may also be `OUTER_KIND`, for a node such as a decorated definition that starts before the declaration inside
    of it, or `BASE_KIND`, for the name of a type that the enclosing type extends.
    """

    start: int
    end: int
    name_start: int
    kind: str
    name: str = ""
    trimmed_end: int = 0
    """The end of the node without trailing blanks."""
    body_start: int = 0
    line: int = 0
    owner: str = ""


OUTER_KIND, BASE_KIND = "outer", "base"


def find_declarations(
    language: LanguageSpec, data: bytes, root: Node, byte_range: tuple[int, int] | None = None
) -> tuple[list[Declaration], list[Import]]:
    """Return the declarations and imports of a tree, both in the order of the text.

    Args:
        language: The language of the text.
        data: The bytes of the text, in UTF-8.
        root: The root of its tree.
        byte_range: If given, only declarations and imports around and inside of these bytes are returned.

    Returns:
        The declarations, each before those inside of it, and the imported names.
    """
    imports: list[Import] = []
    visited: set[int] = set()
    matched = _matches(language, data, root, byte_range, visited)
    rows = collect_rows(data, matched, _line_counter(data), imports, visited)
    imports = sorted(dict.fromkeys(imports), key=lambda item: item.start)
    return nest_rows(rows), imports


def find_symbol_rows(language: LanguageSpec, data: bytes, root: Node) -> list[SymbolRow]:
    """Return the rows of a query over the whole tree.

    Next to a syntax error this may find declarations that `find_declarations` misses because of the declaration words
    of the language.
    """
    matched = matches(language, "symbols", root) if language.queries else tag_queries.tag_matches(language, root)
    return collect_rows(data, matched, _line_counter(data))


def collect_rows(
    data: bytes,
    matched: Iterable[Mapping[str, Sequence[Node]]],
    line_of: Callable[[int], int],
    imports: list[Import] | None = None,
    visited: set[int] | None = None,
) -> list[SymbolRow]:
    """Turn matches of a symbol query into rows, one for each name, in the order of `row_order`.

    Args:
        data: The bytes of the text, in UTF-8.
        matched: The captures of each match.
        line_of: Returns the line of a byte offset. It is called with increasing offsets.
        imports: A list to which the imported names are added.
        visited: A set to which the start of each name is added before the next match is taken from `matched`.
    """
    visited = set() if visited is None else visited
    by_name: dict[int, tuple[str, Mapping[str, Sequence[Node]]]] = {}
    other_rows: dict[SymbolRow, None] = {}
    for nodes in matched:
        if "name" in nodes and (kind := _choose_kind(nodes)):
            name_start = nodes["name"][0].start_byte
            visited.add(name_start)
            if name_start not in by_name or is_more_specific(kind, by_name[name_start][0]):
                by_name[name_start] = (kind, nodes)
        elif "from" in nodes or "tree" in nodes:
            if imports is not None:
                visited.update(node.start_byte for part in ("from", "name") for node in nodes.get(part, ()))
                imports += _read_imports(data, nodes)
        elif OUTER_KIND in nodes:
            other_rows |= ((SymbolRow(*node.byte_range, -1, OUTER_KIND, ""), None) for node in nodes[OUTER_KIND])
        elif BASE_KIND in nodes:
            bases = nodes[BASE_KIND]
            other_rows |= ((SymbolRow(*node.byte_range, -1, BASE_KIND, _read_text(data, node)), None) for node in bases)
    declared = [_make_row(data, start, line_of(start), *by_name[start]) for start in sorted(by_name)]
    return sorted([*other_rows, *declared], key=row_order)


def _line_counter(data: bytes) -> Callable[[int], int]:
    """Return a function that counts the line of each offset. The offsets must increase from call to call."""
    line = previous = 0

    def line_of(offset: int) -> int:
        nonlocal line, previous
        line, previous = line + data.count(b"\n", previous, offset), offset
        return line

    return line_of


def is_more_specific(kind: str, other: str) -> bool:
    """Return whether `kind` replaces `other` if two patterns match the same name."""
    return other in WEAK_KINDS and kind not in WEAK_KINDS


def row_order(row: SymbolRow) -> tuple[int, int, int]:
    """Return the sort key of a row: the order of the text, outer nodes first."""
    return row.start, -row.end, row.name_start


def _make_row(data: bytes, name_start: int, line: int, kind: str, nodes: Mapping[str, Sequence[Node]]) -> SymbolRow:
    start, end = nodes[kind][0].byte_range
    trimmed_end = end
    while data[trimmed_end - 1 : trimmed_end].isspace():
        trimmed_end -= 1
    name = _read_text(data, nodes["name"][0])
    owner = _strip_type(_read_text(data, nodes["owner"][0])) if "owner" in nodes else ""
    return SymbolRow(start, end, name_start, kind, name, trimmed_end, _body_start(nodes, trimmed_end), line, owner)


def _matches(
    language: LanguageSpec, data: bytes, root: Node, byte_range: tuple[int, int] | None, visited: Container[int]
) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Yield the matches of the query, some of them twice.

    The caller adds the start of each name to `visited` at once.
    """
    if not language.queries:
        yield from tag_queries.tag_matches(language, root, byte_range)
        return
    words = () if byte_range else language.declarations.words
    yield from matches(language, QUERY, root, byte_range, depth=QUERY_DEPTH if words else None)
    for word in words:
        offset = data.find(word)
        while offset >= 0:
            if offset + len(word) not in visited and _can_start_statement(data, offset):
                yield from _matches_at(language, root, offset)
            offset = data.find(word, offset + len(word))


def _matches_at(language: LanguageSpec, root: Node, offset: int) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Yield the matches of the statement with a token at `offset`, and of the decorated definition around it."""
    token = root.descendant_for_byte_range(offset, offset + 1)
    statement = token.parent if token else None
    if statement:
        yield from matches(language, QUERY, statement.parent or statement, statement.byte_range, depth=1)


def _can_start_statement(data: bytes, offset: int) -> bool:
    """Return whether the text before `offset` on its line allows a statement to start there."""
    before = data[data.rfind(b"\n", 0, offset) + 1 : offset].strip()
    return not before or before.endswith(WORD_PREDECESSORS) or b"from" in before


def qualified_name(declarations: Sequence[Declaration], declaration: Declaration) -> str:
    """Return the name of a declaration after the names of those around it, such as `Circle.area`."""
    names = [declaration.name, declaration.owner]
    while declaration.parent >= 0:
        declaration = declarations[declaration.parent]
        names += (declaration.name, declaration.owner)
    return ".".join(name for name in reversed(names) if name)


def qualified_names(declarations: Iterable[Declaration]) -> list[str]:
    """Return the qualified name of each declaration of a file."""
    names: list[str] = []
    for declaration in declarations:
        parent = names[declaration.parent] if declaration.parent >= 0 else ""
        names.append(".".join(filter(None, (parent, declaration.owner, declaration.name))))
    return names


def _choose_kind(nodes: Mapping[str, Sequence[Node]]) -> str:
    for name in nodes:
        if name not in _PART_CAPTURES and name[0] != "_":
            return name
    return ""


_PART_CAPTURES = frozenset({"name", "body", "head", "owner", "base", "outer", "from", "alias", "tree"})


def nest_rows(rows: Iterable[SymbolRow]) -> list[Declaration]:
    """Return the declarations of rows, with their parents and bases. The rows must be in the order of `row_order`."""
    declarations: list[Declaration] = []
    bases: list[SymbolRow] = []
    enclosing: list[int] = []
    outer_start, outer_end, previous_span = 0, -1, (0, 0)
    for row in rows:
        start, end, name_start, kind, name, trimmed_end, body_start, line, owner = row
        if kind == BASE_KIND:
            bases.append(row)
            continue
        if kind == OUTER_KIND:
            if start >= outer_end:
                outer_start, outer_end = start, end
            continue
        if previous_span == (start, end):
            # `a, b = 1, 2` declares two names in one node. Neither is the parent of the other.
            enclosing.pop()
        while enclosing and declarations[enclosing[-1]].end <= start:
            enclosing.pop()
        previous_span = (start, end)
        parent = enclosing[-1] if enclosing else -1
        if kind == "function" and parent >= 0 and declarations[parent].kind in TYPE_KINDS:
            kind = "method"
        enclosing.append(len(declarations))
        # In Ruby a symbol may declare a name (`attr_reader :name`). In TypeScript a name may have quotes.
        name_start += name[:1] in QUOTE_MARKS
        first = outer_start if start < outer_end else start
        declarations.append(
            Declaration(kind, name.strip(QUOTE_MARKS), first, trimmed_end, name_start, body_start, line, parent, owner)
        )
        outer_end = -1
    _add_bases(declarations, bases)
    return declarations


def _add_bases(declarations: list[Declaration], bases: Iterable[SymbolRow]) -> None:
    """Add the name of each base to the innermost type around it."""
    for base in bases:
        index = bisect_right(declarations, base.start, key=lambda declaration: declaration.start) - 1
        while index >= 0:
            declaration = declarations[index]
            if declaration.kind in TYPE_KINDS and base.start < declaration.end:
                declarations[index] = declaration._replace(bases=(*declaration.bases, base.name))
                break
            index = declaration.parent


def _read_imports(data: bytes, nodes: Mapping[str, Sequence[Node]]) -> Iterator[Import]:
    if "tree" in nodes:
        [node] = nodes["tree"]
        yield from (Import(*names, node.start_byte) for names in read_use_tree(data, node))
        return
    module, name, alias = (
        _read_text(data, nodes[part][0]) if part in nodes else "" for part in ("from", "name", "alias")
    )
    if name and not name.strip("*._ "):
        name = "*"
    name = name.strip(QUOTE_MARKS)
    start = min(node.start_byte for part in nodes.values() for node in part)
    yield Import(module, name, alias, start)


def _body_start(nodes: Mapping[str, Sequence[Node]], end: int) -> int:
    if "head" in nodes:
        return nodes["head"][0].end_byte
    return nodes["body"][0].start_byte if "body" in nodes else end


def _strip_type(text: str) -> str:
    """Return the bare name of a type: `Circle` for `*Circle[T]`."""
    return text.strip("*&() ").split("[")[0].split("<")[0]


def _read_text(data: bytes, node: Node) -> str:
    return decode(data[node.start_byte : node.end_byte])
