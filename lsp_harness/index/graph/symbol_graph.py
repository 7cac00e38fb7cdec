"""What a declaration has to do with others: what it calls and extends, who calls and extends it, which tests run it, and who imports
its file. Nothing of it is kept (docs/adr/0011): the files that may tell are parsed when somebody asks.

An edge is there because imports, scopes and written types lead from one end to the other. What they do not tell is kept as
unresolved: of what is called, by its name; of who calls, where the file knows what the member is of.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from lsp_harness.index.declaration_shape import TESTS
from lsp_harness.index.graph.indexed_source import Source, Sources
from lsp_harness.index.graph.name_resolution import SUPER, Meant, Name, told
from lsp_harness.index.graph.reference_search import FILES, Key, Place, occurring, places
from lsp_harness.index.index_view import NAMESPACED, NEIGHBOURS, Symbol, View
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS
from lsp_harness.syntax.symbols.name_uses import Reference, find_references
from lsp_harness.text.position import encode

CALLED = frozenset({"function", "method", "constructor", "macro", "class", "struct", "implementation"})
"""Kinds that are called; the others are used."""
MAKING = frozenset({"__init__", "__new__", "constructor", "__construct", "initialize"})
"""Members that are called by the name of their type."""
CALLERS = 20
"""Callers whose own callers are looked for, to find tests that run something through them."""
FAR = 100
"""Imports over which a file may know what is in another."""
CYCLES = 10
"""Of imports, that are told of one file."""
HEADERS = frozenset({"c", "cpp"})
"""Languages that declare in one file what is in another."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Its other end, with its place: of what is not `sure` the name as it is written, and where. `name` is empty for code that is
    in nothing. A test may run something `through` another function."""

    path: str
    line: int
    name: str
    sure: bool = True
    through: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """Of `symbol`. A cycle begins and ends with its file."""

    symbol: Symbol
    calls: tuple[Edge, ...]
    called_by: tuple[Edge, ...]
    inherits: tuple[Edge, ...]
    inherited_by: tuple[Edge, ...]
    tests: tuple[Edge, ...]
    imported_by: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class User:
    """A `place` where a declaration is meant; `around` is what it is in."""

    source: Source
    place: Place
    around: Symbol | None


def graph(view: View, symbol: Symbol) -> Graph:
    sources = Sources(view)
    found = [*users(sources, symbol)]
    used = [one for one in found if one.place.kind == "call" or symbol.kind not in CALLED or _bare(symbol, one)]
    callers = [one for one in used if one.place.kind != "base"]
    return Graph(
        symbol,
        tuple(_calls(sources, symbol)),
        _edges(one for one in callers if not TESTS.search(one.source.text.path)),
        tuple(_bases(sources, symbol)),
        _edges(one for one in found if one.place.kind == "base" and one.place.sure),
        tuple(_tests(sources, callers)),
        tuple(view.importers(symbol.file)),
        tuple(cycles(view, symbol.file)),
    )


def users(
    sources: Sources, symbol: Symbol, most: int = FILES, far: int = FAR, order: Callable[[str], Any] = lambda path: 0
) -> Iterator[User]:
    """Where a declaration is meant, but for itself and for imports, file by file. Of files in whose text it is named the first
    `most` are parsed, each when it is its turn: in this order, and where that is the same those that import its file, over at most
    `far` others, or are beside it before those that may see it all the same. What is behind something unknown is no more than likely,
    and told only of files that know what the member is of."""
    view = sources.view
    made = _type_of(view, symbol) if symbol.kind == "constructor" or symbol.name in MAKING else None
    targets = [_key(one) for one in twins(view, made or symbol)]
    own = twins(view, symbol)
    knows = {one.file for one in own}
    for path, names in named(view, made or symbol, own, most, far, order).items():
        source = sources.of(path)
        if source is None:
            continue
        found = {
            place
            for name in names
            for target in targets
            for place in places(view, source.text, source.tree, name, target)
        }
        declared = {one.named for one in source.symbols if _key(one) in targets}
        for place in sorted(found):
            likely = place.sure or path in {one.path for one in own} or _imports(view, path, knows)
            if likely and place.start not in declared and not source.imported(place.start):
                yield User(source, place, source.around(place.start))


def twins(view: View, symbol: Symbol) -> list[Symbol]:
    """A declaration, and what the files that include each other declare by its name: one of them is in a header."""
    if symbol.language not in HEADERS:
        return [symbol]
    files = [view.file(path) for path in view.importers(symbol.file)]
    near = {file for file, _ in filter(None, files)} | {
        target for one in view.imports(symbol.file) for target in one.targets
    }
    others = [one for one in view.named(symbol.name, FILES) if one.file in near and one.qualified == symbol.qualified]
    return [symbol, *others]


def cycles(view: View, file: int) -> Iterator[tuple[str, ...]]:
    """The shortest way back to a file from each that it imports."""
    rows: list[tuple[int, int]] = view.reader.rows("SELECT DISTINCT file, target FROM targets")
    importing: dict[int, list[int]] = {}
    for one, target in rows:
        importing.setdefault(target, []).append(one)
    after, todo = {file: file}, deque([file])
    while todo:
        target = todo.popleft()
        for one in importing.get(target, ()):
            if one not in after:
                after[one] = target
                todo.append(one)
    first = sorted({target for one, target in rows if one == file} & after.keys())
    for at in first[:CYCLES]:
        way = [file, at]
        while way[-1] != file:
            way.append(after[way[-1]])
        found = [view.reader.rows("SELECT path FROM files WHERE id = ?", (one,)) for one in way]
        if all(found):
            # otherwise a file of it is gone meanwhile
            yield tuple(path for [(path,)] in found)


def named(
    view: View,
    symbol: Symbol,
    own: Iterable[Symbol],
    most: int,
    far: int,
    order: Callable[[str], Any] = lambda path: 0,
) -> dict[str, set[str]]:
    """The files that may mean a declaration, and what they call it: an import may give it another name, also to third files."""
    found: dict[str, set[str]] = {}
    seen, todo = {symbol.name}, [symbol.name]
    reaching = view.reaching((one.file for one in own), far)
    while todo:
        name = todo.pop()
        # any of them may be one that matters: how many are parsed is bounded, not how many are named
        seeing = [one for one in occurring(view.reader, name, -1) if _sees(*one[1:], symbol, reaching)]
        for path, file, _ in sorted(
            seeing, key=lambda one: (order(one[0]), not _near(*one[:2], symbol, reaching), one[0])
        ):
            if path not in found and len(found) >= most:
                continue
            found.setdefault(path, set()).add(name)
            for one in view.imports(file) if symbol.parent < 0 else ():
                if one.name == name != one.used and _key(symbol) in map(_key, view.defined(path, one.used)):
                    found[path].add(one.used)
                    todo += {one.used} - seen
                    seen.add(one.used)
    return found


def _sees(file: int, language: str, symbol: Symbol, reaching: AbstractSet[int]) -> bool:
    """Whether anything may lead from a file to a declaration."""
    return file in reaching or (language == symbol.language and language in NEIGHBOURS | NAMESPACED)


def _near(path: str, file: int, symbol: Symbol, reaching: AbstractSet[int]) -> bool:
    return file in reaching or path.rpartition("/")[0] == symbol.path.rpartition("/")[0]


def _imports(view: View, path: str, files: set[int]) -> bool:
    here = view.file(path)
    return here is not None and any(not files.isdisjoint(one.targets) for one in view.imports(here[0]))


def _type_of(view: View, symbol: Symbol) -> Symbol | None:
    around = symbol.qualified.rpartition(".")[0]
    return view.symbol(symbol.path, around) if around else None


def _bare(symbol: Symbol, user: User) -> bool:
    """Whether it is called there in the way of Ruby, which needs no brackets, and makes things by a message."""
    if symbol.language != "ruby" or user.place.kind != "use":
        return False
    data, end = user.source.tree.data, user.place.start + len(encode(symbol.name))
    return symbol.kind not in TYPE_KINDS or data.startswith(b".new", end)


def _calls(sources: Sources, symbol: Symbol) -> Iterator[Edge]:
    source = sources.of(symbol.path)
    seen: set[tuple[str, int, str]] = set()
    for one in find_references(source.tree, byte_range=(symbol.start, symbol.end)) if source else ():
        if source is None or SUPER & {one.name, f"{one.name}()"}:
            continue
        bare = symbol.language == "ruby" and one.kind == "use" and one.start not in {it.named for it in source.symbols}
        for edge in _ends(sources, source, one) if one.kind == "call" or bare else ():
            # of what nobody knows the first place is enough
            told = (edge.path if edge.sure else "", edge.line if edge.sure else 0, edge.name)
            if told not in seen and (one.kind == "call" or (edge.sure and edge.name.rpartition(".")[2].islower())):
                seen.add(told)
                yield edge


def _bases(sources: Sources, symbol: Symbol) -> Iterator[Edge]:
    source = sources.of(symbol.path)
    own = (
        [one for one in source.symbols if one.qualified == symbol.qualified and one.kind in TYPE_KINDS]
        if source
        else []
    )
    found: dict[Edge, None] = {}
    for type_ in own:
        for one in find_references(source.tree, byte_range=(type_.start, type_.end)) if source else ():
            around = source.around(one.start) if source else None
            if source and one.kind == "base" and around and around.n == type_.n:
                found |= dict.fromkeys(_ends(sources, source, one))
    yield from found


def _ends(sources: Sources, source: Source, one: Reference) -> Iterator[Edge]:
    """What a name leads to."""
    found = told(sources.view, source.text, Name(one.name, one.start, one.receiver_chain, one.local_scope_start))
    if not found and one.name == "new" and one.receiver_chain:
        *outer, last = one.receiver_chain
        found = told(sources.view, source.text, Name(last, one.start, tuple(outer)))
    for each in found:
        symbol = _symbol(source, each)
        yield Edge(symbol.path, symbol.line, symbol.qualified)
    if not found:
        yield Edge(source.text.path, source.line_of(one.start), ".".join((*one.receiver_chain, one.name)), sure=False)


def _symbol(source: Source, one: Meant) -> Symbol:
    return one.there or source.symbols[one.here]


def _tests(sources: Sources, callers: list[User]) -> Iterator[Edge]:
    """Tests that call something, then those that call one of its callers."""
    yield from _edges(one for one in callers if TESTS.search(one.source.text.path))
    seen = {(one.source.text.path, one.around.qualified if one.around else "") for one in callers}
    inner = {
        _key(one.around): one.around
        for one in callers
        if one.around and one.place.sure and not TESTS.search(one.source.text.path)
    }
    through: dict[Key, Edge] = {}
    for between in [*inner.values()][:CALLERS]:
        further = [one for one in users(sources, between) if one.place.sure and one.place.kind == "call"]
        for test in (one for one in further if TESTS.search(one.source.text.path)):
            [edge] = _edges([test], between.qualified)
            if (edge.path, edge.name) not in seen:
                through.setdefault((edge.path, edge.name), edge)
    yield from sorted(through.values(), key=lambda edge: (edge.path, edge.line))


def _edges(found: Iterable[User], through: str = "") -> tuple[Edge, ...]:
    """One for each function and line, in the order of files and lines."""
    edges = {
        Edge(
            one.source.text.path,
            one.source.line_of(one.place.start),
            one.around.qualified if one.around else "",
            one.place.sure,
            through,
        )
        for one in found
    }
    return tuple(sorted(edges, key=lambda edge: (edge.path, edge.line, edge.name)))


def _key(symbol: Symbol) -> Key:
    return symbol.path, symbol.qualified
