"""The emulator of the library libghostty-vt, which is much faster than the one in Python."""

import re
from collections.abc import Sequence
from typing import Any, cast

import pyghostty.core  # pyright: ignore[reportMissingTypeStubs]

from lsp_harness.runtime.terminal.pyte_screen import PyteScreen
from lsp_harness.runtime.terminal.screen import SNAPSHOT_LINES, scroll_into_history
from lsp_harness.runtime.terminal.untrusted_text import clean_text

# the library has no types
_library = cast("Any", pyghostty.core)
ffi, lib, check, init_sized, read_buf = (
    _library.ffi,
    _library.lib,
    _library.check,
    _library.init_sized,
    _library.read_buf,
)
HISTORY_BYTES = 13_300_000
"""Memory for the lines that scrolled out of sight: 10,000 lines at 120 columns."""
MANY_LINES = 1_000_000
"""Number of lines that is never reached. At a limit of lines the library drops them one by one, which is slow."""
ENTERS_ALTERNATE = re.compile(rb"\x1b\[\?(?:\d+;)*(?:1049|1047|47)(?:;\d+)*h")
RESET = b"\x1bc"
ORIGIN_MODE = 6
EARLY_MODES = re.compile(rf"\x1b\[\?(?:47|1047|1049|{ORIGIN_MODE})h")
REGION = re.compile(r"\x1b\[(\d+);\d+r")
SCREEN_PARTS = frozenset({"cursor", "style", "charsets", "kitty_keyboard"})
STATE_PARTS = ("modes", "scrolling_region", "cursor", "style", "charsets")
"""Parts of the state that a snapshot has. Viewers get no keyboard protocol: their keys are the usual ones."""


class GhosttyScreen:
    """A screen of the library libghostty-vt. See `Screen`."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns = columns
        self.lines = lines
        self._terminal: Any = _library.Terminal(columns, lines, scrollback=MANY_LINES)
        self._set("SCROLLBACK_MAX_BYTES", HISTORY_BYTES)
        self._primary = b""
        """The first screen as it was when the program turned to the second one."""

    @property
    def title(self) -> str:
        title: Any = self._terminal.get("title", "GhosttyString")
        return clean_text(bytes(ffi.buffer(title.ptr, title.len)).decode("utf-8", "replace")) if title.len else ""

    @property
    def cursor(self) -> tuple[int, int]:
        column, row = self._terminal.cursor
        return int(row), int(column)

    @property
    def is_alternate(self) -> bool:
        return self._get_int("active_screen") == 1

    def has_mode(self, mode: int) -> bool:
        return bool(self._terminal.mode(mode))

    def feed(self, data: bytes) -> None:
        start = 0
        for match in ENTERS_ALTERNATE.finditer(data):
            self._terminal.feed(data[start : match.start()])
            start = match.start()
            if not self.is_alternate:
                self._primary = self._render_first_screen()
        self._terminal.feed(data[start:])

    def rows(self) -> list[str]:
        rows = self._format(self._selection("active", 0, self.lines - 1), is_plain=True).split("\n")
        return [row.rstrip() for row in rows[: self.lines]] + [""] * (self.lines - len(rows))

    def backgrounds(self, row: int) -> list[str]:
        # the library has no types for its cells, and this is asked for rarely
        shown = PyteScreen(self.columns, 1)
        shown.feed(self._format(self._selection("active", row, row)).encode())
        return shown.backgrounds(0)

    def history(self, count: int) -> Sequence[str]:
        total = self._get_int("scrollback_rows")
        first = max(0, total - count)
        if self.is_alternate or first >= total:
            return []
        lines = self._format(self._selection("history", first, total - 1), is_plain=True).split("\n")
        return [*(line.rstrip() for line in lines), *[""] * (total - first - len(lines))]

    def snapshot(self) -> bytes:
        # modes must not be set by the first screen, because the program may have reset them since
        parts = [self._primary, b"\x1b[?1049h\x1b[H"] if self.is_alternate else [self._render_primary()]
        state = self._format(self._selection("active", 0, self.lines - 1), extras=STATE_PARTS)
        # these modes come before the text, and would move it
        parts.append(EARLY_MODES.sub("", state).encode())
        if self.title:
            parts.append(f"\x1b]0;{self.title}\x1b\\".encode())
        if self.has_mode(ORIGIN_MODE):
            region = REGION.search(state)
            row, column = self.cursor
            row -= int(region[1]) - 1 if region else 0
            parts.append(f"\x1b[?{ORIGIN_MODE}h\x1b[{row + 1};{column + 1}H".encode())
        return b"".join(parts)

    def resize(self, columns: int, lines: int) -> None:
        self._terminal.resize(columns, lines)
        self.columns, self.lines = columns, lines

    def close(self) -> None:
        self._terminal.close()

    def _render_primary(self) -> bytes:
        """Return the bytes that reset a terminal and show the history in it."""
        past = min(self._get_int("scrollback_rows"), SNAPSHOT_LINES)
        if not past:
            return RESET
        total = self._get_int("scrollback_rows")
        lines = self._format(self._selection("history", total - past, total - 1))
        # blank lines at the end are left out
        missing = past - 1 - lines.count("\r\n")
        text = lines.encode() + b"\x1b[m\r\n" + b"\r\n" * missing
        return b"".join((RESET, text, scroll_into_history(past, self.lines), b"\x1b[H"))

    def _render_first_screen(self) -> bytes:
        """Return the bytes that show the first screen, before the program turns to the second one."""
        content = self._format(self._selection("active", 0, self.lines - 1), extras=("cursor",))
        return self._render_primary() + content.encode() + b"\x1b[m"

    def _selection(self, area: str, first: int, last: int) -> Any:
        selection = init_sized("GhosttySelection")
        selection.start = self._terminal.ref(0, first, area)[0]
        selection.end = self._terminal.ref(self.columns - 1, last, area)[0]
        return selection

    def _format(self, selection: Any, *, is_plain: bool = False, extras: Sequence[str] = ()) -> str:
        """Return the text of a selection, with styles or plain, and with parts of the state of the terminal."""
        options = init_sized("GhosttyFormatterTerminalOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN if is_plain else lib.GHOSTTY_FORMATTER_FORMAT_VT
        options.trim = True
        options.selection = selection
        for name in extras:
            setattr(options.extra.screen if name in SCREEN_PARTS else options.extra, name, True)
        formatter = ffi.new("GhosttyFormatter*")
        check(lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, self._terminal._t[0], options[0]), "formatter")

        def write(buffer: Any, size: int, written: Any) -> Any:
            return lib.ghostty_formatter_format_buf(formatter[0], buffer, size, written)

        try:
            return read_buf(write)
        finally:
            lib.ghostty_formatter_free(formatter[0])

    def _get_int(self, name: str) -> int:
        return int(self._terminal.get(name, "int" if name == "active_screen" else "size_t"))

    def _set(self, name: str, value: int) -> None:
        option = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{name}")
        check(lib.ghostty_terminal_set(self._terminal._t[0], option, ffi.new("size_t*", value)), name)
