"""The cells of an emulated screen: pyte with the parts that today's programs need.

pyte has no second screen, no scrolling by command and no history of text, drops the rest of a text after an emoji with
a selector, and draws a character at a time.
"""

import copy
from itertools import chain

from pyte import charsets, modes
from pyte.screens import Char, Cursor, Margins, Savepoint, StaticDefaultDict

from lsp_harness.runtime.terminal.grid_edits import EditedGrid, character_width
from lsp_harness.runtime.terminal.untrusted_text import clean_text

Row = StaticDefaultDict[int, Char]
MAX_STYLES = 4096
"""Number of styles whose cells are shared. Programs with animated colors use many."""
MAX_SAVED_CURSORS = 16
MAX_CELL_CHARACTERS = 16
"""Number of characters in one cell. More combining marks are dropped."""


class TextGrid(EditedGrid):
    """The cells, the cursor and the modes of a screen, with a history of the lines that scrolled out of sight."""

    def __init__(self, columns: int, lines: int) -> None:
        self.unknown_modes: set[int] = set()
        """Private modes that pyte does not know, and that are on, such as bracketed paste."""
        self._primary: tuple[dict[int, Row], Cursor] | None = None
        self._other_savepoints: list[Savepoint] = []
        self._cells: dict[Char, dict[str, Char]] = {}
        super().__init__(columns, lines)

    @property
    def is_alternate(self) -> bool:
        """The second screen is shown."""
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
