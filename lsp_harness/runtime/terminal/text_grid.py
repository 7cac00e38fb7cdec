"""The cells of an emulated screen: pyte with the parts that today's programs need.

pyte has no second screen, no scrolling by command and no history of text, drops the rest of a text after an emoji with
a selector, and draws a character at a time. Many lines of plain text, such as the log of a build, take a shortcut: most
of them are out of sight at once.
"""

import copy
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice

from pyte import charsets, modes
from pyte.screens import Char, Cursor, Margins, Savepoint, StaticDefaultDict
from pyte.screens import Screen as PyteScreen
from wcwidth import wcwidth

from lsp_harness.runtime.terminal.terminal_signals import clean_text

HISTORY_LINES = 10_000
"""Number of lines that a screen remembers after they scrolled out of sight."""
Row = StaticDefaultDict[int, Char]
MAX_STYLES = 4096
"""Number of styles whose cells are shared. Programs with animated colors use many."""
MAX_SAVED_CURSORS = 16
MAX_CELL_CHARACTERS = 16
"""Number of characters in one cell. More combining marks are dropped."""
character_width = lru_cache(maxsize=8192)(wcwidth)
LINE_END = "\r\n"
NOT_PLAIN = str.maketrans("", "", "".join(map(chr, range(32, 127))) + LINE_END)
"""A table that removes the characters of plain lines."""


