"""The colours of diffs and of the marks of checks in a terminal."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TextIO

COLOURS = {"+": "32", "-": "31", "@": "36"}
"""First sign of a line of a diff → the number of its colour in a terminal: green, red, cyan."""
MARK_COLOURS = {"✓": "32", "✗": "31"}
"""Mark of a check → the number of its colour: green for passed, red for failed."""
MARK = re.compile("[✓✗]")
DIFF_SIGNS = frozenset("+-@ \\")
"""First signs of the lines of a diff."""
FILE_HEAD = re.compile(r"( *)--- ")
"""Matches the line with which the diff of a file begins. In a question, all lines of a diff are indented."""


WORD, WORD_END = "\x1b[7m", "\x1b[27m"
"""Switch the marks around changed words on and off."""
MIN_LIKENESS = 0.5
"""Changed words are only marked in lines of which this part is the same."""


def paint_diffs(text: str, stream: TextIO) -> str:
    """Return a text with colours in its diffs and for ✓ and ✗, if a stream is a terminal that shows them.

    In a removed and an added line that are much the same, the words that differ are marked. Nothing but the colours is
    added, so the text must have no control characters already.
    """
    return "\n".join(_paint_lines(text.split("\n"))) if _shows_colours(stream) else text


def _paint_lines(lines: list[str]) -> Iterator[str]:
    removed, added = list[str](), list[str]()
    for line, indent in zip(lines, _find_indents(lines), strict=True):
        sign = line[len(indent) : len(indent) + 1] if indent is not None else ""
        if sign == "-" and not added:
            removed.append(line)
        elif sign == "+" and removed:
            added.append(line)
        else:
            yield from _paint_pairs(removed, added)
            removed, added = ([line], []) if sign == "-" else ([], [])
            if sign != "-":
                yield _paint(line, sign) if indent is not None else _paint_marks(line)
    yield from _paint_pairs(removed, added)


def _find_indents(lines: list[str]) -> Iterator[str | None]:
    """Yield the blanks before the sign of each line of a diff, and None for other lines."""
    indent: str | None = None
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if (head := FILE_HEAD.match(line)) and following.startswith(f"{head[1]}+++ "):
            indent = head[1]
        elif indent is not None and not (line.startswith(indent) and line[len(indent) : len(indent) + 1] in DIFF_SIGNS):
            indent = None
        yield indent


def _paint_pairs(removed: list[str], added: list[str]) -> Iterator[str]:
    """Yield removed lines and then the added lines that follow them, with marks around the words that differ."""
    pairs = [_mark_words(old, new) for old, new in zip(removed, added, strict=False)]
    yield from (_paint(line, "-") for line in [*(old for old, _ in pairs), *removed[len(pairs) :]])
    yield from (_paint(line, "+") for line in [*(new for _, new in pairs), *added[len(pairs) :]])


def _mark_words(old: str, new: str) -> tuple[str, str]:
    """Return two lines with marks around the words that differ. Lines that have little in common get none."""
    before, after = (re.findall(r"\w+|\s+|.", line) for line in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < MIN_LIKENESS:
        return old, new
    old, new = "", ""
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        parts = "".join(before[first:last]), "".join(after[other_first:other_last])
        if kind != "equal":
            # the signs of the lines differ, too, and need no mark
            parts = _mark(parts[0]), _mark(parts[1])
        old, new = old + parts[0], new + parts[1]
    return old, new


def _mark(words: str) -> str:
    return f"{WORD}{words}{WORD_END}" if words not in ("", "-", "+") else words


def _paint(line: str, sign: str) -> str:
    colour = COLOURS.get(sign)
    return f"\x1b[{colour}m{line}\x1b[0m" if colour else line


def _paint_marks(line: str) -> str:
    """Return a line that is no part of a diff, with colours for the marks of its checks."""
    return MARK.sub(lambda match: f"\x1b[{MARK_COLOURS[match[0]]}m{match[0]}\x1b[39m", line)


def _shows_colours(stream: TextIO) -> bool:
    if not stream.isatty():
        return False
    # rich knows what terminals can do, and which variables turn colours off
    from rich.console import Console

    console = Console(file=stream)
    return console.color_system is not None and not (console.no_color or console.legacy_windows)
