"""The emulator in Python, which works on every system: a parser of sequences in front of a grid of cells.

The parser of pyte raises for some sequences of today's programs, and prints the rest of others. So the sequences are
parsed here, and pyte only moves cells.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from itertools import islice

from pyte import modes

from lsp_harness.runtime.terminal.grid_edits import character_width
from lsp_harness.runtime.terminal.grid_snapshot import render_grid
from lsp_harness.runtime.terminal.plain_lines import skip_plain_lines
from lsp_harness.runtime.terminal.text_grid import TextGrid

TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<prefix>[<-?]?)(?P<parameters>[0-?\x00-\x17\x19\x1c-\x1f]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    # a sequence that was cancelled
    r"|\x1b\[[0-?\x00-\x17\x19\x1c-\x1f]*[ -/]*[\x18\x1a]"
    r"|\x1b\](?P<command>[^\x07\x18\x1a\x1b]*)(?:\x07|\x1b\\|[\x18\x1a])?"
    r"|\x1b[PX^_][^\x18\x1a\x1b]*(?:\x1b\\|[\x18\x1a])?"
    r"|\x1b(?P<middle>[ -/]*)(?P<escape>[0-~])"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
MAX_PARAMETER = 9999
MAX_REPEAT = 4096
ALTERNATE_MODES = frozenset({47, 1047, 1049})
SHOW_CURSOR, REVERSE_SCREEN, WIDE_COLUMNS = 25, 5, 3
PYTE_PRIVATE_MODES = frozenset(mode >> 5 for mode in (modes.DECAWM, modes.DECOM, modes.DECSCNM, modes.DECTCEM))
PLAIN_COLORS = frozenset({38, 48})
UNDERLINE_COLOR = 58


class PyteScreen:
    """A screen of the library pyte. See `Screen`."""

    def __init__(self, columns: int, lines: int) -> None:
        self._grid = grid = TextGrid(columns, lines)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last_text = ""
        self._controls: dict[str, Callable[[], None]] = {
            "\b": grid.cursor_back,
            "\t": grid.tab,
            "\n": grid.linefeed,
            "\v": grid.linefeed,
            "\f": grid.linefeed,
            "\r": grid.carriage_return,
            "\x0e": grid.shift_out,
            "\x0f": grid.shift_in,
        }
        self._escapes: dict[str, Callable[[], None]] = {
            "c": self._reset,
            "D": grid.index,
            "E": self._next_line,
            "M": grid.reverse_index,
            "H": grid.set_tab_stop,
            "7": grid.save_cursor,
            "8": grid.restore_cursor,
        }
        self._sequences: dict[str, Callable[[list[int]], None]] = {
            "@": lambda p: grid.insert_characters(p[0]),
            "A": lambda p: grid.cursor_up(p[0]),
            "B": lambda p: grid.cursor_down(p[0]),
            "e": lambda p: grid.cursor_down(p[0]),
            "C": lambda p: grid.cursor_forward(p[0]),
            "a": lambda p: grid.cursor_forward(p[0]),
            "D": lambda p: grid.cursor_back(p[0]),
            "E": lambda p: grid.cursor_down1(p[0]),
            "F": lambda p: grid.cursor_up1(p[0]),
            "G": lambda p: grid.cursor_to_column(p[0]),
            "`": lambda p: grid.cursor_to_column(p[0]),
            "H": lambda p: grid.cursor_position(p[0], (*p, 0)[1]),
            "f": lambda p: grid.cursor_position(p[0], (*p, 0)[1]),
            "J": lambda p: grid.erase_in_display(p[0]),
            "K": lambda p: grid.erase_in_line(p[0]),
            "L": lambda p: grid.insert_lines(p[0]),
            "M": lambda p: grid.delete_lines(p[0]),
            "P": lambda p: grid.delete_characters(p[0]),
            "S": lambda p: grid.scroll(p[0] or 1),
            "T": lambda p: grid.scroll_down(p[0] or 1),
            "X": lambda p: grid.erase_characters(p[0]),
            "d": lambda p: grid.cursor_to_line(p[0]),
            "g": lambda p: grid.clear_tab_stop(p[0]),
            "r": self._set_margins,
            "I": self._tab_forward,
            "Z": self._tab_back,
            "b": self._repeat,
            "s": lambda _: grid.save_cursor(),
            "u": lambda _: grid.restore_cursor(),
            "h": lambda p: self._set_plain_modes(p, is_on=True),
            "l": lambda p: self._set_plain_modes(p, is_on=False),
        }

    @property
    def columns(self) -> int:
        return self._grid.columns

    @property
    def lines(self) -> int:
        return self._grid.lines

    @property
    def title(self) -> str:
        return self._grid.title

    @property
    def cursor(self) -> tuple[int, int]:
        return self._grid.cursor.y, min(self._grid.cursor.x, self._grid.columns - 1)

    @property
    def is_alternate(self) -> bool:
        return self._grid.is_alternate

    def has_mode(self, mode: int) -> bool:
        return mode in self._grid.unknown_modes or mode << 5 in self._grid.mode

    def feed(self, data: bytes) -> None:
        for match in TOKEN.finditer(skip_plain_lines(self._grid, self._decoder.decode(data))):
            match match.lastgroup:
                case "text":
                    self._grid.draw(text := match["text"])
                    self._last_text = text[-16:]
                case "final":
                    self._control_sequence(match)
                case "control":
                    self._control(match["control"])
                case "escape":
                    self._escape(match["middle"], match["escape"])
                case "command":
                    number, _, payload = match["command"].partition(";")
                    if number in ("0", "2"):
                        self._grid.set_title(payload)
                case _:
                    pass

    def rows(self) -> list[str]:
        grid = self._grid
        return [grid.row_text(grid.buffer[y]) if y in grid.buffer else "" for y in range(grid.lines)]

    def backgrounds(self, row: int) -> list[str]:
        cells = self._grid.buffer[row]
        found = [cells[column] for column in range(self.columns)]
        return [cell.fg if cell.reverse else cell.bg for cell in found]

    def history(self, count: int) -> Sequence[str]:
        lines = self._grid.past_lines
        return list(islice(lines, max(0, len(lines) - count), None))

    def snapshot(self) -> bytes:
        return render_grid(self._grid)

    def resize(self, columns: int, lines: int) -> None:
        self._grid.resize(lines, columns)

    def close(self) -> None:
        self._grid = TextGrid(1, 1)

    def _control(self, control: str) -> None:
        if act := self._controls.get(control):
            if control == "\b":
                self._grid.settle_cursor()
            act()

    def _escape(self, middle: str, final: str) -> None:
        if not middle:
            if act := self._escapes.get(final):
                act()
        elif middle in ("(", ")"):
            self._grid.define_charset(final, middle)
        elif middle == "#" and final == "8":
            self._grid.alignment_display()

    def _next_line(self) -> None:
        self._grid.index()
        self._grid.carriage_return()

    def _control_sequence(self, match: "re.Match[str]") -> None:
        text, final = match["parameters"], match["final"]
        if not text.isprintable():
            # control characters in a sequence take effect before it
            for control in [character for character in text if not character.isprintable()]:
                self._control(control)
            text = "".join(character for character in text if character.isprintable())
        if match["between"]:
            if match["between"] == "!" and final == "p":
                self._soft_reset()
        elif not match["prefix"]:
            if final == "m":
                self._grid.select_graphic_rendition(*style_parameters(text))
            elif act := self._sequences.get(final):
                if final not in "hlsub":
                    self._grid.settle_cursor()
                act(parse_parameters(text))
        elif match["prefix"] == "?" and final in "hl":
            for mode in parse_parameters(text):
                self._set_private_mode(mode, is_on=final == "h")
        elif match["prefix"] == "?" and final in "JK":
            self._sequences[final](parse_parameters(text))

    def _soft_reset(self) -> None:
        grid = self._grid
        grid.reset_mode(modes.IRM)
        grid.margins = None
        grid.select_graphic_rendition(0)
        for mode, is_on in ((SHOW_CURSOR, True), (modes.DECAWM >> 5, True)):
            self._set_private_mode(mode, is_on=is_on)
        grid.mode.discard(modes.DECOM)

    def _set_margins(self, parameters: list[int]) -> None:
        top, bottom = (*parameters, 0)[:2]
        grid = self._grid
        top, bottom = top or 1, min(bottom or grid.lines, grid.lines)
        if top >= bottom:
            return
        grid.margins = None
        if (top, bottom) != (1, grid.lines):
            grid.set_margins(top, bottom)
        grid.cursor_position()

    def _tab_forward(self, parameters: list[int]) -> None:
        for _ in range(min(parameters[0] or 1, self._grid.columns)):
            self._grid.tab()

    def _tab_back(self, parameters: list[int]) -> None:
        cursor = self._grid.cursor
        for _ in range(min(parameters[0] or 1, self._grid.columns)):
            cursor.x = max((stop for stop in set[int](self._grid.tabstops) if stop < cursor.x), default=0)

    def _repeat(self, parameters: list[int]) -> None:
        drawn = [character for character in self._last_text if character_width(character) > 0]
        if drawn:
            self._grid.draw(drawn[-1] * min(parameters[0] or 1, MAX_REPEAT))

    def _turn_screen(self, *, is_on: bool, saves_cursor: bool) -> None:
        grid = self._grid
        if is_on:
            if saves_cursor:
                grid.save_cursor()
            grid.enter_alternate()
        else:
            grid.leave_alternate()
            if saves_cursor:
                grid.restore_cursor()

    def _reset(self) -> None:
        self._grid.reset()
        self._last_text = ""

    def _set_plain_modes(self, parameters: list[int], *, is_on: bool) -> None:
        known = [mode for mode in parameters if mode in (modes.IRM, modes.LNM)]
        if is_on:
            self._grid.set_mode(*known)
        else:
            self._grid.reset_mode(*known)

    def _set_private_mode(self, mode: int, *, is_on: bool) -> None:
        grid = self._grid
        if mode in PYTE_PRIVATE_MODES:
            if is_on:
                grid.set_mode(mode, private=True)
            else:
                grid.reset_mode(mode, private=True)
        elif mode in ALTERNATE_MODES:
            self._turn_screen(is_on=is_on, saves_cursor=mode == 1049)
        elif mode == 1048:
            (grid.save_cursor if is_on else grid.restore_cursor)()
        elif is_on:
            grid.unknown_modes.add(mode)
        else:
            grid.unknown_modes.discard(mode)


def parse_parameters(text: str) -> list[int]:
    """Return the numbers of a control sequence, at least one. A missing number is 0."""
    parts = text.replace(":", ";").split(";")
    return [min(int(part), MAX_PARAMETER) if part.isascii() and part.isdecimal() else 0 for part in parts[:32]]


def style_parameters(text: str) -> list[int]:
    """Return the numbers of a style in the form that pyte knows.

    Parts with colons are one attribute (`4:3` is a curly underline), and pyte knows no color of underlines.
    """
    numbers: list[int] = []
    parts = text.split(";")[:64]
    while parts:
        part = parts.pop(0)
        if ":" in part:
            numbers += _colon_attribute([int(n) if n.isdecimal() else 0 for n in part.split(":")[:8]])
        elif part == str(UNDERLINE_COLOR):
            count = {"5": 2, "2": 4}.get(parts[0] if parts else "", 0)
            del parts[:count]
        else:
            numbers.append(min(int(part), MAX_PARAMETER) if part.isascii() and part.isdecimal() else 0)
    return numbers


def _colon_attribute(numbers: list[int]) -> list[int]:
    if numbers[0] in PLAIN_COLORS:
        # the color space before the three colors is optional
        return [*numbers[:2], *numbers[-3:]] if numbers[1] == 2 else numbers[:3]
    if numbers[0] == 4:
        return [4] if numbers[1] else [24]
    return []
