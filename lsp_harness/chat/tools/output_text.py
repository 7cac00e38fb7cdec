"""Lines of a result that is short enough for a small prompt, with a remark about what was left out."""

from collections.abc import Iterable

MAX_OUTPUT_BYTES = 7_500
"""Bytes of the result of a tool that can be continued. A result of more than 8 KiB would become an artifact."""
MAX_LINE_CHARS = 400


def shorten_line(line: str, limit: int = MAX_LINE_CHARS) -> str:
    """Return a line, cut off with the number of characters that are missing."""
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit} more characters)"


def fit_lines(lines: Iterable[str], limit: int = MAX_OUTPUT_BYTES) -> list[str]:
    """Return the first lines that fit in `limit` bytes; always at least one, if there is one."""
    fitting: list[str] = []
    for line in lines:
        limit -= len(line.encode("utf-8", "replace")) + 1
        if limit < 0 and fitting:
            break
        fitting.append(line)
    return fitting
