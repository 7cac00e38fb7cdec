"""What a file declares and imports, for the index: every definition with its place, and every imported name.

One query finds both in one walk over the tree, as that walk is what costs; everything else that could be said of a symbol
(its signature, its first words of documentation) is read off the text when it is asked for.
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.syntax.symbols.rust_use_tree import read_use_tree
from lsp_harness.syntax.tree_query import matches
from lsp_harness.text.position import decode

QUERY = "symbols+imports"
QUOTE_MARKS = ":\"'"
TYPE_KINDS = frozenset({"class", "interface", "struct", "enum", "implementation"})
"""Kinds whose functions are methods."""
WEAK_KINDS = frozenset({"field", "variable", "constant", "type"})
"""Kinds that give way where a pattern knows better what is declared there."""
QUERY_DEPTH = 4
DECLARATION_WORDS: Mapping[str, tuple[bytes, ...]] = {"python": (b"def ", b"class ", b"import ")}
"""Languages in which what is declared or imported deeper in the tree than `DEPTH` has one of these words before its name. To
walk over all of a tree costs a third of parsing it."""
WORD_PREDECESSORS = (b"async", b":", b";")
"""What such a word may come after on its line."""


class Declaration(NamedTuple):
    """A definition. Offsets are bytes; `body` is where the signature ends, `line` that of the name, counted from 0.

    `parent` is the place in the list of the one around it, -1 at the top; `owner` the type it belongs to although it stands
    outside of it (`func (c *Circle) Area`).
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
    """One name that a file imports: `name` of `module`, empty for the module itself, `*` for all of it."""

    module: str
    name: str
    alias: str
    start: int


class SymbolRow(NamedTuple):
    """What a pattern has found: as a `Declaration` is, but of its node alone, `end` being that of the node.

    `kind` is `OUTER` of a node that begins earlier than what is declared in it, and `BASE` of what the type around it extends.
    """

    start: int
    end: int
    name_start: int
    kind: str
    name: str = ""
    trimmed_end: int = 0
    """Where the node ends without the blanks at its end."""
    body_start: int = 0
    line: int = 0
    owner: str = ""


OUTER_KIND, BASE_KIND = "outer", "base"


def find_declarations(
    language: Language, data: bytes, root: Node, byte_range: tuple[int, int] | None = None
) -> tuple[list[Declaration], list[Import]]:
    """Definitions in the order of the text, outer ones first, and imported names in the order of the text; of all of it, or
    only what is around and in the bytes `within`."""
    imports: list[Import] = []
    seen: set[int] = set()
    listed = collect_rows(data, _matches(language, data, root, byte_range, seen), _line_counter(data), imports, seen)
    imports = sorted(dict.fromkeys(imports), key=lambda it: it.start)
    return nest_rows(listed), imports


def find_symbol_rows(language: Language, data: bytes, root: Node) -> list[SymbolRow]:
    """What a walk over all of the tree finds. That also finds what a broken line declares where `WORDS` do not look."""
    matched = matches(language, "symbols", root) if language.queries else tag_queries.tag_matches(language, root)
    return collect_rows(data, matched, _line_counter(data))


def collect_rows(
    data: bytes,
    matched: Iterable[Mapping[str, Sequence[Node]]],
    line_of: Callable[[int], int],
    imports: list[Import] | None = None,
    seen: set[int] | None = None,
) -> list[SymbolRow]:
    """What matches of the query say, in the order of the text, outer ones first, once for every name; `imports` are added to,
    and where names begin to those that were `seen`, before the next match is asked for.

    `line_of` is asked about offsets that go up."""
    seen = set() if seen is None else seen
    named: dict[int, tuple[str, Mapping[str, Sequence[Node]]]] = {}
    around: dict[SymbolRow, None] = {}
    for nodes in matched:
        if "name" in nodes and (kind := _kind(nodes)):
            at = nodes["name"][0].start_byte
            seen.add(at)
            if at not in named or is_more_specific(kind, named[at][0]):
                named[at] = (kind, nodes)
        elif "from" in nodes or "tree" in nodes:
            if imports is not None:
                seen.update(node.start_byte for part in ("from", "name") for node in nodes.get(part, ()))
                imports += _imports(data, nodes)
        elif OUTER_KIND in nodes:
            around |= ((SymbolRow(*node.byte_range, -1, OUTER_KIND, ""), None) for node in nodes[OUTER_KIND])
        elif BASE_KIND in nodes:
            around |= (
                (SymbolRow(*node.byte_range, -1, BASE_KIND, _text(data, node)), None) for node in nodes[BASE_KIND]
            )
    rows = [*around, *(_make_row(data, at, line_of(at), *named[at]) for at in sorted(named))]
    return sorted(rows, key=row_order)


def _line_counter(data: bytes) -> Callable[[int], int]:
    """The lines of offsets that go up."""
    line = before = 0

    def line_of(offset: int) -> int:
        nonlocal line, before
        line, before = line + data.count(b"\n", before, offset), offset
        return line

    return line_of


def is_more_specific(kind: str, than: str) -> bool:
    """Of two patterns that declare the same name."""
    return than in WEAK_KINDS and kind not in WEAK_KINDS


def row_order(row: SymbolRow) -> tuple[int, int, int]:
    return row.start, -row.end, row.name_start


