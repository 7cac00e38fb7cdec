"""The declarations that a change of one declaration may concern: the same method of related types, callers and tests.

Only what imports, scopes and written types prove is returned. Other references are counted, so that nobody takes the
list for complete.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.graph.indexed_source import Sources
from lsp_harness.index.graph.symbol_graph import build_graph, find_usages
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MAX_RELATED_TYPES = 20
"""Most types above and below the type of a method that are searched for the same method."""
MAX_LINE_CHARS = 160

Role = Literal["override", "caller", "test"]
ROLE_ORDER: tuple[Role, ...] = ("override", "caller", "test")


@dataclass(frozen=True, slots=True)
class Dependent:
    """A declaration that a change may concern.

    Attributes:
        path: The path of its file.
        symbol: Its qualified name, or an empty text for code outside of declarations.
        line: The line of the first use, or of the name of an override, from 1.
        text: The text of that line.
        role: The same method of a related type, a caller, or a caller in a file with tests.
        offsets: The byte offsets of the uses in the file, those in an override for the override.
    """

    path: str
    symbol: str
    line: int
    text: str
    role: Role
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dependents:
    """The declarations that a change of one declaration may concern, in the order in which they should be changed.

    Attributes:
        certain: The places that are proved to depend on it.
        uncertain: The places, as `path:line`, of references that may mean the declaration.
        own_offsets: The byte offsets of the uses in the declaration itself, such as recursive calls.
    """

    certain: tuple[Dependent, ...] = ()
    uncertain: tuple[str, ...] = ()
    own_offsets: tuple[int, ...] = ()


def find_dependents(view: IndexView, path: str, qualified: str) -> Dependents:
    """Return the dependents of the declaration with a path and a qualified name."""
    symbol = view.symbols.find_symbol(path, qualified)
    if symbol is None:
        return Dependents()
    sources = Sources(view)
    overrides = [*_find_overrides(view, symbol)]
    family = [symbol, *overrides]
    uses: dict[tuple[str, str], Dependent] = {}
    own_uses: dict[Symbol, set[int]] = {}
    uncertain: dict[str, None] = {}
    for declared in family:
        for usage in find_usages(sources, declared):
            source, start = usage.source, usage.place.start
            path, line = source.text.path, source.find_line(start) + 1
            if not usage.place.is_certain:
                uncertain[f"{path}:{line}"] = None
            elif own := next((one for one in family if one.path == path and one.start <= start < one.end), None):
                own_uses.setdefault(own, set()).add(start)
            else:
                key = path, usage.enclosing.qualified if usage.enclosing else ""
                role: Role = "test" if TEST_PATH.search(path) else "caller"
                first = uses.get(key) or Dependent(*key, line, source.read_line(start)[:MAX_LINE_CHARS], role)
                uses[key] = replace(first, offsets=tuple(sorted({*first.offsets, start})))
    related = [
        Dependent(
            *(twin.path, twin.qualified, twin.line + 1, _read_head(sources, twin), "override"),
            tuple(sorted(own_uses.get(twin, ()))),
        )
        for twin in overrides
    ]
    certain = sorted([*related, *uses.values()], key=lambda item: (ROLE_ORDER.index(item.role), item.path, item.line))
    places = {f"{item.path}:{item.line}" for item in certain}
    own_offsets = tuple(sorted(own_uses.get(symbol, ())))
    return Dependents(tuple(certain), tuple(place for place in uncertain if place not in places), own_offsets)


def _read_head(sources: Sources, symbol: Symbol) -> str:
    source = sources.load(symbol.path)
    return source.read_line(symbol.named)[:MAX_LINE_CHARS] if source else ""


def _find_overrides(view: IndexView, symbol: Symbol) -> Iterator[Symbol]:
    """Yield the methods of the same name in the types above and below the type of a method."""
    owner = view.symbols.find_symbol(symbol.path, symbol.qualified.rpartition(".")[0])
    if owner is None or owner.kind not in TYPE_KINDS:
        return
    seen, todo = {(owner.path, owner.qualified)}, [owner]
    while todo and len(seen) <= MAX_RELATED_TYPES:
        graph = build_graph(view, todo.pop(0))
        for edge in (*graph.inherits, *graph.inherited_by):
            key = edge.path, edge.name
            if not edge.is_certain or key in seen:
                continue
            seen.add(key)
            if type_ := view.symbols.find_symbol(*key):
                todo.append(type_)
                if twin := view.symbols.find_symbol(edge.path, f"{edge.name}.{symbol.name}"):
                    yield twin
