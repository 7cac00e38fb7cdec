"""The emulator of terminals: a parser of sequences in front of a grid of cells, and bytes that show the same again.

The parser of pyte raises for some sequences of today's programs, and prints the rest of others. So the sequences are
parsed here, and pyte only moves cells.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from pyte import charsets, graphics, modes
from pyte.screens import Char, Cursor

from lsp_harness.runtime.terminal.text_grid import Row, TextGrid, character_width, skip_plain_lines

SNAPSHOT_LINES = 1_000
"""Number of lines of a snapshot that scrolled out of sight."""
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
PLAIN = Char(" ")
ATTRIBUTE_CODES = {"bold": 1, "italics": 3, "underscore": 4, "blink": 5, "reverse": 7, "strikethrough": 9}
TEXT_COLORS = {name: code for code, name in (*graphics.FG_ANSI.items(), *graphics.FG_AIXTERM.items())}
BACK_COLORS = {name: code for code, name in (*graphics.BG_ANSI.items(), *graphics.BG_AIXTERM.items())}
DEFAULT_MODES = {modes.DECAWM: "\x1b[?7l", modes.DECTCEM: "\x1b[?25l"}
"""Modes that are on in a new terminal, and the sequences that turn them off."""
OTHER_MODES = {modes.IRM: "\x1b[4h", modes.LNM: "\x1b[20h", modes.DECSCNM: "\x1b[?5h", modes.DECOM: "\x1b[?6h"}
RESET = "\x1bc"


class Screen:
    """The emulated screen of a terminal."""

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
            "b": self._repeat_character,
            "s": lambda _: grid.save_cursor(),
            "u": lambda _: grid.restore_cursor(),
            "h": lambda p: self._set_plain_modes(p, is_on=True),
            "l": lambda p: self._set_plain_modes(p, is_on=False),
        }

    @property
    def columns(self) -> int:
        """The width of the screen in cells."""
        return self._grid.columns

    @property
    def lines(self) -> int:
        """The height of the screen in cells."""
        return self._grid.lines

    @property
    def title(self) -> str:
        """The title that the program set. It has no control characters."""
        return self._grid.title

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor, from 0 on."""
        return self._grid.cursor.y, min(self._grid.cursor.x, self._grid.columns - 1)

    @property
    def is_alternate(self) -> bool:
        """The program draws on the second screen, which has no history."""
        return self._grid.is_alternate

    def has_mode(self, mode: int) -> bool:
        """Return whether a private mode is on, such as bracketed paste (2004)."""
        return mode in self._grid.unknown_modes or mode << 5 in self._grid.mode

    def feed(self, data: bytes) -> None:
        """Show the next output. It must not end within a sequence or a character."""
        for match in TOKEN.finditer(skip_plain_lines(self._grid, self._decoder.decode(data))):
            match match.lastgroup:
                case "text":
                    self._grid.draw(text := match["text"])
                    self._last_text = text[-16:]
                case "final":
                    self._control_sequence(match)
                case "control":
                    self._handle_control(match["control"])
                case "escape":
                    self._escape(match["middle"], match["escape"])
                case "command":
                    number, _, payload = match["command"].partition(";")
                    if number in ("0", "2"):
                        self._grid.set_title(payload)
                case _:
                    pass

    def rows(self) -> list[str]:
        """Return the visible rows, without blanks at their ends."""
        grid = self._grid
        return [grid.row_text(grid.buffer[y]) if y in grid.buffer else "" for y in range(grid.lines)]

    def backgrounds(self, row: int) -> list[str]:
        """Return the background of each column of a row, to be compared with each other. A reversed cell has the
        colour of its text."""
        cells = self._grid.buffer[row]
        found = [cells[column] for column in range(self.columns)]
        return [cell.fg if cell.reverse else cell.bg for cell in found]

    def history(self, count: int) -> Sequence[str]:
        """Return the last lines that scrolled out of sight, at most `count`."""
        lines = self._grid.past_lines
        return list(islice(lines, max(0, len(lines) - count), None))

    def snapshot(self) -> bytes:
        """Return bytes that make a terminal of the same size show the same: text, styles, cursor and modes."""
        return render_grid(self._grid)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the screen."""
        self._grid.resize(lines, columns)

    def close(self) -> None:
        """Free the memory. The screen cannot be used afterwards."""
        self._grid = TextGrid(1, 1)

    def _handle_control(self, control: str) -> None:
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
                self._handle_control(control)
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

    def _repeat_character(self, parameters: list[int]) -> None:
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


def render_grid(grid: TextGrid) -> bytes:
    """Return the bytes that show the history, the cells, the cursor and the modes of a grid."""
    parts = [RESET]
    past = list(islice(grid.past_lines, max(0, len(grid.past_lines) - SNAPSHOT_LINES), None))
    if past:
        # a history line may be longer than a row after the terminal became narrower
        parts += [f"{line}\r\n" for line in past]
        parts += [_scroll_into_history(len(past), grid.lines).decode()]
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


def _scroll_into_history(lines: int, rows: int) -> bytes:
    """Return the bytes that make a terminal scroll lines out of sight which were just printed, each with its end.

    Args:
        lines: The number of the lines.
        rows: The height of the terminal.
    """
    return f"\x1b[{rows};1H".encode() + b"\n" * min(lines, rows - 1)
