"""The cost of a misspelling: how unlikely it is that a user wrote one name for another. 1 is one ordinary typing error.

The search among many names counts errors, which is fast. The few similar names then get a cost
by the kind of the error: swapped letters, a neighbouring key, a doubled or omitted letter, case, and underscores.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from lsp_harness.text.misspelling import edit_distance, plurals

CASE_COST = 0.45
"""Cost of names that differ only in case, or of a letter of the wrong case."""
STYLE_COST = 0.5
"""Cost of `userName` for `user_name`."""
INITIAL_CASE_COST = 0.15
"""Added cost if the first letter has another case, too, because that case distinguishes types from values."""
SWAPPED_COST = 0.75
"""Cost of two neighbouring letters in the wrong order."""
NEIGHBOUR_KEY_COST = 0.9
"""Cost of a letter whose key is beside the intended one."""
DOUBLED_COST = 0.75
"""Cost of a letter that is doubled and should not be, or should be doubled and is not."""
OMITTED_COST, ADDED_COST = 0.85, 0.95
"""Cost of a letter that is missing, and of one that is too many."""
PLURAL_COST = 0.8
"""Cost of a plural for its singular, or the reverse."""
OTHER_LETTER_COST = 1.1
"""Cost of a letter for another one whose key is not beside it."""
FIRST_LETTER_COST = 0.2
"""Added cost if the first letter is wrong, because people rarely mistype it."""
SHORT_NAME_COST = 0.4
"""Added cost of an error in a name of at most `MAX_SHORT_NAME_LENGTH` letters, because many names are similar to it."""
MAX_SHORT_NAME_LENGTH = 3
UNFINISHED_COST = 1.0
"""Cost of a name whose end is missing, for example `ValueErr`."""
MAX_COST_PER_LETTER = 0.18
"""Maximum cost of several errors in one name, for each letter of the name."""
KEYBOARD_ROWS = ("`1234567890-=", " qwertyuiop[]", " asdfghjkl;'", " zxcvbnm,./")
_KEY_POSITIONS = {
    key: (row, column) for row, keys in enumerate(KEYBOARD_ROWS) for column, key in enumerate(keys) if key != " "
}


def count_allowed_errors(name: str) -> int:
    """Return how many letters of a name may be wrong."""
    return 0 if len(name) < 2 else 1 if len(name) <= 4 else 2 if len(name) <= 8 else 3


def find_similar(name: str, names: Collection[str]) -> Iterator[tuple[str, float]]:
    """Yield the other names that a misspelt name may stand for, each with the cost of the misspelling."""
    limit = count_allowed_errors(name)
    candidates = [
        candidate
        for candidate in dict.fromkeys(names)
        if candidate != name and abs(len(candidate) - len(name)) <= max(limit, 3)
    ]
    lower_name, plain_name = name.lower(), _normalise(name)
    same_spelling = {
        candidate: 0
        for candidate in candidates
        if candidate.lower() == lower_name or (len(plain_name) > 2 and _normalise(candidate) == plain_name)
    }
    matches = _find_within(name, candidates, limit)
    same_spelling |= dict.fromkeys(
        (candidate for candidate in candidates if candidate in plurals(name) or name in plurals(candidate)), 0
    )
    for candidate in (*same_spelling, *matches):
        cost = rate_misspelling(name, candidate)
        if cost <= MAX_COST_PER_LETTER * len(name) or edit_distance(lower_name, candidate.lower(), 1) <= 1:
            yield candidate, cost


def _find_within(name: str, candidates: Iterable[str], limit: int) -> list[str]:
    """Return the candidates in which at most `limit` letters differ."""
    letters = set(name)
    # one error changes at most two letters of the set, and comparing sets is a tenth of the work
    similar = (candidate for candidate in candidates if len(letters ^ set(candidate)) <= 2 * limit)
    return [candidate for candidate in similar if edit_distance(name, candidate, limit) <= limit]


@lru_cache(maxsize=4096)
def rate_misspelling(written: str, intended: str) -> float:
    """Return the cost of writing one name where another was intended. It is 0 for the same name."""
    if written == intended:
        return 0.0
    # `user_name` more probably stands for `userName` than for `UserName`.
    initial_cost = INITIAL_CASE_COST * (written[0].isupper() != intended[0].isupper())
    if written.lower() == intended.lower():
        return CASE_COST + initial_cost * (written[1:] != intended[1:])
    if _normalise(written) == _normalise(intended):
        return STYLE_COST + initial_cost
    if intended in plurals(written) or written in plurals(intended):
        return PLURAL_COST + SHORT_NAME_COST * (min(len(written), len(intended)) <= MAX_SHORT_NAME_LENGTH - 1)
    if len(written) > MAX_SHORT_NAME_LENGTH and intended.startswith(written):
        return UNFINISHED_COST
    if len(written) <= MAX_SHORT_NAME_LENGTH and edit_distance(written, intended, 1) == 1:
        # In such a short name, the kind of the error does not show which name was intended.
        return OMITTED_COST + SHORT_NAME_COST
    short_cost = SHORT_NAME_COST if min(len(written), len(intended)) <= MAX_SHORT_NAME_LENGTH else 0.0
    has_wrong_start = written[0].lower() != intended[0].lower() and sorted(written[:2]) != sorted(intended[:2])
    first_cost = FIRST_LETTER_COST if has_wrong_start else 0.0
    # Letters that are wrong only in their case cost once, not each.
    case_cost = CASE_COST if (written.islower() or intended.islower()) and _differs_in_case(written, intended) else 0.0
    left, right = (written.lower(), intended.lower()) if case_cost else (written, intended)
    return round(_alignment_cost(left, right) + short_cost + first_cost + case_cost, 3)


def _normalise(name: str) -> str:
    return name.replace("_", "").lower()


def _differs_in_case(written: str, intended: str) -> bool:
    limit = max(len(written), len(intended))
    return edit_distance(written.lower(), intended.lower(), limit) < edit_distance(written, intended, limit)


def _alignment_cost(written: str, intended: str) -> float:
    """Return the minimum cost of the errors that turn the intended name into the written one."""
    rows = [[0.0, *(0.0 for _ in intended)] for _ in range(len(written) + 1)]
    for column in range(1, len(intended) + 1):
        rows[0][column] = rows[0][column - 1] + _omission_cost(intended, column - 1)
    for row in range(1, len(written) + 1):
        costs, costs_above = rows[row], rows[row - 1]
        costs[0] = costs_above[0] + _addition_cost(written, row - 1)
        for column in range(1, len(intended) + 1):
            written_letter, intended_letter = written[row - 1], intended[column - 1]
            cost = min(
                costs_above[column - 1] + _replacement_cost(written_letter, intended_letter),
                costs_above[column] + _addition_cost(written, row - 1),
                costs[column - 1] + _omission_cost(intended, column - 1),
            )
            if (
                row > 1
                and column > 1
                and written_letter == intended[column - 2]
                and written[row - 2] == intended_letter
                and written_letter != intended_letter
            ):
                cost = min(cost, rows[row - 2][column - 2] + SWAPPED_COST)
            costs[column] = cost
    return rows[-1][-1]


def _omission_cost(intended: str, position: int) -> float:
    if intended[position] == "_":
        return STYLE_COST
    return DOUBLED_COST if position and intended[position - 1] == intended[position] else OMITTED_COST


def _addition_cost(written: str, position: int) -> float:
    if written[position] == "_":
        return STYLE_COST
    return DOUBLED_COST if position and written[position - 1] == written[position] else ADDED_COST


def _replacement_cost(written: str, intended: str) -> float:
    if written == intended:
        return 0.0
    if written.lower() == intended.lower():
        return CASE_COST
    if written.isdigit() or intended.isdigit():
        # Different digits distinguish names on purpose: `item1` does not stand for `item2`.
        return OTHER_LETTER_COST + 1
    written_key, intended_key = _KEY_POSITIONS.get(written.lower()), _KEY_POSITIONS.get(intended.lower())
    if (
        written_key
        and intended_key
        and abs(written_key[0] - intended_key[0]) <= 1
        and abs(written_key[1] - intended_key[1]) <= 1
    ):
        return NEIGHBOUR_KEY_COST
    return OTHER_LETTER_COST


WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case: `max` and `items` for `maxItems` and `max_items`."""
    return [word.lower() for word in WORD_PATTERN.findall(name)]
