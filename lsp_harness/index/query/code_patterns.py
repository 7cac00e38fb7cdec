"""Patterns of a project: declarations of the same shape (handlers, tests, models), found in the index without parsing.

A pattern has a representative for people. The members most similar to a piece of code serve as examples of the
project's style.
"""

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
    describe_shapes,
    find_base_language,
    find_shape,
)
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import SYMBOL_COLUMNS, Symbol, read_symbol_row
from lsp_harness.store.database import DatabaseReader, Row, placeholders
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS
from lsp_harness.text.position import decode

PATTERN_KINDS = frozenset({"function", "method"}) | TYPE_KINDS - {"implementation"}
MIN_MEMBERS = 3
"""Number of declarations that make a pattern."""
MAX_DECLARATIONS = 50_000
"""Largest number of declarations that are read for all patterns of a project."""
MAX_NEARBY = 2_000
"""Largest number of declarations in the nearest files that are read for examples."""
MAX_COMPARED = 30
"""Number of members of a pattern that are compared with each other or with a request."""
MAX_LINES = 40
"""A longer declaration is not used as an example."""
MAX_BYTES = MAX_LINES * 120
MIN_SIMILARITY, MIN_NAME_SIMILARITY = 0.15, 0.3
"""Share of common words that an example needs; more is needed if the shapes match by name only."""
NAME_WEIGHT = 0.5
"""Weight of similar names beside similar texts: of two similar members, the one with the same purpose is better."""
COPY_SIMILARITY = 0.9
"""A text at least this similar is a copy, which shows nothing new."""
SECRET_HOLE = re.compile(r"\S {16}")
"""Matches the spaces that replace a secret in the index."""
WORD = re.compile(r"[^\W\d]\w*")

