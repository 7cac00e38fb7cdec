"""Patterns of a project: declarations that are built alike (handlers, tests, models), read off the index with no parsing, one of
each for people, and those most like a piece of code as examples of how such code is written here."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from lsp_harness.index.declaration_shape import (
    TEST_PATH,
    DeclarationHead,
    Shape,
    ShapeKey,
    base_language,
    describe_shapes,
    find_shape,
)
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import SYMBOL_COLUMNS, Symbol, symbol_from_row
from lsp_harness.store.database import Reader, Row, placeholders
from lsp_harness.syntax.symbols.declarations import TYPES
from lsp_harness.text.position import decode

PATTERN_KINDS = frozenset({"function", "method"}) | TYPES - {"implementation"}
MIN_MEMBERS = 3
"""Declarations that make a pattern."""
MAX_DECLARATIONS = 50_000
"""Declarations that are looked at for all patterns of a project, at most."""
MAX_NEARBY = 2_000
"""Those that are looked at for examples, at most, of the nearest files."""
MAX_COMPARED = 30
"""Members of a pattern that are compared with each other, or with what examples are wanted for."""
MAX_LINES = 40
"""A longer declaration is no example."""
MAX_BYTES = MAX_LINES * 120
MIN_SIMILARITY, MIN_NAME_SIMILARITY = 0.15, 0.3
"""Words that an example has in common with what it is for, of all that either has; more where only the names tell."""
NAME_WEIGHT = 0.5
"""What a name says, beside the whole text: of two that are alike the one that does the same."""
COPY_SIMILARITY = 0.9
"""From here on it is a copy, which shows nothing."""
SECRET_HOLE = re.compile(r"\S {16}")
"""What the index has where a secret was."""
WORD = re.compile(r"[^\W\d]\w*")

SELECT_HEADS = (
    f"SELECT {SYMBOL_COLUMNS}, substr(CAST(text AS BLOB), 1, body - begun), named - begun "
    "FROM (SELECT id AS chunk, file AS its, symbol AS number, start AS begun, end AS done FROM chunks WHERE symbol >= 0) "
    "CROSS JOIN symbols ON file = its AND n = number CROSS JOIN texts ON texts.rowid = chunk "
    "CROSS JOIN files ON files.id = file WHERE begun <= start AND done > start "
    f"AND kind IN ({placeholders(len(PATTERN_KINDS))})"
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
class ExampleRequest:
    """What examples are for: a declaration of the file `path`, of this shape, with its name and text. `declared` are the qualified
    names of all that is to be changed with it."""

    path: str
    shape: Shape
    name: str
    text: str
    edited_names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Example:
    """The whole text of a declaration, with the comments and decorators above it, and the name of the pattern it is of."""

    symbol: Symbol
    text: str
    pattern: str


def find_patterns(reader: Reader, limit: int) -> list[Pattern]:
    """Those with the most members first; no declaration is in two."""
    members_by_key: dict[ShapeKey, list[tuple[Symbol, Shape]]] = defaultdict(list)
    for symbol, shape in _read_shapes(reader.rows(f"{SELECT_HEADS} LIMIT ?", (*PATTERN_KINDS, MAX_DECLARATIONS))):
        members_by_key[shape.key].append((symbol, shape))
    groups = [(key, members) for key, members in members_by_key.items() if len(members) >= MIN_MEMBERS]
    largest = sorted(groups, key=lambda group: (-len(group[1]), group[0]))[:limit]
    return [_build_pattern(IndexView(reader), members) for _, members in largest]


def find_examples(reader: Reader, request: ExampleRequest, limit: int) -> list[Example]:
    """Of the pattern that it belongs to, those most like it, the likest first: neither itself nor copies, of it or each other."""
    members = [
        (symbol, shape)
        for symbol, shape in _nearby_shapes(reader, request)
        if shape.key == request.shape.key
        and not (symbol.path == request.path and symbol.qualified in request.edited_names)
    ]
    if len(members) < MIN_MEMBERS - 1:
        return []
    name = describe_shapes([request.shape, *(shape for _, shape in members)])
    min_similarity, chosen_words = (
        MIN_NAME_SIMILARITY if request.shape.is_name_only else MIN_SIMILARITY,
        [_word_set(request.text)],
    )
    chosen = list[Example]()
    for symbol, text in _most_similar(IndexView(reader), request, [symbol for symbol, _ in members]):
        shape = _word_set(text)
        if (
            len(chosen) < limit
            and _similarity(shape, chosen_words[0]) >= min_similarity
            and all(_similarity(shape, other) < COPY_SIMILARITY for other in chosen_words)
        ):
            chosen_words.append(shape)
            chosen.append(Example(symbol, text, name))
    return chosen


def _most_similar(view: IndexView, request: ExampleRequest, members: Sequence[Symbol]) -> list[tuple[Symbol, str]]:
    """Those of members that may be shown, with their texts, the likest first."""
    name_words, text_words = _word_set(request.name), _word_set(request.text)
    short = [member for member in members if member.end - member.start <= MAX_BYTES]
    # among equals the nearest
    candidates = nlargest(MAX_COMPARED, short, key=lambda member: _similarity(_word_set(member.name), name_words))
    texts = [(member, text) for member in candidates if _is_good_example(text := view.texts.read_with_comments(member))]

    def similarity(candidate: tuple[Symbol, str]) -> float:
        symbol, text = candidate
        return _similarity(_word_set(text), text_words) + NAME_WEIGHT * _similarity(_word_set(symbol.name), name_words)

    return sorted(texts, key=similarity, reverse=True)


def _nearby_shapes(reader: Reader, request: ExampleRequest) -> Iterator[tuple[Symbol, Shape]]:
    """Of files of the same language and role, the nearest first."""
    folders = request.path.split("/")

    def distance(path: str) -> tuple[bool, int, str]:
        parts = path.split("/")
        shared_parts = next((n for n, (a, b) in enumerate(zip(parts, folders, strict=False)) if a != b), len(parts))
        return path != request.path, len(parts) + len(folders) - 2 * shared_parts, path

    is_test = bool(TEST_PATH.search(request.path))
    files = [
        (distance(path), file)
        for file, path, language in reader.rows("SELECT id, path, language FROM files WHERE language != ''")
        if base_language(language) == request.shape.language and bool(TEST_PATH.search(path)) == is_test
    ]
    rows_left = MAX_NEARBY
    for _, file in sorted(files):
        rows = reader.rows(f"{SELECT_HEADS} AND its = ? LIMIT ?", (*PATTERN_KINDS, file, rows_left))
        yield from _read_shapes(rows)
        rows_left -= max(1, len(rows))
        if rows_left <= 0:
            return


def _read_shapes(rows: Sequence[Row]) -> Iterator[tuple[Symbol, Shape]]:
    for *row, text, name_start in rows:
        symbol = symbol_from_row(tuple(row))
        before, after = decode(text[:name_start]), decode(text[name_start:])
        head = DeclarationHead(symbol.language, symbol.path, symbol.kind, symbol.name, symbol.bases, before, after)
        if shape := find_shape(head):
            yield symbol, shape


def _build_pattern(view: IndexView, members: Sequence[tuple[Symbol, Shape]]) -> Pattern:
    symbols = sorted((symbol for symbol, _ in members), key=lambda member: (member.path, member.n))
    return Pattern(
        describe_shapes([shape for _, shape in members]),
        members[0][1].language,
        tuple(symbols),
        _find_representative(view, symbols),
    )


def _find_representative(view: IndexView, members: Sequence[Symbol]) -> Symbol:
    """The one whose words are most like those of the others, of some that are short; the shortest where none is."""
    short = [member for member in members if member.end - member.start <= MAX_BYTES]
    # from all over the project
    sample = short[:: max(1, -(-len(short) // MAX_COMPARED))]
    texts = [
        (member, _word_set(text))
        for member in sample
        if _is_good_example(text := view.texts.read_with_comments(member))
    ]
    if not texts:
        return min(members, key=lambda member: member.end - member.start)
    return max(texts, key=lambda candidate: sum(_similarity(candidate[1], other) for _, other in texts))[0]


def _is_good_example(text: str) -> bool:
    """Whether a text is a good example: there, not long, and without what was a secret."""
    return bool(text.strip()) and text.count("\n") <= MAX_LINES and not SECRET_HOLE.search(text)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word for name in WORD.findall(text) for word in split_words(name).lower().split())


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
