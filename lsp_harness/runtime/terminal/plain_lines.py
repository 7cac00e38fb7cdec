"""A shortcut for many lines of plain text, such as the log of a build: most of them are out of sight at once."""

from itertools import islice

from pyte import charsets, modes

from lsp_harness.runtime.terminal.text_grid import TextGrid

LINE_END = "\r\n"
NOT_PLAIN = str.maketrans("", "", "".join(map(chr, range(32, 127))) + LINE_END)
"""A table that removes the characters of plain lines."""


def skip_plain_lines(grid: TextGrid, text: str) -> str:
    """Put the lines that would scroll out of sight into the history. Return the text that is left to draw.

    That is the whole text if it is not plain, or short, or if the grid is in a state in which lines do something else.
    """
    if text.count(LINE_END) < 3 * grid.lines or not _is_simple(grid) or text.translate(NOT_PLAIN):
        return text
    first, *rest = text.split(LINE_END)
    if "\r" in text.replace(LINE_END, "") or "\n" in text.replace(LINE_END, ""):
        return text
    grid.draw(first)
    grid.past_lines.extend(grid.row_text(grid.buffer[y]) for y in range(grid.cursor.y + 1))
    grid.buffer.clear()
    grid.cursor.x = grid.cursor.y = 0
    # as many line ends as the screen has rows bring everything before them out of sight
    visible = grid.lines + 1
    for line in islice(rest, len(rest) - visible):
        if len(line) <= grid.columns:
            grid.past_lines.append(line.rstrip())
        else:
            grid.past_lines.extend(
                line[start : start + grid.columns].rstrip() for start in range(0, len(line), grid.columns)
            )
    return LINE_END.join(rest[-visible:])


def _is_simple(grid: TextGrid) -> bool:
    return not (
        grid.is_alternate
        or grid.margins
        or grid.charset
        or grid.g0_charset is not charsets.LAT1_MAP
        or modes.IRM in grid.mode
        or modes.DECAWM not in grid.mode
        # rows below the cursor would be overwritten in part
        or any(row for y, row in grid.buffer.items() if y > grid.cursor.y)
    )
