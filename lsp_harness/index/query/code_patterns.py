"""Patterns of a project: declarations that are built alike (handlers, tests, models), read off the index with no parsing, one of
each for people, and those most like a piece of code as examples of how such code is written here."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from lsp_harness.index.declaration_shape import TESTS, Key, Shape, family, name_of, shape
from lsp_harness.index.identifier_words import words
from lsp_harness.index.index_view import COLUMNS, Symbol, View, symbol_of
from lsp_harness.store.database import Reader, Row, marks
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS
from lsp_harness.text.position import decode

KINDS = frozenset({"function", "method"}) | TYPE_KINDS - {"implementation"}
LEAST = 3
"""Declarations that make a pattern."""
ALL = 50_000
"""Declarations that are looked at for all patterns of a project, at most."""
NEARBY = 2_000
"""Those that are looked at for examples, at most, of the nearest files."""
COMPARED = 30
"""Members of a pattern that are compared with each other, or with what examples are wanted for."""
LINES = 40
"""A longer declaration is no example."""
BYTES = LINES * 120
LIKE, CALLED_LIKE = 0.15, 0.3
"""Words that an example has in common with what it is for, of all that either has; more where only the names tell."""
NAME = 0.5
"""What a name says, beside the whole text: of two that are alike the one that does the same."""
COPY = 0.9
"""From here on it is a copy, which shows nothing."""
HOLE = re.compile(r"\S {16}")
"""What the index has where a secret was."""
WORD = re.compile(r"[^\W\d]\w*")

HEADS = (
    f"SELECT {COLUMNS}, substr(CAST(text AS BLOB), 1, body - begun), named - begun "
    "FROM (SELECT id AS chunk, file AS its, symbol AS number, start AS begun, end AS done FROM chunks WHERE symbol >= 0) "
    "CROSS JOIN symbols ON file = its AND n = number CROSS JOIN texts ON texts.rowid = chunk "
    "CROSS JOIN files ON files.id = file WHERE begun <= start AND done > start "
    f"AND kind IN ({marks(len(KINDS))})"
)
"""Declarations with the text of the piece they begin in, as far as their bodies: that has decorators and comments above them.
What is inside of a function has no such piece."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """At least `LEAST` declarations that are built alike, in the order of their files, and the one that is most like the others."""

    name: str
    language: str
    members: tuple[Symbol, ...]
    representative: Symbol


@dataclass(frozen=True, slots=True)
class Wanted:
    """What examples are for: a declaration of the file `path`, of this shape, with its name and text. `declared` are the qualified
    names of all that is to be changed with it."""

    path: str
    shape: Shape
    name: str
    text: str
    declared: frozenset[str]


@dataclass(frozen=True, slots=True)
class Example:
    """The whole text of a declaration, with the comments and decorators above it, and the name of the pattern it is of."""

    symbol: Symbol
    text: str
    pattern: str


def patterns(reader: Reader, most: int) -> list[Pattern]:
    """Those with the most members first; no declaration is in two."""
    found: dict[Key, list[tuple[Symbol, Shape]]] = defaultdict(list)
    for symbol, its in _shapes(reader.rows(f"{HEADS} LIMIT ?", (*KINDS, ALL))):
        found[its.key].append((symbol, its))
    enough = [(key, members) for key, members in found.items() if len(members) >= LEAST]
    largest = sorted(enough, key=lambda each: (-len(each[1]), each[0]))[:most]
    return [_pattern(View(reader), members) for _, members in largest]


def examples(reader: Reader, wanted: Wanted, most: int) -> list[Example]:
    """Of the pattern that it belongs to, those most like it, the likest first: neither itself nor copies, of it or each other."""
    members = [
        (symbol, its)
        for symbol, its in _nearby(reader, wanted)
        if its.key == wanted.shape.key and not (symbol.path == wanted.path and symbol.qualified in wanted.declared)
    ]
    if len(members) < LEAST - 1:
        return []
    name = name_of([wanted.shape, *(its for _, its in members)])
    least, shown = CALLED_LIKE if wanted.shape.weak else LIKE, [_words(wanted.text)]
    found = list[Example]()
    for symbol, text in _likest(View(reader), wanted, [symbol for symbol, _ in members]):
        its = _words(text)
        if len(found) < most and _alike(its, shown[0]) >= least and all(_alike(its, one) < COPY for one in shown):
            shown.append(its)
            found.append(Example(symbol, text, name))
    return found


def _likest(view: View, wanted: Wanted, members: Sequence[Symbol]) -> list[tuple[Symbol, str]]:
    """Those of members that may be shown, with their texts, the likest first."""
    called, said = _words(wanted.name), _words(wanted.text)
    short = [one for one in members if one.end - one.start <= BYTES]
    # among equals the nearest
    compared = nlargest(COMPARED, short, key=lambda one: _alike(_words(one.name), called))
    texts = [(one, text) for one in compared if _shows(text := view.whole(one))]

    def like(each: tuple[Symbol, str]) -> float:
        symbol, text = each
        return _alike(_words(text), said) + NAME * _alike(_words(symbol.name), called)

    return sorted(texts, key=like, reverse=True)


def _nearby(reader: Reader, wanted: Wanted) -> Iterator[tuple[Symbol, Shape]]:
    """Of files of the same language and role, the nearest first."""
    folders = wanted.path.split("/")

    def far(path: str) -> tuple[bool, int, str]:
        parts = path.split("/")
        same = next((n for n, (a, b) in enumerate(zip(parts, folders, strict=False)) if a != b), len(parts))
        return path != wanted.path, len(parts) + len(folders) - 2 * same, path

    role = bool(TESTS.search(wanted.path))
    files = [
        (far(path), file)
        for file, path, language in reader.rows("SELECT id, path, language FROM files WHERE language != ''")
        if family(language) == wanted.shape.language and bool(TESTS.search(path)) == role
    ]
    left = NEARBY
    for _, file in sorted(files):
        rows = reader.rows(f"{HEADS} AND its = ? LIMIT ?", (*KINDS, file, left))
        yield from _shapes(rows)
        left -= max(1, len(rows))
        if left <= 0:
            return


def _shapes(rows: Sequence[Row]) -> Iterator[tuple[Symbol, Shape]]:
    for *row, head, named in rows:
        it = symbol_of(tuple(row))
        before, after = decode(head[:named]), decode(head[named:])
        if its := shape(it.language, it.path, it.kind, it.name, it.bases, before, after):
            yield it, its


def _pattern(view: View, members: Sequence[tuple[Symbol, Shape]]) -> Pattern:
    symbols = sorted((symbol for symbol, _ in members), key=lambda one: (one.path, one.n))
    return Pattern(
        name_of([its for _, its in members]),
        members[0][1].language,
        tuple(symbols),
        _representative(view, symbols),
    )


def _representative(view: View, members: Sequence[Symbol]) -> Symbol:
    """The one whose words are most like those of the others, of some that are short; the shortest where none is."""
    short = [one for one in members if one.end - one.start <= BYTES]
    # from all over the project
    some = short[:: max(1, -(-len(short) // COMPARED))]
    texts = [(one, _words(text)) for one in some if _shows(text := view.whole(one))]
    if not texts:
        return min(members, key=lambda one: one.end - one.start)
    return max(texts, key=lambda each: sum(_alike(each[1], other) for _, other in texts))[0]


def _shows(text: str) -> bool:
    """Whether a text is a good example: there, not long, and without what was a secret."""
    return bool(text.strip()) and text.count("\n") <= LINES and not HOLE.search(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for name in WORD.findall(text) for word in words(name).lower().split())


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
