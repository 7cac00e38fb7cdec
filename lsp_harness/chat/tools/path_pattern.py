"""Patterns for paths, as people write them: `*.py`, `src/**/*.ts`, `tests/test_{a,b}.py`.

A pattern without a slash matches names in any folder. `**` matches any number of folders. Each part of a path is
matched alone, so that no pattern takes exponential time.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import translate

MAX_ALTERNATIVES = 64
"""Most patterns that the braces of one pattern stand for."""
NOTHING = re.compile(r"(?!)")
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class PathPattern:
    """A pattern for paths relative to a workspace folder."""

    def __init__(self, pattern: str) -> None:
        normal = pattern.strip().removeprefix("./").lstrip("/")
        if normal.endswith("/"):
            normal += "**"
        self._alternatives = [
            [None if part == "**" else re.compile(translate(part)) for part in _parts(alternative)]
            for alternative in _expand_braces(normal)
        ]

    def matches(self, path: str) -> bool:
        """Return whether a path with `/` matches."""
        names = path.split("/")
        return any(_matches(parts, names) for parts in self._alternatives)


def _parts(pattern: str) -> list[str]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return parts if "/" in pattern else ["**", *parts]


def _expand_braces(pattern: str) -> list[str]:
    """Return the patterns that a pattern with braces stands for."""
    patterns = [pattern]
    while len(patterns) <= MAX_ALTERNATIVES and (expanded := list(_expand_once(patterns))) != patterns:
        patterns = expanded
    return patterns[:MAX_ALTERNATIVES]


def _expand_once(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        match = BRACES.search(pattern)
        words = match[1].split(",") if match else [""]
        head, tail = (pattern[: match.start()], pattern[match.end() :]) if match else (pattern, "")
        yield from (f"{head}{word}{tail}" for word in words)


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Return whether the names match the parts. None stands for any number of folders."""
    reached = {0}
    """The numbers of parts that match the names until now."""
    for name in names:
        following: set[int] = set()
        for index in _skip_any(parts, reached):
            part = parts[index] if index < len(parts) else NOTHING
            if part is None:
                following.add(index)
            elif part.match(name):
                following.add(index + 1)
        reached = following
    # a `**` at the end has matched at least the name of the file
    return any(index == len(parts) or (index == len(parts) - 1 and parts[index] is None) for index in reached)


def _skip_any(parts: Sequence[re.Pattern[str] | None], reached: set[int]) -> set[int]:
    """Return the numbers that are also reached because `**` may match nothing."""
    all_reached = set(reached)
    for index in sorted(reached):
        while index < len(parts) and parts[index] is None:
            index += 1
            all_reached.add(index)
    return all_reached
