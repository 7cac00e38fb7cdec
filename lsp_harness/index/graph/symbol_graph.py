"""Relations of a declaration: what it calls and extends, what calls and extends it, which tests run it, and who imports
its file.

Nothing of this is stored (docs/adr/0011): the files that may matter are parsed at the time of the question. An edge
exists if imports, scopes and written types lead from one end to the other. Other calls and callers are returned as
unresolved: calls by their name, callers if their file imports the declaration's file.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.graph.indexed_source import IndexedSource, Sources
from lsp_harness.index.graph.name_resolution import SUPER_NAMES, NameUse, ResolvedDeclaration, resolve_certain
from lsp_harness.index.graph.reference_search import (
    MAX_FILES,
    DeclarationKey,
    ReferencePlace,
    find_files_with_name,
    find_places,
)
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS
from lsp_harness.syntax.symbols.name_uses import Reference, find_references
from lsp_harness.text.position import encode

CALLABLE_KINDS = frozenset({"function", "method", "constructor", "macro", "class", "struct", "implementation"})
"""Kinds of symbols that are called. Others are only used."""
CONSTRUCTOR_NAMES = frozenset({"__init__", "__new__", "constructor", "__construct", "initialize"})
"""Names of members that are called by the name of their type."""
MAX_INDIRECT_CALLERS = 20
"""Number of callers whose own callers are searched for tests."""
MAX_IMPORT_HOPS = 100
"""Number of imports over which a file may see the declarations of another one."""
MAX_CYCLES = 10
"""Largest number of import cycles of a file."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The other end of a relation. `line` is counted from 0.

    If imports, scopes and written types do not prove the relation, it is not certain. Then `name` is the name as
    written, and `path` and `line` are the place of the reference. `name` is empty for code outside of declarations. A
    test may reach the symbol `through` another function.
    """

    path: str
    line: int
    name: str
    is_certain: bool = True
    through: str = ""


@dataclass(frozen=True, slots=True)
class SymbolGraph:
    """The relations of one symbol. Each cycle starts and ends with the symbol's file."""

    symbol: Symbol
    calls: tuple[Edge, ...]
    called_by: tuple[Edge, ...]
    inherits: tuple[Edge, ...]
    inherited_by: tuple[Edge, ...]
    tests: tuple[Edge, ...]
    imported_by: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SymbolUsage:
    """A reference to a declaration. `enclosing` is the symbol that contains it."""

    source: IndexedSource
    place: ReferencePlace
    enclosing: Symbol | None


def build_graph(view: IndexView, symbol: Symbol) -> SymbolGraph:
    """Return the relations of a symbol."""
    sources = Sources(view)
    usages = [*find_usages(sources, symbol)]
    uses = [
        usage
        for usage in usages
        if usage.place.kind == "call" or symbol.kind not in CALLABLE_KINDS or _is_bare_call(symbol, usage)
    ]
    callers = [usage for usage in uses if usage.place.kind != "base"]
    return SymbolGraph(
        symbol,
        tuple(_find_calls(sources, symbol)),
        _to_edges(usage for usage in callers if not TEST_PATH.search(usage.source.text.path)),
        tuple(_find_bases(sources, symbol)),
        _to_edges(usage for usage in usages if usage.place.kind == "base" and usage.place.is_certain),
        tuple(_find_tests(sources, callers)),
        tuple(view.imports.find_importers(symbol.file)),
        tuple(find_import_cycles(view, symbol.file)),
    )


def find_usages(
    sources: Sources,
    symbol: Symbol,
    limit: int = MAX_FILES,
    max_hops: int = MAX_IMPORT_HOPS,
    order: Callable[[str], Any] = lambda path: 0,
) -> Iterator[SymbolUsage]:
    """Yield the references to a declaration file by file, without the declaration itself and imports.

    Uncertain references are only returned from files that import the declaration's file.

    Args:
        sources: The files of the index.
        symbol: The declaration.
        limit: Largest number of files to parse.
        max_hops: Largest number of imports between a file and the declaration.
        order: Sort key of paths. Among equal keys, files that import the declaration or are in its folder come first.
    """
    view = sources.view
    constructed = (
        _find_owner(view, symbol) if symbol.kind == "constructor" or symbol.name in CONSTRUCTOR_NAMES else None
    )
    targets = [_make_key(twin) for twin in find_header_twins(view, constructed or symbol)]
    twins = find_header_twins(view, symbol)
    twin_files = {twin.file for twin in twins}
    for path, names in find_candidate_files(view, constructed or symbol, twins, limit, max_hops, order).items():
        source = sources.load(path)
        if source is None:
            continue
        places = {
            place
            for name in names
            for target in targets
            for place in find_places(view, source.text, source.tree, name, target)
        }
        name_offsets = {declared.named for declared in source.symbols if _make_key(declared) in targets}
        for place in sorted(places):
            is_likely = (
                place.is_certain or path in {twin.path for twin in twins} or _imports_any(view, path, twin_files)
            )
            if is_likely and place.start not in name_offsets and not source.is_in_import(place.start):
                yield SymbolUsage(source, place, source.find_enclosing(place.start))


