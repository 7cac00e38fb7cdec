"""The definitions that names of a file refer to, as lines of signatures, and the types of what they are called on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MAX_VALUE_CHARS, MAX_PARAMETER_CHARS = 200, 1_000
"""Most characters of an assigned value or a type, and of a parameter list: a whole file may be one line."""
MAX_ASSIGNMENTS, MAX_CALLS = 200, 8
"""Most assignments to a name to read, and most functions called in them to look up."""
MAX_CHAINS = 8
"""Most receivers to look up, the nearest first."""
MAX_CHAIN_PARTS = 3
"""Most parts of a receiver to follow: in `a.b.c.d.e()` these are the last ones before `e`."""
MAX_NAMESAKES = 2
"""A type that no import leads to is shown only if at most so many types of the workspace have its name."""
NAMESAKE_ROWS = 10 * MAX_NAMESAKES
"""Rows to read for them, as some are in the file itself."""
TYPE = re.compile(r"\b[A-Z]\w+")
CALL = re.compile(r"\b([^\W\d]\w*)\s*\(")
NOT_TYPES = frozenset({"None", "True", "False", "NULL", "Ok", "Err", "Some"})
SELF_NAMES = frozenset({"self", "this", "cls", "super"})


def find_receiver_types(view: IndexView, path: str, language: str, text: str, names: Iterable[str]) -> Iterator[Symbol]:
    """Yield the types of other files that the receivers of dotted names, and the names themselves, may have.

    Args:
        view: The index.
        path: The file that uses the names.
        language: The language of the file.
        text: The text of the file.
        names: The names, dotted ones included, the nearest to the cursor first.

    Yields:
        Types. The same type may come twice.
    """
    chains = dict.fromkeys(parts for name in names for parts in _split_chains(name))
    for parts in [*chains][:MAX_CHAINS]:
        yield from _types_of_chain(view, path, language, text, parts)


def _split_chains(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the receiver of a dotted name and the name itself, each as the parts to follow."""
    parts = tuple(part for part in name.split(".") if part not in SELF_NAMES)
    if len(parts) > 1 or "." in name:
        yield parts[:-1][-MAX_CHAIN_PARTS:]
    yield parts[-MAX_CHAIN_PARTS:]


def _types_of_chain(view: IndexView, path: str, language: str, text: str, parts: Sequence[str]) -> list[Symbol]:
    """Follow the parts of a chain: each is searched in the bodies of the types of the part before it."""
    texts, types = [text], list[Symbol]()
    for part in parts:
        type_names = dict.fromkeys(name for body in texts for name in read_declared_types(body, part))
        types = [symbol for name in type_names for symbol in _find_types(view, path, language, name)]
        types = types or _find_types(view, path, language, _to_camel_case(part))
        if not types:
            return []
        texts = [view.texts.read_body(symbol) for symbol in types]
    return types


def read_declared_types(text: str, name: str) -> list[str]:
    """Return the names of the types in declarations of `name` and in values assigned to it.

    If a value is a call of a function, the result contains the type that the function is declared to return.
    """
    word = re.escape(name)
    assignments = islice(
        re.finditer(rf"\b{word}\s*:?[:=]\s*(?!=)([^\n;]{{0,{MAX_VALUE_CHARS}}})", text), MAX_ASSIGNMENTS
    )
    # many assignments are repeated
    values = [*dict.fromkeys(match[1] for match in assignments)]
    types_and_calls = [(TYPE.findall(value), CALL.findall(value)) for value in values]
    calls = dict.fromkeys(call for types, calls in types_and_calls if not types for call in calls)
    returned_types = {call: _read_return_types(text, call) for call in [*calls][:MAX_CALLS]}
    names: list[str] = []
    for types, calls_of_value in types_and_calls:
        names += types or [type_ for call in calls_of_value for type_ in returned_types.get(call, ())]
    # some languages write the type before the name
    names += re.findall(rf"\b([A-Z]\w+)(?:<[^<>\n]{{0,{MAX_VALUE_CHARS}}}>)?[&*\s]+{word}\b", text)
    return [type_ for type_ in dict.fromkeys(names) if type_ not in NOT_TYPES]


def _read_return_types(text: str, function: str) -> list[str]:
    """Return the types that follow the parameters of a function."""
    parameters = rf"\([^)]{{0,{MAX_PARAMETER_CHARS}}}\)"
    pattern = rf"\b{re.escape(function)}\s*{parameters}\s*(?:->|:)\s*([^\n;{{]{{0,{MAX_VALUE_CHARS}}})"
    matches = islice(re.finditer(pattern, text), MAX_ASSIGNMENTS)
    return [type_ for match in matches for type_ in TYPE.findall(match[1])]


def _find_types(view: IndexView, path: str, language: str, name: str) -> list[Symbol]:
    """Return the types that the file calls `name`, or types of other files with that name if there are few."""
    defined = [symbol for symbol in view.find_definitions(path, name) if symbol.kind in TYPE_KINDS]
    if defined:
        return defined
    namesakes = view.symbols.find_by_name(name, NAMESAKE_ROWS, TYPE_KINDS - {"implementation"}, language)
    namesakes = [symbol for symbol in namesakes if symbol.path != path]
    return namesakes if len(namesakes) <= MAX_NAMESAKES else []


def _to_camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


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
    types = find_receiver_types(view, path, names.language.id, names.text, receivers)
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
