"""When two lines of code are the same line, give or take what a small model gets wrong in copying."""

import re

SHORT = 8  # nothing shorter is compared by distance
LOOSE = re.compile(r"\s+|(?<![;,])[;,]+\s*$")
# one letter or one number apart is how two lines of the same table differ, on purpose
TELLING = re.compile(r"\b\w\b|\d+")


def near(one: str, other: str) -> bool:
    """Equal but for blanks, the kind of quotes and a last `;` or `,`, or some 5 % of the characters apart."""
    if min(len(one), len(other)) < SHORT or abs(len(one) - len(other)) > 4 + max(len(one), len(other)) // 8:
        return False
    a, b = _plain(one), _plain(other)
    if a == b:
        return True
    allowed = max(1, min(len(a), len(b)) // 20)
    if abs(len(a) - len(b)) > allowed or TELLING.findall(one) != TELLING.findall(other):
        return False
    return _within(a, b, allowed)


def _plain(line: str) -> str:
    return LOOSE.sub("", line).replace("'", '"')


def _within(a: str, b: str, allowed: int) -> bool:
    """Whether the edit distance is at most `allowed`; only the band around the diagonal is computed."""
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        low, high = max(1, i - allowed), min(len(b), i + allowed)
        new = [allowed + 1] * (len(b) + 1)
        new[0] = i
        for j in range(low, high + 1):
            new[j] = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (char != b[j - 1]))
        if min(new[low : high + 1]) > allowed:
            return False
        row = new
    return row[-1] <= allowed
