"""Patterns with `*` (any text) and `?` (any character), matched against texts of which some parts are not known."""

import re

from lsp_harness.syntax.shell.shell_words import UNKNOWN

MAX_CELLS = 2_000_000
"""The largest table for the comparison of a pattern with a text. Beyond it they count as possibly equal."""


def _simplify_pattern(pattern: str) -> str:
    return re.sub(r"\*+", "*", pattern)


def matches(pattern: str, text: str) -> bool:
    """Return whether a text certainly matches: only `*` stands for text that is not known."""
    pattern = _simplify_pattern(pattern)
    # a loop instead of a regular expression, whose time can grow with a power of the length
    position = place = 0
    star = mark = -1
    while place < len(text):
        sign = pattern[position] if position < len(pattern) else ""
        if sign == "*":
            star, mark, position = position, place, position + 1
        elif sign and (sign == text[place] or (sign == "?" and text[place] != UNKNOWN)):
            position, place = position + 1, place + 1
        elif star >= 0:
            mark += 1
            position, place = star + 1, mark
        else:
            return False
    return pattern[position:] in ("", "*")


def may_match(pattern: str, text: str) -> bool:
    """Return whether a text may match if its unknown parts are any texts."""
    if UNKNOWN not in text:
        return matches(pattern, text)
    pattern, text = _simplify_pattern(pattern), re.sub(f"{UNKNOWN}+", UNKNOWN, text)
    if len(pattern) * len(text) > MAX_CELLS:
        return True
    # reachable[i]: the first i characters of the pattern and the text so far stand for a common text
    reachable = _skip_stars(pattern, {0})
    for character in text:
        if character == UNKNOWN:
            reachable = set(range(min(reachable), len(pattern) + 1)) if reachable else set[int]()
            continue
        after = set[int]()
        for position in reachable:
            if position < len(pattern):
                sign = pattern[position]
                if sign == "*":
                    after.add(position)
                elif sign in ("?", character):
                    after.add(position + 1)
        reachable = _skip_stars(pattern, after)
        if not reachable:
            return False
    return len(pattern) in reachable


def _skip_stars(pattern: str, positions: set[int]) -> set[int]:
    closed, waiting = set(positions), list(positions)
    while waiting:
        position = waiting.pop()
        if position < len(pattern) and pattern[position] == "*" and position + 1 not in closed:
            closed.add(position + 1)
            waiting.append(position + 1)
    return closed
