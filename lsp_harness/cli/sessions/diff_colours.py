"""The colours of diffs in a terminal."""

import re
from collections.abc import Iterator
from typing import TextIO

COLOURS = {"+": "32", "-": "31", "@": "36"}
"""First sign of a line of a diff → the number of its colour in a terminal: green, red, cyan."""
DIFF_SIGNS = frozenset("+-@ \\")
"""First signs of the lines of a diff."""
FILE_HEAD = re.compile(r"( *)--- ")
"""Matches the line with which the diff of a file begins. In a question, all lines of a diff are indented."""


def paint_diffs(text: str, stream: TextIO) -> str:
    """Return a text with colours in its diffs, if a stream is a terminal that shows them.

    Nothing but the colours is added, so the text must have no control characters already.
    """
    return "\n".join(_paint_lines(text.split("\n"))) if _shows_colours(stream) else text


def _paint_lines(lines: list[str]) -> Iterator[str]:
    # no indentation: the line is in no diff
    indent: str | None = None
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if (head := FILE_HEAD.match(line)) and following.startswith(f"{head[1]}+++ "):
            indent = head[1]
        elif indent is not None and not (line.startswith(indent) and line[len(indent) : len(indent) + 1] in DIFF_SIGNS):
            indent = None
        colour = COLOURS.get(line[len(indent) : len(indent) + 1]) if indent is not None else None
        yield f"\x1b[{colour}m{line}\x1b[0m" if colour else line


def _shows_colours(stream: TextIO) -> bool:
    if not stream.isatty():
        return False
    # rich knows what terminals can do, and which variables turn colours off
    from rich.console import Console

    console = Console(file=stream)
    return console.color_system is not None and not (console.no_color or console.legacy_windows)