def find_header_twins(view: IndexView, symbol: Symbol) -> list[Symbol]:
    """Return a symbol and, in C and C++, its declarations in files that its file includes or that include its file."""
    if not find_language(symbol.language).declarations.has_headers:
        return [symbol]
    files = [view.symbols.find_file(path) for path in view.imports.find_importers(symbol.file)]
    near_files = {file for file, _ in filter(None, files)} | {
        target for imported in view.imports.read_imports(symbol.file) for target in imported.targets
    }
    twins = [
        namesake
        for namesake in view.symbols.find_by_name(symbol.name, MAX_FILES)
        if namesake.file in near_files and namesake.qualified == symbol.qualified
    ]
    return [symbol, *twins]


def find_import_cycles(view: IndexView, file: int) -> Iterator[tuple[str, ...]]:
    """Yield the shortest import cycle through a file for each file that it imports."""
    rows: list[tuple[int, int]] = view.reader.rows("SELECT DISTINCT file, target FROM targets")
    importing: dict[int, list[int]] = {}
    for importer, target in rows:
        importing.setdefault(target, []).append(importer)
    next_file, todo = {file: file}, deque([file])
    while todo:
        target = todo.popleft()
        for importer in importing.get(target, ()):
            if importer not in next_file:
                next_file[importer] = target
                todo.append(importer)
    imported = sorted({target for importer, target in rows if importer == file} & next_file.keys())
    for start in imported[:MAX_CYCLES]:
        cycle = [file, start]
        while cycle[-1] != file:
            cycle.append(next_file[cycle[-1]])
        path_rows = [view.reader.rows("SELECT path FROM files WHERE id = ?", (cycle_file,)) for cycle_file in cycle]
        if all(path_rows):
            # Without a path, the file was removed from the index during the search.
            yield tuple(path for [(path,)] in path_rows)


def find_candidate_files(
    view: IndexView,
    symbol: Symbol,
    twins: Iterable[Symbol],
    limit: int,
    max_hops: int,
    order: Callable[[str], Any] = lambda path: 0,
) -> dict[str, set[str]]:
    """Return the paths of files that may refer to a declaration, with the names that each of them uses for it.

    An import may rename the declaration, and a third file may import it under the new name.
    """
    names_by_path: dict[str, set[str]] = {}
    seen_names, todo = {symbol.name}, [symbol.name]
    dependents = view.imports.find_dependents((twin.file for twin in twins), max_hops)
    while todo:
        name = todo.pop()
        # All files with the name are read here, as any of them may matter. The limit applies to the parsed files.
        candidates = [
            (path, file)
            for path, file, language in find_files_with_name(view.reader, name, -1)
            if _can_see(file, language, symbol, dependents)
        ]
        candidates.sort(key=lambda entry: (order(entry[0]), not _is_near(*entry, symbol, dependents), entry[0]))
        for path, file in candidates:
            if path not in names_by_path and len(names_by_path) >= limit:
                continue
            names_by_path.setdefault(path, set()).add(name)
            for imported in view.imports.read_imports(file) if symbol.parent < 0 else ():
                if imported.name == name != imported.local_name and _make_key(symbol) in map(
                    _make_key, view.find_definitions(path, imported.local_name)
                ):
                    names_by_path[path].add(imported.local_name)
                    todo += {imported.local_name} - seen_names
                    seen_names.add(imported.local_name)
    return names_by_path


def _can_see(file: int, language: str, symbol: Symbol, dependents: AbstractSet[int]) -> bool:
    """Return whether a file may see a declaration at all."""
    traits = find_language(language).imports
    return file in dependents or (language == symbol.language and (traits.shares_folder or traits.shares_namespace))


def _is_near(path: str, file: int, symbol: Symbol, dependents: AbstractSet[int]) -> bool:
    return file in dependents or path.rpartition("/")[0] == symbol.path.rpartition("/")[0]


def _imports_any(view: IndexView, path: str, files: set[int]) -> bool:
    file = view.symbols.find_file(path)
    return file is not None and any(
        not files.isdisjoint(imported.targets) for imported in view.imports.read_imports(file[0])
    )


def _find_owner(view: IndexView, symbol: Symbol) -> Symbol | None:
    owner_name = symbol.qualified.rpartition(".")[0]
    return view.symbols.find_symbol(symbol.path, owner_name) if owner_name else None


