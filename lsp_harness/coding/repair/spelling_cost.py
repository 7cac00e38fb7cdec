"""How likely one name is a slip of the hand for another, as a cost: 1 is one ordinary typing error.

The search among many names is by the plain Damerau-Levenshtein distance, which is fast; the few that are near are weighed by
the kind of the slip: letters that changed places, a key beside the right one, a letter doubled or left out, case, underscores.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from lsp_harness.text.misspelling import plurals

CASE = 0.45
"""The cost of names that differ in case alone, or of a letter of the wrong case."""
STYLE = 0.5
"""The cost of `userName` for `user_name`."""
INITIAL = 0.15
"""What is added where the first letter is of another case too: that tells types from values."""
SWAPPED = 0.75
NEIGHBOUR = 0.9
DOUBLED = 0.75
"""The cost of a letter that is there twice and should be once, or the other way round."""
LEFT_OUT, ADDED = 0.85, 0.95
PLURAL = 0.8
OTHER = 1.1
"""The cost of a letter in the place of another that is not beside it."""
FIRST = 0.2
"""What is added where the first letter is wrong: people seldom miss that one."""
SHORT = 0.4
"""What is added where one of at most `SHORT_NAME` letters is wrong: many names are that near."""
SHORT_NAME = 3
CUT = 1.0
"""The cost of a name that was not written to its end: `ValueErr`."""
PER_LETTER = 0.18
"""What a slip of several errors may cost for each letter of the name."""
ROWS = ("`1234567890-=", " qwertyuiop[]", " asdfghjkl;'", " zxcvbnm,./")
_KEYS = {key: (row, column) for row, keys in enumerate(ROWS) for column, key in enumerate(keys) if key != " "}


def most_edits(name: str) -> int:
    """How many letters may be wrong in a name for another to be meant at all."""
    return 0 if len(name) < 2 else 1 if len(name) <= 4 else 2 if len(name) <= 8 else 3


def similar(name: str, names: Collection[str]) -> Iterator[tuple[str, float]]:
    """The names that may be meant by a misspelt one, each with the cost of the slip; not the name itself."""
    most = most_edits(name)
    listed = [one for one in dict.fromkeys(names) if one != name and abs(len(one) - len(name)) <= max(most, 3)]
    folded, plain = name.lower(), _plain(name)
    found = {one: 0 for one in listed if one.lower() == folded or (len(plain) > 2 and _plain(one) == plain)}
    near = process.extract(name, listed, scorer=OSA.distance, processor=None, score_cutoff=most, limit=None)
    found |= dict.fromkeys((one for one in listed if one in plurals(name) or name in plurals(one)), 0)
    for one in (*found, *(str(each[0]) for each in near)):
        cost = slip(name, one)
        if cost <= PER_LETTER * len(name) or OSA.distance(folded, one.lower()) <= 1:
            yield one, cost


@lru_cache(maxsize=4096)
def slip(written: str, meant: str) -> float:
    """The cost of writing one name where another was meant; 0 for the same."""
    if written == meant:
        return 0.0
    # `user_name` is rather `userName` than `UserName`
    initial = INITIAL * (written[0].isupper() != meant[0].isupper())
    if written.lower() == meant.lower():
        return CASE + initial * (written[1:] != meant[1:])
    if _plain(written) == _plain(meant):
        return STYLE + initial
    if meant in plurals(written) or written in plurals(meant):
        return PLURAL + SHORT * (min(len(written), len(meant)) <= SHORT_NAME - 1)
    if len(written) > SHORT_NAME and meant.startswith(written):
        return CUT
    if len(written) <= SHORT_NAME and OSA.distance(written, meant) == 1:
        # of so few letters the kind of the slip does not say which name was meant
        return LEFT_OUT + SHORT
    short = SHORT if min(len(written), len(meant)) <= SHORT_NAME else 0.0
    first = FIRST if written[0].lower() != meant[0].lower() and sorted(written[:2]) != sorted(meant[:2]) else 0.0
    # the case of letters that are right otherwise costs once
    case = CASE if (written.islower() or meant.islower()) and _cased(written, meant) else 0.0
    one, other = (written.lower(), meant.lower()) if case else (written, meant)
    return round(_aligned(one, other) + short + first + case, 3)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _cased(written: str, meant: str) -> bool:
    return OSA.distance(written.lower(), meant.lower()) < OSA.distance(written, meant)


def _aligned(written: str, meant: str) -> float:
    """The cheapest way from one to the other by slips."""
    rows = [[0.0, *(0.0 for _ in meant)] for _ in range(len(written) + 1)]
    for n in range(1, len(meant) + 1):
        rows[0][n] = rows[0][n - 1] + _left_out(meant, n - 1)
    for m in range(1, len(written) + 1):
        row, above = rows[m], rows[m - 1]
        row[0] = above[0] + _added(written, m - 1)
        for n in range(1, len(meant) + 1):
            one, other = written[m - 1], meant[n - 1]
            best = min(
                above[n - 1] + _replaced(one, other),
                above[n] + _added(written, m - 1),
                row[n - 1] + _left_out(meant, n - 1),
            )
            if m > 1 and n > 1 and one == meant[n - 2] and written[m - 2] == other and one != other:
                best = min(best, rows[m - 2][n - 2] + SWAPPED)
            row[n] = best
    return rows[-1][-1]


def _left_out(meant: str, n: int) -> float:
    if meant[n] == "_":
        return STYLE
    return DOUBLED if n and meant[n - 1] == meant[n] else LEFT_OUT


def _added(written: str, m: int) -> float:
    if written[m] == "_":
        return STYLE
    return DOUBLED if m and written[m - 1] == written[m] else ADDED


def _replaced(one: str, other: str) -> float:
    if one == other:
        return 0.0
    if one.lower() == other.lower():
        return CASE
    if one.isdigit() or other.isdigit():
        # digits are told apart on purpose: `item1` is not `item2`
        return OTHER + 1
    a, b = _KEYS.get(one.lower()), _KEYS.get(other.lower())
    if a and b and abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1:
        return NEIGHBOUR
    return OTHER


WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> list[str]:
    """The words of a name in lower case: `maxItems` and `max_items` are `max` and `items`."""
    return [one.lower() for one in WORDS.findall(name)]
