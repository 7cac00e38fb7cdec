"""The definitions that names refer to in other files, as lines of signatures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query import receiver_types
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MAX_DEFINITIONS = 24
"""Most definitions to read, those of the nearest names first."""
MAX_RECEIVERS = 12
"""Most names whose types are looked up."""
MAX_LINE_CHARS = 200
"""Most characters of a line of a definition."""
MAX_IMPORTABLE_NAMES = 60
"""Most names of a module to list while the user writes an import of it."""
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "initialize", "__construct"})


@dataclass(frozen=True, slots=True)
class CursorNames:
    """The names around a place, or in a span.

    Attributes:
        names: The identifiers, dotted ones included, the nearest first.
        members: The identifiers that follow a dot.
        bases: The base types of the type around the place.
        words: The words that the nearest names consist of, in lower case.
        module: The module of the import statement at the place, or an empty text.
        imported: The names that this statement imports already.
        text: The text of the whole file.
        language: The language of the file.
        unused_imports: Names that are imported above the place and not used yet.
    """

    names: tuple[str, ...]
    members: frozenset[str]
    bases: tuple[str, ...]
    words: frozenset[str]
    module: str
    imported: frozenset[str]
    text: str
    language: LanguageSpec
    unused_imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A line of a definition.

    Attributes:
        rank: The importance: lines of a lower rank are kept longer.
        path: The file of the definition.
        start: The byte offset of the definition in its file.
        text: The text of the line.
    """

    rank: tuple[int, int]
    path: str
    start: int
    text: str


def find_definition_lines(view: IndexView, path: str, names: CursorNames) -> Iterator[DefinitionLine]:
    """Yield the declarations that names refer to, a line for each declaration and for each of its members.

    While the user writes an import, the first line lists the names of the module.
    """
    comment = names.language.comment or "#"
    importable: dict[str, dict[str, None]] = {}
    for symbol in view.find_module_symbols(path, names.language.id, names.module) if names.module else ():
        if symbol.name not in names.imported and symbol.name[:1] != "_":
            importable.setdefault(symbol.path, {})[symbol.name] = None
    for origin, exported_names in importable.items():
        listed = ", ".join([*exported_names][:MAX_IMPORTABLE_NAMES])
        yield DefinitionLine((0, 0), origin, 0, f"{comment} {names.module} has {listed}")
    named = islice(_without_repetition(_find_named(view, path, names)), MAX_DEFINITIONS)
    receivers = names.names[:MAX_RECEIVERS]
    types = receiver_types.find_receiver_types(view, path, names.language.id, names.text, receivers)
    for number, symbol in enumerate(_without_repetition(chain(named, types)), 1):
        yield from _read_definition(view, symbol, number, names)


def _find_named(view: IndexView, path: str, names: CursorNames) -> Iterator[Symbol]:
    """Yield the declarations of the names near a cursor: first unused imports, then base types, then other names."""
    for name in (*names.unused_imports, *names.bases, *names.names):
        head, _, rest = name.partition(".")
        yield from view.find_definitions(path, head) or (
            view.find_module_member(path, head, rest.split(".")[0]) if rest else []
        )


def _without_repetition(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    seen_ids: set[tuple[int, int]] = set()
    for symbol in symbols:
        if (symbol.file, symbol.n) not in seen_ids:
            seen_ids.add((symbol.file, symbol.n))
            yield symbol


def _read_definition(view: IndexView, symbol: Symbol, number: int, names: CursorNames) -> Iterator[DefinitionLine]:
    """Yield the line of a declaration and the lines of its members. Members that the user likely needs rank first."""
    yield DefinitionLine((0, number), symbol.path, symbol.start, _read_signature(view, symbol))
    if symbol.kind not in TYPE_KINDS:
        return
    for member in view.symbols.find_members(symbol):
        if member.kind in TYPE_KINDS:
            continue
        if member.name in names.members:
            rank = 1
        elif not names.words.isdisjoint(split_words(member.name).lower().split()):
            rank = 2
        elif member.kind == "constructor" or member.name in CONSTRUCTORS:
            rank = 3
        else:
            rank = 5 if member.name.startswith("_") else 4
        yield DefinitionLine((rank, number), member.path, member.start, "    " + _read_signature(view, member))


def _read_signature(view: IndexView, symbol: Symbol) -> str:
    """Return the signature, with a stub in place of a body."""
    text = view.texts.read_signature(symbol).rstrip("{ ")
    text = text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…"
    language = language_for(symbol.language, symbol.path)
    has_no_body = symbol.body >= symbol.end or symbol.kind in TYPE_KINDS
    return text if has_no_body or language is None else text + language.stub


def find_defined_names(view: IndexView, path: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the names in the file `path` that other files of the index define."""
    return (name for name in names if view.find_definitions(path, name))