def _make_row(data: bytes, at: int, line: int, kind: str, nodes: Mapping[str, Sequence[Node]]) -> SymbolRow:
    start, end = nodes[kind][0].byte_range
    last = end
    while data[last - 1 : last].isspace():
        last -= 1
    name = _text(data, nodes["name"][0])
    owner = _owner(_text(data, nodes["owner"][0])) if "owner" in nodes else ""
    return SymbolRow(start, end, at, kind, name, last, _body(nodes, last), line, owner)


def _matches(
    language: Language, data: bytes, root: Node, byte_range: tuple[int, int] | None, seen: Container[int]
) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Matches of the query, some of them twice. Where the names begin that were taken from one is `seen` before the next."""
    if not language.queries:
        yield from tag_queries.tag_matches(language, root, byte_range)
        return
    words = () if byte_range else DECLARATION_WORDS.get(language.id, ())
    yield from matches(language, QUERY, root, byte_range, depth=QUERY_DEPTH if words else None)
    for word in words:
        at = data.find(word)
        while at >= 0:
            if at + len(word) not in seen and _can_start_statement(data, at):
                yield from _matches_at(language, root, at)
            at = data.find(word, at + len(word))


def _matches_at(language: Language, root: Node, at: int) -> Iterator[Mapping[str, Sequence[Node]]]:
    """Matches of the statement that has a token there, and of what is right around it: a decorator."""
    token = root.descendant_for_byte_range(at, at + 1)
    statement = token.parent if token else None
    if statement:
        yield from matches(language, QUERY, statement.parent or statement, statement.byte_range, depth=1)


def _can_start_statement(data: bytes, at: int) -> bool:
    """Whether a statement may begin on this line before `at`, and nothing else is there."""
    before = data[data.rfind(b"\n", 0, at) + 1 : at].strip()
    return not before or before.endswith(WORD_PREDECESSORS) or b"from" in before


def qualified_name(declarations: Sequence[Declaration], one: Declaration) -> str:
    """Its name after those of what it is in: `Circle.area`."""
    names = [one.name, one.owner]
    while one.parent >= 0:
        one = declarations[one.parent]
        names += (one.name, one.owner)
    return ".".join(name for name in reversed(names) if name)


def qualified_names(declarations: Iterable[Declaration]) -> list[str]:
    """The qualified name of each."""
    names: list[str] = []
    for one in declarations:
        around = names[one.parent] if one.parent >= 0 else ""
        names.append(".".join(filter(None, (around, one.owner, one.name))))
    return names


def _kind(nodes: Mapping[str, Sequence[Node]]) -> str:
    for name in nodes:
        if name not in _PART_CAPTURES and name[0] != "_":
            return name
    return ""


_PART_CAPTURES = frozenset({"name", "body", "head", "owner", "base", "outer", "from", "alias", "tree"})


def nest_rows(rows: Iterable[SymbolRow]) -> list[Declaration]:
    """The declarations of what was found, which is in order."""
    listed: list[Declaration] = []
    bases: list[SymbolRow] = []
    around: list[int] = []
    begins, until, same = 0, -1, (0, 0)
    for row in rows:
        start, end, named, kind, name, last, body, line, owner = row
        if kind == BASE_KIND:
            bases.append(row)
            continue
        if kind == OUTER_KIND:
            if start >= until:
                begins, until = start, end
            continue
        if same == (start, end):
            # `a, b = 1, 2` declares two within one node
            around.pop()
        while around and listed[around[-1]].end <= start:
            around.pop()
        same = (start, end)
        parent = around[-1] if around else -1
        if kind == "function" and parent >= 0 and listed[parent].kind in TYPE_KINDS:
            kind = "method"
        around.append(len(listed))
        # Ruby declares by symbols (`attr_reader :name`), TypeScript has names in quotes
        named += name[:1] in QUOTE_MARKS
        first = begins if start < until else start
        listed.append(Declaration(kind, name.strip(QUOTE_MARKS), first, last, named, body, line, parent, owner))
        until = -1
    for at, _, _, _, base, *_ in bases:
        n = bisect_right(listed, at, key=lambda one: one.start) - 1
        while n >= 0 and not (listed[n].kind in TYPE_KINDS and at < listed[n].end):
            n = listed[n].parent
        if n >= 0:
            listed[n] = listed[n]._replace(bases=(*listed[n].bases, base))
    return listed


def _imports(data: bytes, nodes: Mapping[str, Sequence[Node]]) -> Iterator[Import]:
    if "tree" in nodes:
        [node] = nodes["tree"]
        yield from (Import(*one, node.start_byte) for one in read_use_tree(data, node))
        return
    module, name, alias = (_text(data, nodes[part][0]) if part in nodes else "" for part in ("from", "name", "alias"))
    if name and not name.strip("*._ "):
        name = "*"
    name = name.strip(QUOTE_MARKS)
    first = min(node.start_byte for part in nodes.values() for node in part)
    yield Import(module, name, alias, first)


def _body(nodes: Mapping[str, Sequence[Node]], end: int) -> int:
    if "head" in nodes:
        return nodes["head"][0].end_byte
    return nodes["body"][0].start_byte if "body" in nodes else end


def _owner(text: str) -> str:
    """The bare name of a type: `*Circle[T]` is a Circle."""
    return text.strip("*&() ").split("[")[0].split("<")[0]


def _text(data: bytes, node: Node) -> str:
    return decode(data[node.start_byte : node.end_byte])
