"""Similarity of two lines of code. Errors that a small model makes when it copies a line do not count."""

import re

MIN_COMPARED_CHARS = 8
"""Minimum length of a line. Shorter lines are never similar."""
IGNORED_CHARS = re.compile(r"\s+|(?<![;,])[;,]+\s*$")
DISTINCTIVE_WORDS = re.compile(r"\b\w\b|\d+")
"""Single letters and numbers. Two lines of the same table differ in them on purpose."""


def are_similar(line: str, other_line: str) -> bool:
    """Return whether two lines differ in at most 5 % of their characters.

    Blanks, the kind of quotes and a last `;` or `,` do not count.
    """
    shorter, longer = sorted((len(line), len(other_line)))
    if shorter < MIN_COMPARED_CHARS or longer - shorter > 4 + longer // 8:
        return False
    plain_line, other_plain_line = _normalise_line(line), _normalise_line(other_line)
    if plain_line == other_plain_line:
        return True
    if DISTINCTIVE_WORDS.findall(line) != DISTINCTIVE_WORDS.findall(other_line):
        return False
    max_distance = max(1, min(len(plain_line), len(other_plain_line)) // 20)
    if abs(len(plain_line) - len(other_plain_line)) > max_distance:
        return False
    return _is_within_distance(plain_line, other_plain_line, max_distance)


def _normalise_line(line: str) -> str:
    return IGNORED_CHARS.sub("", line).replace("'", '"')


def _is_within_distance(line: str, other_line: str, max_distance: int) -> bool:
    """Return whether the edit distance is at most `max_distance`. Only the band around the diagonal is computed."""
    distances = list(range(len(other_line) + 1))
    for row_number, char in enumerate(line, 1):
        low, high = max(1, row_number - max_distance), min(len(other_line), row_number + max_distance)
        new_distances = [max_distance + 1] * (len(other_line) + 1)
        new_distances[0] = row_number
        for column in range(low, high + 1):
            new_distances[column] = min(
                distances[column] + 1,
                new_distances[column - 1] + 1,
                distances[column - 1] + (char != other_line[column - 1]),
            )
        if min(new_distances[low : high + 1]) > max_distance:
            return False
        distances = new_distances
    return distances[-1] <= max_distance