SELECT_HEADS = (
    f"SELECT {SYMBOL_COLUMNS}, substr(CAST(text AS BLOB), 1, body - begun), named - begun "
    "FROM (SELECT id AS chunk, file AS its, symbol AS number, start AS begun, end AS done FROM chunks "
    "WHERE symbol >= 0) "
    "CROSS JOIN symbols ON file = its AND n = number CROSS JOIN texts ON texts.rowid = chunk "
    "CROSS JOIN files ON files.id = file WHERE begun <= start AND done > start "
    f"AND kind IN ({placeholders(len(PATTERN_KINDS))})"
)
"""Selects declarations with the text of their chunk up to the body, which includes decorators and comments.
Declarations inside of functions have no chunk."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """At least `MIN_MEMBERS` declarations of one shape, in the order of their files.

    The representative is the member that is most similar to the others.
    """

    name: str
    language: str
    members: tuple[Symbol, ...]
    representative: Symbol


@dataclass(frozen=True, slots=True)
class ExampleRequest:
    """The declaration that examples are wanted for.

    `edited_names` are the qualified names of all declarations that change with it.
    """

    path: str
    shape: Shape
    name: str
    text: str
    edited_names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Example:
    """The text of a declaration with its comments and decorators, and the title of its pattern."""

    symbol: Symbol
    text: str
    pattern: str


def find_patterns(reader: DatabaseReader, limit: int) -> list[Pattern]:
    """Return the `limit` patterns with the most members. Each declaration is in one pattern at most."""
    members_by_key: dict[ShapeKey, list[tuple[Symbol, Shape]]] = defaultdict(list)
    for symbol, shape in _read_shapes(reader.rows(f"{SELECT_HEADS} LIMIT ?", (*PATTERN_KINDS, MAX_DECLARATIONS))):
        members_by_key[shape.key].append((symbol, shape))
    groups = [(key, members) for key, members in members_by_key.items() if len(members) >= MIN_MEMBERS]
    largest = sorted(groups, key=lambda group: (-len(group[1]), group[0]))[:limit]
    return [_build_pattern(IndexView(reader), members) for _, members in largest]


def find_examples(reader: DatabaseReader, request: ExampleRequest, limit: int) -> list[Example]:
    """Return the members of the request's pattern that are most similar to it, the most similar first.

    The declaration itself, copies of it, and copies of other examples are left out.
    """
    members = [
        (symbol, shape)
        for symbol, shape in _nearby_shapes(reader, request)
        if shape.key == request.shape.key
        and not (symbol.path == request.path and symbol.qualified in request.edited_names)
    ]
    if len(members) < MIN_MEMBERS - 1:
        return []
    name = describe_shapes([request.shape, *(shape for _, shape in members)])
    min_similarity = MIN_NAME_SIMILARITY if request.shape.is_name_only else MIN_SIMILARITY
    request_words = _word_set(request.text)
    shown_words = [request_words]
    chosen = list[Example]()
    for symbol, text in _most_similar(IndexView(reader), request, [symbol for symbol, _ in members]):
        words = _word_set(text)
        is_copy = any(_rate_similarity(words, other_words) >= COPY_SIMILARITY for other_words in shown_words)
        if len(chosen) < limit and not is_copy and _rate_similarity(words, request_words) >= min_similarity:
            shown_words.append(words)
            chosen.append(Example(symbol, text, name))
    return chosen


def _most_similar(view: IndexView, request: ExampleRequest, members: Sequence[Symbol]) -> list[tuple[Symbol, str]]:
    """Return the members that may be shown with their texts, the most similar first."""
    name_words, text_words = _word_set(request.name), _word_set(request.text)
    short = [member for member in members if member.end - member.start <= MAX_BYTES]
    # Members are in order of distance, so the nearest of equal ones stay.
    candidates = nlargest(MAX_COMPARED, short, key=lambda member: _rate_similarity(_word_set(member.name), name_words))
    texts = [(member, view.texts.read_with_comments(member)) for member in candidates]
    good = [(member, text) for member, text in texts if _is_good_example(text)]

    def similarity(candidate: tuple[Symbol, str]) -> float:
        symbol, text = candidate
        return _rate_similarity(_word_set(text), text_words) + NAME_WEIGHT * _rate_similarity(
            _word_set(symbol.name), name_words
        )

    return sorted(good, key=similarity, reverse=True)


def _nearby_shapes(reader: DatabaseReader, request: ExampleRequest) -> Iterator[tuple[Symbol, Shape]]:
    """Yield the symbols with a shape in files of the same language, the nearest files first.

    The files are test files if the request is in a test file, and other files otherwise.
    """
    folders = request.path.split("/")

    def distance(path: str) -> tuple[bool, int, str]:
        parts = path.split("/")
        shared_parts = next((n for n, (a, b) in enumerate(zip(parts, folders, strict=False)) if a != b), len(parts))
        return path != request.path, len(parts) + len(folders) - 2 * shared_parts, path

    is_test = bool(TEST_PATH.search(request.path))
    files = [
        (distance(path), file)
        for file, path, language in reader.rows("SELECT id, path, language FROM files WHERE language != ''")
        if find_base_language(language) == request.shape.language and bool(TEST_PATH.search(path)) == is_test
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
        symbol = read_symbol_row(tuple(row))
        text_before, text_after = decode(text[:name_start]), decode(text[name_start:])
        head = DeclarationHead(
            symbol.language, symbol.path, symbol.kind, symbol.name, symbol.bases, text_before, text_after
        )
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
    """Return the member whose words are most similar to those of the others; the shortest member if all are long."""
    short = [member for member in members if member.end - member.start <= MAX_BYTES]
    # The sample is taken from all over the project.
    sample = short[:: max(1, -(-len(short) // MAX_COMPARED))]
    texts = [(member, view.texts.read_with_comments(member)) for member in sample]
    candidates = [(member, _word_set(text)) for member, text in texts if _is_good_example(text)]
    if not candidates:
        return min(members, key=lambda member: member.end - member.start)
    return max(candidates, key=lambda candidate: sum(_rate_similarity(candidate[1], words) for _, words in candidates))[
        0
    ]


def _is_good_example(text: str) -> bool:
    """Return whether a text is present, short, and without a removed secret."""
    return bool(text.strip()) and text.count("\n") <= MAX_LINES and not SECRET_HOLE.search(text)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word for name in WORD.findall(text) for word in split_words(name).lower().split())


def _rate_similarity(words: frozenset[str], other_words: frozenset[str]) -> float:
    return len(words & other_words) / len(words | other_words) if words or other_words else 0.0
