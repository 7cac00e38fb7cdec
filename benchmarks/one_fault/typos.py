"""Misspellings of a name: letters swapped, left out, doubled or taken from the next key; and wrong case."""

import re
from random import Random

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORTEST = 4
"""Characters of a name that is misspelt."""


def _choose_neighbour_key(letter: str, rng: Random) -> str:
    for row in ROWS:
        if (at := row.find(letter.lower())) >= 0:
            near = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            found = rng.choice(near)
            return found.upper() if letter.isupper() else found
    return letter


def misspell(name: str, rng: Random) -> str:
    """Return a name with one typing error, or the name itself if the error changed no letter."""
    at = rng.randrange(1, len(name) - 1)
    slip = rng.choices(("swap", "drop", "double", "key", "plural", "underscore"), (30, 25, 15, 15, 8, 7))[0]
    if slip == "swap":
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    if slip == "double":
        return name[: at + 1] + name[at:]
    if slip == "key":
        return name[:at] + _choose_neighbour_key(name[at], rng) + name[at + 1 :]
    if slip == "plural":
        return name[:-1] if name.endswith("s") else name + "s"
    if slip == "underscore" and "_" in name.strip("_"):
        head = name[: len(name) - len(name.lstrip("_"))]
        return head + name.strip("_").replace("_", "", 1)
    return name[:at] + name[at + 1 :]


def recase(name: str, rng: Random) -> str:
    """Return a name in a case that people confuse with its own, or the name itself."""
    ways = [name[0].swapcase() + name[1:], name.lower()]
    if "_" in name.strip("_"):
        ways.append(re.sub(r"(?<=[a-zA-Z0-9])_([a-z0-9])", lambda m: m[1].upper(), name))
    elif re.search(r"[a-z][A-Z]", name):
        ways.append(re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), name))
        ways.append(re.sub(r"(?<=[a-z])([A-Z])", lambda m: m[1].lower(), name))
    return rng.choice(sorted(set(ways) - {name}) or [name])


def edit_distance(one: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance (optimal string alignment)."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
