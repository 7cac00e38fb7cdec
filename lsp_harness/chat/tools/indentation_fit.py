"""Fitting the indentation of new code to the place where it goes."""

import re
from collections.abc import Sequence

from lsp_harness.text.code_lines import indentation_of, is_lone_closer


def fit_indentation(text: str, indentation: str, *, uses_tabs: bool = False) -> list[str]:
    """Return the lines of a text with the indentation of their new place, without blank lines around them.

    Models write code without its indentation, with it, or with it in all lines but the first.

    Args:
        text: The code.
        indentation: The indentation of its first line in the new place.
        uses_tabs: Whether the file is indented with tabs.
    """
    lines = text.replace("\r\n", "\n").rstrip().split("\n")
    while len(lines) > 1 and not lines[0].strip():
        lines = lines[1:]
    lines = [line.rstrip() if not line.strip() else line for line in lines]
    if uses_tabs:
        lines = _to_tabs(lines)
    own = indentation_of(lines[0])
    rest = [line for line in lines[1:] if line.strip()]
    removed = own
    if not own and indentation and rest and _is_cut_out(rest, indentation):
        removed = indentation
    first, *others = lines
    fitted = [indentation + first.removeprefix(own)]
    for line in others:
        # a line with less indentation than the first one, such as that of a string, is not moved
        fits = line.startswith(removed)
        fitted.append(indentation + line[len(removed) :] if fits and line.strip() else line)
    return fitted


def _is_cut_out(rest: Sequence[str], indentation: str) -> bool:
    """Return whether the lines after the first one still have the indentation of the file.

    They do if all are deeper than the first line will be, or if the last one closes the block at its depth.
    """
    if not all(line.startswith(indentation) for line in rest):
        return False
    is_deeper = all(len(indentation_of(line)) > len(indentation) for line in rest)
    return is_deeper or (is_lone_closer(rest[-1]) and indentation_of(rest[-1]) == indentation)


def _to_tabs(lines: Sequence[str]) -> list[str]:
    """Return the lines with a tab for each level of spaces."""
    widths = [len(indent) for line in lines if line.strip() and (indent := re.match(" *", line)[0])]  # type: ignore[index]
    if not widths:
        return list(lines)
    unit = min(widths)
    return [
        re.sub("^ +", lambda match: "\t" * (len(match[0]) // unit) + " " * (len(match[0]) % unit), line)
        for line in lines
    ]