class TextGrid(PyteScreen):
    """The cells, the cursor and the modes of a screen.

    Attributes:
        past_lines: The lines that scrolled out of sight.
    """

    lines: int
    columns: int

    def __init__(self, columns: int, lines: int) -> None:
        self.unknown_modes: set[int] = set()
        """Private modes that pyte does not know, and that are on, such as bracketed paste."""
        self._primary: tuple[dict[int, Row], Cursor] | None = None
        self._other_savepoints: list[Savepoint] = []
        self._cells: dict[Char, dict[str, Char]] = {}
        self.past_lines: deque[str] = deque(maxlen=HISTORY_LINES)
        super().__init__(columns, lines)

    @property
    def is_alternate(self) -> bool:
        """True if the alternate screen is shown, as programs of the whole screen use it."""
        return self._primary is not None

    @property
    def primary(self) -> tuple[dict[int, Row], Cursor] | None:
        """The cells and the cursor of the first screen while the second one is shown."""
        return self._primary

    def row_text(self, row: Row) -> str:
        """Return the text of a row, without blanks at its end."""
        # the second cell of a wide character has no text
        return "".join([row[column].data for column in range(min(max(row) + 1, self.columns))]).rstrip() if row else ""

    def reset(self) -> None:
        super().reset()
        self._primary = None
        self.past_lines.clear()
        self.unknown_modes = set()
        self.savepoints.clear()

    def draw(self, data: str) -> None:
        if not data.isascii() or self.charset or self.g0_charset is not charsets.LAT1_MAP:
            self._draw_any(data.translate(self.g1_charset if self.charset else self.g0_charset))
            return
        if modes.IRM in self.mode:
            self._draw_any(data)
            return
        start, cells = 0, self._style_cells()
        while start < len(data):
            self._wrap()
            part = data[start : start + self.columns - self.cursor.x]
            if modes.DECAWM not in self.mode and start + len(part) < len(data):
                # the last column gets the last character
                part, start = part[:-1] + data[-1], len(data) - len(part)
            self._put(self.buffer[self.cursor.y], [cells[character] for character in part])
            start += len(part)

    def index(self) -> None:
        self.settle_cursor()
        bottom = self.margins.bottom if self.margins else self.lines - 1
        if self.cursor.y != bottom:
            if self.cursor.y < self.lines - 1:
                self.cursor.y += 1
            return
        self.scroll(1)

    def reverse_index(self) -> None:
        self.settle_cursor()
        super().reverse_index()

    def scroll(self, count: int) -> None:
        """Move the rows of the scrolling region up. Those that leave the first screen at its top go to the history."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if top == 0 and not self.is_alternate:
            self.past_lines.extend(self.row_text(self.buffer[y]) for y in range(min(count, bottom + 1)))
        self._move_up(top, bottom, count)

    def set_title(self, param: str) -> None:
        self.title = clean_text(param)

    def save_cursor(self) -> None:
        super().save_cursor()
        # a program that only saves must not fill the memory
        del self.savepoints[:-MAX_SAVED_CURSORS]

    def restore_cursor(self) -> None:
        # restoring does not forget the saved cursor
        saved = self.savepoints[-1:]
        super().restore_cursor()
        self.savepoints += [saved[0]._replace(cursor=copy.copy(saved[0].cursor))] if saved else []

    def enter_alternate(self) -> None:
        """Show the second screen, which is empty."""
        if self._primary is None:
            self._primary = (dict(self.buffer), copy.copy(self.cursor))
            self._other_savepoints, self.savepoints = self.savepoints, []
        self.buffer.clear()

    def leave_alternate(self) -> None:
        """Show the first screen again. The cursor stays."""
        if self._primary is not None:
            self.buffer.clear()
            self.buffer.update(self._primary[0])
            self._primary = None
            self.savepoints = self._other_savepoints

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Change the size. Rows are cut, and programs draw again. Blank rows below the cursor are dropped first."""
        lines, columns = lines or self.lines, columns or self.columns
        self.settle_cursor()
        if self._primary:
            rows, cursor = self._primary
            kept: dict[int, Row] = {}
            self._drop_rows(rows, cursor, lines, is_primary=True)
            kept.update(rows)
            self._primary = (kept, cursor)
        self._drop_rows(self.buffer, self.cursor, lines, is_primary=not self.is_alternate)
        for row in chain(self.buffer.values(), self._primary[0].values() if self._primary else ()):
            for column in [column for column in row if column >= columns]:
                del row[column]
        self.tabstops = set[int](self.tabstops) | {column for column in range(8, columns, 8) if column >= self.columns}
        self.lines, self.columns = lines, columns
        self.margins = None
        self.ensure_hbounds()
        self.ensure_vbounds()

    def scroll_down(self, count: int) -> None:
        """Move the rows of the scrolling region down."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        self._move_down(top, bottom, count)

    def insert_lines(self, count: int | None = None) -> None:
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if top <= self.cursor.y <= bottom:
            self._move_down(self.cursor.y, bottom, count or 1)
            self.carriage_return()

    def delete_lines(self, count: int | None = None) -> None:
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if top <= self.cursor.y <= bottom:
            self._move_up(self.cursor.y, bottom, count or 1)
            self.carriage_return()

    def insert_characters(self, count: int | None = None) -> None:
        super().insert_characters(count)
        # pyte keeps a cell behind the margin
        self.buffer[self.cursor.y].pop(self.columns, None)
        self._mend_row()

    def delete_characters(self, count: int | None = None) -> None:
        super().delete_characters(count)
        self._mend_row()

    def erase_characters(self, count: int | None = None) -> None:
        with self._blank_style():
            super().erase_characters(count)
        self._mend_row()

    def cursor_up(self, count: int | None = None) -> None:
        top = self.margins.top if self.margins and self.cursor.y >= self.margins.top else 0
        self.cursor.y = max(self.cursor.y - (count or 1), top)

    def cursor_down(self, count: int | None = None) -> None:
        bottom = self.margins.bottom if self.margins and self.cursor.y <= self.margins.bottom else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        self.cursor.x = (column or 1) - 1
        self.cursor.y = (line or 1) - 1
        if self.margins and modes.DECOM in self.mode:
            # rows count from the scrolling region on
            self.cursor.y += self.margins.top
        self.ensure_hbounds()
        self.ensure_vbounds()

    def ensure_vbounds(self, use_margins: bool | None = None) -> None:
        # the region holds the cursor in the origin mode only
        super().ensure_vbounds(use_margins=False)

    def cursor_to_line(self, line: int | None = None) -> None:
        x = self.cursor.x
        self.cursor_position(line, x + 1)

    def settle_cursor(self) -> None:
        """Forget that the next character begins a new row. All movements of the cursor do that."""
        self.cursor.x = min(self.cursor.x, self.columns - 1)

    def alignment_display(self) -> None:
        self.margins = None
        super().alignment_display()
        self.cursor_position()

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        if how == 3:
            self.past_lines.clear()
        elif 0 <= how <= 2:
            y = self.cursor.y
            first, last = ((y + 1, self.lines), (0, y), (0, self.lines))[how]
            blank = self.default_char._replace(bg=self.cursor.attrs.bg)
            for y in range(first, last):
                self.buffer.pop(y, None)
                if blank.bg != "default":
                    self.buffer[y].update(dict.fromkeys(range(self.columns), blank))
            if how < 2:
                self.erase_in_line(how)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if 0 <= how <= 2:
            with self._blank_style():
                super().erase_in_line(how)
            self._mend_row()

    def _drop_rows(self, rows: dict[int, Row], cursor: Cursor, lines: int, *, is_primary: bool) -> None:
        top = max(0, cursor.y - lines + 1)
        for y in range(top):
            row = rows.pop(y, None)
            if is_primary:
                self.past_lines.append(self.row_text(row) if row else "")
        for y in range(top, self.lines):
            if (row := rows.pop(y, None)) and y - top < lines:
                rows[y - top] = row
        cursor.y -= top

    def _style_cells(self) -> dict[str, Char]:
        attributes = self.cursor.attrs
        if (cells := self._cells.get(attributes)) is None:
            if len(self._cells) >= MAX_STYLES:
                self._cells.clear()
            cells = self._cells[attributes] = _StyleCells(attributes)
        return cells

    def _wrap(self) -> None:
        """Begin a new row if the one before is full, or stay at its last column."""
        if self.cursor.x < self.columns:
            return
        if modes.DECAWM in self.mode:
            self.carriage_return()
            self.linefeed()
        else:
            self.cursor.x = self.columns - 1

    def _put(self, row: Row, cells: list[Char]) -> None:
        start, end = self.cursor.x, self.cursor.x + len(cells)
        # half of a wide character cannot stay
        if start in row and not row[start].data and start - 1 in row:
            row[start - 1] = row[start - 1]._replace(data=" ")
        if end in row and not row[end].data:
            row[end] = row[end]._replace(data=" ")
        row.update(zip(range(start, end), cells, strict=True))
        self.cursor.x = end

    def _draw_any(self, data: str) -> None:
        cells = self._style_cells()
        for character in data:
            width = character_width(character)
            if width <= 0:
                self._combine(character)
                continue
            if width > self.columns:
                continue
            if self.cursor.x + width > self.columns:
                if modes.DECAWM in self.mode:
                    # a wide character does not fit into the last column
                    self.cursor.x = self.columns
                else:
                    self.cursor.x = self.columns - width
            self._wrap()
            if modes.IRM in self.mode:
                self.insert_characters(width)
            cell = cells[character]
            self._put(self.buffer[self.cursor.y], [cell] if width == 1 else [cell, cell._replace(data="")])

    def _combine(self, mark: str) -> None:
        """Add a mark without a width to the character before the cursor."""
        row, column = self.buffer[self.cursor.y], self.cursor.x - 1
        if column > 0 and column in row and not row[column].data:
            column -= 1
        if column in row and row[column].data.strip() and len(row[column].data) < MAX_CELL_CHARACTERS:
            row[column] = row[column]._replace(data=row[column].data + mark)

    def _mend_row(self) -> None:
        """Replace halves of wide characters in the row of the cursor by blanks."""
        row = self.buffer[self.cursor.y]
        if all(cell.data.isascii() and cell.data for cell in row.values()):
            return
        for x, cell in list(row.items()):
            is_second = not cell.data
            is_first = not is_second and character_width(cell.data[0]) == 2
            if (is_second and character_width(row[x - 1].data[:1] or " ") != 2) or (is_first and row[x + 1].data):
                row[x] = cell._replace(data=" ")

    @contextmanager
    def _blank_style(self) -> Generator[None]:
        """Use the background of the style only: what is erased has no other attributes."""
        style = self.cursor.attrs
        self.cursor.attrs = self.default_char._replace(bg=style.bg)
        yield
        self.cursor.attrs = style

    def _move_up(self, top: int, bottom: int, count: int) -> None:
        buffer, count = self.buffer, min(count, bottom - top + 1)
        for y in range(top, bottom - count + 1):
            buffer[y] = buffer[y + count]
        for y in range(bottom - count + 1, bottom + 1):
            buffer.pop(y, None)

    def _move_down(self, top: int, bottom: int, count: int) -> None:
        for y in range(bottom, top - 1, -1):
            if y - count >= top:
                self.buffer[y] = self.buffer[y - count]
            else:
                self.buffer.pop(y, None)


class _StyleCells(dict[str, Char]):
    """The cells of one style, made when they are first needed."""

    def __init__(self, style: Char) -> None:
        super().__init__()
        self._style = style

    def __missing__(self, character: str) -> Char:
        cell = self._style._replace(data=character)
        if len(self) < MAX_STYLES:
            self[character] = cell
        return cell


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