def _is_bare_call(symbol: Symbol, usage: SymbolUsage) -> bool:
    """Return whether a use is a call without brackets. In Ruby, the message `new` creates an object."""
    if find_language(symbol.language).declarations.calls_need_brackets or usage.place.kind != "use":
        return False
    data, end = usage.source.tree.data, usage.place.start + len(encode(symbol.name))
    return symbol.kind not in TYPE_KINDS or data.startswith(b".new", end)


def _find_calls(sources: Sources, symbol: Symbol) -> Iterator[Edge]:
    source = sources.load(symbol.path)
    if source is None:
        return
    seen_edges: set[tuple[str, int, str]] = set()
    for reference in find_references(source.tree, byte_range=(symbol.start, symbol.end)):
        if SUPER_NAMES & {reference.name, f"{reference.name}()"}:
            continue
        is_bare_call = (
            not find_language(symbol.language).declarations.calls_need_brackets
            and reference.kind == "use"
            and reference.start not in {declared.named for declared in source.symbols}
        )
        for edge in _resolve_reference(sources, source, reference) if reference.kind == "call" or is_bare_call else ():
            # The first place of an unresolved call is enough.
            edge_key = (edge.path if edge.is_certain else "", edge.line if edge.is_certain else 0, edge.name)
            if edge_key not in seen_edges and (
                reference.kind == "call" or (edge.is_certain and edge.name.rpartition(".")[2].islower())
            ):
                seen_edges.add(edge_key)
                yield edge


def _find_bases(sources: Sources, symbol: Symbol) -> Iterator[Edge]:
    source = sources.load(symbol.path)
    if source is None:
        return
    edges: dict[Edge, None] = {}
    for type_ in source.symbols:
        if type_.qualified != symbol.qualified or type_.kind not in TYPE_KINDS:
            continue
        for reference in find_references(source.tree, byte_range=(type_.start, type_.end)):
            enclosing = source.find_enclosing(reference.start)
            if reference.kind == "base" and enclosing and enclosing.n == type_.n:
                edges |= dict.fromkeys(_resolve_reference(sources, source, reference))
    yield from edges


def _resolve_reference(sources: Sources, source: IndexedSource, reference: Reference) -> Iterator[Edge]:
    """Yield an edge for each meaning of a reference, or an uncertain edge if there is none."""
    meanings = resolve_certain(
        sources.view,
        source.text,
        NameUse(reference.name, reference.start, reference.receiver_chain, reference.local_scope_start),
    )
    if not meanings and reference.name == "new" and reference.receiver_chain:
        *outer, last = reference.receiver_chain
        meanings = resolve_certain(sources.view, source.text, NameUse(last, reference.start, tuple(outer)))
    for meaning in meanings:
        symbol = _resolved_symbol(source, meaning)
        yield Edge(symbol.path, symbol.line, symbol.qualified)
    if not meanings:
        yield Edge(
            source.text.path,
            source.find_line(reference.start),
            ".".join((*reference.receiver_chain, reference.name)),
            is_certain=False,
        )


def _resolved_symbol(source: IndexedSource, meaning: ResolvedDeclaration) -> Symbol:
    return meaning.symbol or source.symbols[meaning.local_index]


def _find_tests(sources: Sources, callers: list[SymbolUsage]) -> Iterator[Edge]:
    """Yield the tests that call a symbol, then those that call one of its callers."""
    yield from _to_edges(caller for caller in callers if TEST_PATH.search(caller.source.text.path))
    direct = {(caller.source.text.path, caller.enclosing.qualified if caller.enclosing else "") for caller in callers}
    inner_callers = {
        _make_key(caller.enclosing): caller.enclosing
        for caller in callers
        if caller.enclosing and caller.place.is_certain and not TEST_PATH.search(caller.source.text.path)
    }
    through: dict[DeclarationKey, Edge] = {}
    for inner_caller in [*inner_callers.values()][:MAX_INDIRECT_CALLERS]:
        indirect = [
            caller
            for caller in find_usages(sources, inner_caller)
            if caller.place.is_certain and caller.place.kind == "call"
        ]
        for test in (caller for caller in indirect if TEST_PATH.search(caller.source.text.path)):
            [edge] = _to_edges([test], inner_caller.qualified)
            if (edge.path, edge.name) not in direct:
                through.setdefault((edge.path, edge.name), edge)
    yield from sorted(through.values(), key=lambda edge: (edge.path, edge.line))


def _to_edges(usages: Iterable[SymbolUsage], through: str = "") -> tuple[Edge, ...]:
    """Return one edge for each function and line, sorted by file and line."""
    edges = {
        Edge(
            usage.source.text.path,
            usage.source.find_line(usage.place.start),
            usage.enclosing.qualified if usage.enclosing else "",
            usage.place.is_certain,
            through,
        )
        for usage in usages
    }
    return tuple(sorted(edges, key=lambda edge: (edge.path, edge.line, edge.name)))


def _make_key(symbol: Symbol) -> DeclarationKey:
    return symbol.path, symbol.qualified
