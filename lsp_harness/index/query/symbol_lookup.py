"""Symbols by what somebody types of their names, as editors ask for them: a beginning, a part, or letters of it in order."""

import re
from collections.abc import Collection, Iterator
from itertools import islice

from lsp_harness.index.identifier_words import words
from lsp_harness.index.index_view import SYMBOLS, Symbol, symbol_of
from lsp_harness.store.database import Reader

LIMIT = 200
"""Symbols that are shown at most."""
LOOKED_AT = 2_000
"""Names that are ranked at most: of those that begin so, then of those that have it inside, then of the others."""
LAST = frozenset({"field", "variable", "constant", "parameter"})
"""Kinds that come after the others."""

Rank = tuple[int, bool, int, str]


def rank(query: str, name: str, qualified: str, kind: str) -> Rank | None:
    """How well a symbol fits, the best first; None for one that does not. Upper and lower case are the same, but where both
    are, the same case is better. A query with a dot is about the names around a symbol too."""
    around, _, asked = query.rpartition(".")
    if around and not _in_order(around.lower(), qualified[: -len(name)].lower()):
        return None
    fit = _fit(asked, name)
    return None if fit is None else (fit, kind in LAST, len(name), qualified)


def _fit(asked: str, name: str) -> int | None:
    low, letters = asked.lower(), name.lower()
    if asked == name:
        return 0
    if low == letters:
        return 1
    if letters.startswith(low):
        return 2 if name.startswith(asked) else 3
    if "".join(word[0] for word in words(name).lower().split()).startswith(low):
        return 4
    if low in letters:
        return 5
    return 6 if _in_order(low, letters) else None


def _in_order(letters: str, text: str) -> bool:
    left = iter(text)
    return all(letter in left for letter in letters)


def called(reader: Reader, query: str, without: Collection[str] = ()) -> list[tuple[Rank, Symbol]]:
    """The symbols of an index that fit best, but for those of the files `without`."""
    found: dict[tuple[int, int], Rank] = {}
    for pattern in _patterns(query.rpartition(".")[2]):
        rows = reader.rows(
            "SELECT file, n, kind, name, qualified FROM symbols WHERE (file, n) IN "
            "(SELECT file, n FROM symbols WHERE name LIKE ? ESCAPE '\\' LIMIT ?)",
            (pattern, LOOKED_AT - len(found)),
        )
        for file, n, kind, name, qualified in rows:
            if (file, n) not in found and (fit := rank(query, name, qualified, kind)):
                found[file, n] = fit
        if len(found) >= LIMIT:
            break
    best = sorted(found, key=lambda key: (found[key], key))
    rows = ((key, reader.rows(f"{SYMBOLS} WHERE file = ? AND n = ?", key)) for key in best)
    # between two questions the index may have become another
    shown = ((found[key], symbol_of(row)) for key, got in rows for row in got)
    return [*islice(((fit, one) for fit, one in shown if one.path not in without), LIMIT)]


def _patterns(name: str) -> Iterator[str]:
    letters = [re.sub(r"[%_\\]", r"\\\g<0>", letter) for letter in name]
    yield f"{''.join(letters)}%"
    if letters:
        yield f"%{''.join(letters)}%"
    if len(letters) > 1:
        yield f"%{'%'.join(letters)}%"
