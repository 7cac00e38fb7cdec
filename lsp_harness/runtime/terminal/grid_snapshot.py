"""Bytes that make a terminal show the same as a grid of cells."""

from collections.abc import Iterator, Mapping
from itertools import islice

from pyte import charsets, graphics, modes
from pyte.screens import Char, Cursor

from lsp_harness.runtime.terminal.screen import SNAPSHOT_LINES, scroll_into_history
from lsp_harness.runtime.terminal.text_grid import Row, TextGrid

PLAIN = Char(" ")
ATTRIBUTE_CODES = {"bold": 1, "italics": 3, "underscore": 4, "blink": 5, "reverse": 7, "strikethrough": 9}
TEXT_COLORS = {name: code for code, name in (*graphics.FG_ANSI.items(), *graphics.FG_AIXTERM.items())}
BACK_COLORS = {name: code for code, name in (*graphics.BG_ANSI.items(), *graphics.BG_AIXTERM.items())}
DEFAULT_MODES = {modes.DECAWM: "\x1b[?7l", modes.DECTCEM: "\x1b[?25l"}
"""Modes that are on in a new terminal, and the sequences that turn them off."""
OTHER_MODES = {modes.IRM: "\x1b[4h", modes.LNM: "\x1b[20h", modes.DECSCNM: "\x1b[?5h", modes.DECOM: "\x1b[?6h"}
RESET = "\x1bc"


def render_grid(grid: TextGrid) -> bytes:
    """Return the bytes that show the history, the cells, the cursor and the modes of a grid."""
    parts = [RESET]
    past = list(islice(grid.past_lines, max(0, len(grid.past_lines) - SNAPSHOT_LINES), None))
    if past:
        # a history line may be longer than a row after the terminal became narrower
        parts += [f"{line}\r\n" for line in past]
        parts += [scroll_into_history(len(past), grid.lines).decode()]
    if grid.primary:
        rows, cursor = grid.primary
        parts += [*_render_rows(grid, rows), _place(cursor), "\x1b[m\x1b[?1049h"]
    parts += [*_render_rows(grid, grid.buffer)]
    parts += [f"\x1b]0;{grid.title}\x1b\\"] if grid.title else []
    parts += [f"\x1b[?{mode}h" for mode in sorted(grid.unknown_modes)]
    parts += [sequence for mode, sequence in DEFAULT_MODES.items() if mode not in grid.mode]
    if grid.margins:
        parts += [f"\x1b[{grid.margins.top + 1};{grid.margins.bottom + 1}r"]
    parts += [sequence for mode, sequence in OTHER_MODES.items() if mode in grid.mode]
    parts += ["\x1b(0"] if grid.g0_charset is charsets.VT100_MAP else []
    parts += _render_cursor(grid)
    return "".join(parts).encode("utf-8", "replace")


def _render_rows(grid: TextGrid, rows: Mapping[int, Row]) -> Iterator[str]:
    style = PLAIN
    for y in range(grid.lines):
        row = rows.get(y)
        if not row:
            continue
        last = max((x for x, cell in row.items() if x < grid.columns and cell != PLAIN), default=-1)
        if last < 0:
            continue
        yield f"\x1b[{y + 1};1H"
        for x in range(last + 1):
            cell = row[x]
            if (wanted := cell._replace(data=" ")) != style:
                yield style_sequence(wanted)
                style = wanted
            yield cell.data
    if style != PLAIN:
        yield "\x1b[m"


def style_sequence(style: Char) -> str:
    """Return the sequence that selects a style."""
    codes = ["0", *(str(code) for name, code in ATTRIBUTE_CODES.items() if getattr(style, name))]
    codes += _color_codes(style.fg, TEXT_COLORS, "38")
    codes += _color_codes(style.bg, BACK_COLORS, "48")
    return f"\x1b[{';'.join(codes)}m"


def _color_codes(color: str, names: Mapping[str, int], prefix: str) -> list[str]:
    if color == "default":
        return []
    if color in names:
        return [str(names[color])]
    return [prefix, "2", *(str(int(color[i : i + 2], 16)) for i in (0, 2, 4))]


def _place(cursor: Cursor) -> str:
    return f"\x1b[{cursor.y + 1};{cursor.x + 1}H"


def _render_cursor(grid: TextGrid) -> list[str]:
    """Return the position and the style of the cursor."""
    cursor, row = grid.cursor, grid.cursor.y
    if grid.margins and modes.DECOM in grid.mode:
        row -= grid.margins.top
    style = style_sequence(cursor.attrs) if cursor.attrs != PLAIN else ""
    if cursor.x < grid.columns:
        return [f"\x1b[{row + 1};{cursor.x + 1}H", style]
    # the row is full, and the next character begins a new one
    cells = grid.buffer[cursor.y]
    x = grid.columns - 1 if cells[grid.columns - 1].data else grid.columns - 2
    cell = cells[x]
    return [f"\x1b[{row + 1};{x + 1}H", style_sequence(cell), cell.data, "\x1b[m", style]
