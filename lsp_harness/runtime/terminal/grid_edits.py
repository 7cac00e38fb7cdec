"""Editing of cells: inserting, deleting, erasing and moving, as terminals do it and pyte does not."""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache

from pyte import modes
from pyte.screens import Margins
from pyte.screens import Screen as PyteScreen
from wcwidth import wcwidth

from lsp_harness.runtime.terminal.screen import HISTORY_LINES

character_width = lru_cache(maxsize=8192)(wcwidth)


class EditedGrid(PyteScreen):
    """The cells, the cursor and the modes of a screen.

    Attributes:
        past_lines: The lines that scrolled out of sight.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self.past_lines: deque[str] = deque(maxlen=HISTORY_LINES)
        super().__init__(columns, lines)

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
