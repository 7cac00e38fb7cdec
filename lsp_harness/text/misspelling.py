"""Tests whether one identifier may be a misspelling of another."""

import re

NAME_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")


def plurals(name: str) -> tuple[str, ...]:
    """Return the possible plurals of an English word: `values`, `boxes`, `retries`."""
    return (f"{name}s", f"{name}es", f"{name[:-1]}ies") if name.endswith("y") else (f"{name}s", f"{name}es")


def is_misspelling(wrong: str, right: str) -> bool:
    """Return whether `wrong` may be a misspelling of `right`.

    Two names match if they differ only by case, underscores or a plural `s`. They also match if they differ by one
    letter in short names, or by about a quarter of the letters in long names. They also match if each word of one name
    begins the word at the same place in the other name (`max_len`, `max_length`).
    """
    a, b = _normalize(wrong), _normalize(right)
    if not a or not b or wrong == right:
        return False
    if a == b or a in plurals(b) or b in plurals(a):
        return True
    if min(len(a), len(b)) < 3:
        # any two names of one letter have distance 1, so short names match only if two letters are exchanged or one of
        # three is missing
        return sorted(a) == sorted(b) or (len(a) != len(b) and max(len(a), len(b)) == 3 and edit_distance(a, b, 1) <= 1)
    allowed = min(3, max(1, (max(len(a), len(b)) + 1) // 4))
    return edit_distance(a, b, allowed) <= allowed or _is_abbreviation(wrong, right)


def edit_distance(a: str, b: str, limit: int) -> int:
    """Return the number of letters to insert, remove, replace or exchange with the next one (optimal string alignment).

    Returns `limit` + 1 if the distance is larger than `limit`.
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    older: list[int] = []
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        new = [i]
        for j, other in enumerate(b, 1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (char != other))
            if i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            new.append(cost)
        if min(new) > limit:
            return limit + 1
        older, row = row, new
    return min(row[-1], limit + 1)


def _normalize(name: str) -> str:
    return name.replace("_", "").lstrip("$@").lower()


def _is_abbreviation(first: str, second: str) -> bool:
    a, b = NAME_WORDS.findall(first), NAME_WORDS.findall(second)
    if len(a) != len(b) or not a:
        return False
    pairs = [sorted((x.lower(), y.lower()), key=len) for x, y in zip(a, b, strict=True)]
    return all(long.startswith(short) and len(short) >= min(3, len(long)) for short, long in pairs)
