"""Screens as coding agents draw them, for any width: own words around the few fragments that rules look for."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyte

LINES = 40
TALK = (
    "The function reads the file twice, so the second call could return the cached text instead of opening the file "
    "again. The tests for that module pass, and the coverage did not change."
)


@dataclass
class Drawing:
    """A screen that is drawn row by row.

    Attributes:
        columns: The width.
        rows: The rows so far.
        cursor: The row and the column of the cursor, if the agent puts it somewhere.
        title: The title of the terminal.
    """

    columns: int
    rows: list[str] = field(default_factory=list)
    cursor: tuple[int, int] | None = None
    title: str = ""

    def text(self, text: str, indent: str = "  ", first: str | None = None) -> "Drawing":
        """Add a paragraph that is wrapped at the width."""
        lines = textwrap.wrap(
            text, self.columns - 1, initial_indent=indent if first is None else first, subsequent_indent=indent
        )
        self.rows += lines or [""]
        return self

    def add(self, *rows: str) -> "Drawing":
        """Add rows. Each is cut at the width, as agents do with what does not fit."""
        self.rows += [row[: self.columns] for row in rows]
        return self

    def put_cursor(self, row: int, column: int) -> "Drawing":
        """Put the cursor into a row, counted from the last one if it is negative."""
        self.cursor = (row if row >= 0 else len(self.rows) + row, column)
        return self

    def render(self) -> bytes:
        """Return the output that draws the screen."""
        row, column = self.cursor or (min(len(self.rows), LINES - 1), 0)
        title = f"\x1b]0;{self.title}\x07" if self.title else ""
        drawn = "".join(f"\x1b[{number};1H\x1b[K{text}" for number, text in enumerate(self.rows, 1))
        return f"{title}\x1b[2J{drawn}\x1b[{row + 1};{column + 1}H".encode()


class PyteScreen:
    """The screen of a terminal emulator, as rules read it."""

    def __init__(self, columns: int, lines: int = LINES) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        """Show output."""
        self._stream.feed(data)

    def rows(self) -> list[str]:
        """Return the rows."""
        return [row.rstrip() for row in self._screen.display]

    def backgrounds(self, row: int) -> list[str]:
        """Return the backgrounds of a row."""
        return [self._screen.buffer[row][column].bg for column in range(self._screen.columns)]

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor."""
        return self._screen.cursor.y, self._screen.cursor.x

    @property
    def title(self) -> str:
        """The title."""
        return self._screen.title


def draw_box(columns: int, paragraphs: Sequence[str]) -> list[str]:
    """Return rows in a box with round corners."""
    inner = columns - 6
    lines = [line for text in paragraphs for line in (textwrap.wrap(text, inner - 1) or [""])]
    return [
        f" ╭{'─' * (inner + 2)}╮",
        *(f" │ {line.ljust(inner)} │" for line in lines),
        f" ╰{'─' * (inner + 2)}╯",
    ]


# ---- claude


def draw_claude_talk(columns: int, *answers: str, title: str = "✳ Claude Code") -> Drawing:
    """Return a conversation with Claude, without anything below it."""
    drawing = Drawing(columns, ["", " ▐▛███▛█   Claude Code", ""], title=title)
    for answer in answers or (TALK,):
        drawing.add("❯ look at the loader", "").text(answer, first="● ").add("")
    return drawing


def add_claude_composer(drawing: Drawing, footer: str, *, above: str = "", typed: str = "", hint: str = "") -> Drawing:
    """Add the composer of Claude."""
    if above:
        drawing.add(above)
    rule = "─" * drawing.columns
    drawing.add(rule, f"❯ {typed or hint}", rule, f"  {footer}")
    return drawing.put_cursor(-3, 2 + len(typed))


def add_claude_dialog(
    drawing: Drawing, body: Sequence[str], options: Sequence[str], hint: str, selected: int = 0
) -> Drawing:
    """Add a dialog of Claude in place of the composer."""
    drawing.add("─" * drawing.columns)
    for text in body:
        drawing.text(text, indent=" ")
    first = len(drawing.rows)
    for number, option in enumerate(options):
        is_numbered = option[:1].isdigit()
        mark = "❯" if number == selected else " "
        drawing.text(option, indent="      " if is_numbered else "   ", first=f" {mark} ")
    return drawing.add("", f" {hint}").put_cursor(first, 1)


# ---- codex


def draw_codex_talk(columns: int, *answers: str, title: str = "w") -> Drawing:
    """Return a conversation with Codex, without anything below it."""
    drawing = Drawing(columns, ["", "  >_ OpenAI Codex", "     ~/w", ""], title=title)
    for answer in answers or (TALK,):
        drawing.add("› look at the loader", "", "").text(answer, first="• ").add("")
    return drawing


def add_codex_composer(drawing: Drawing, *, status: str = "", typed: str = "") -> Drawing:
    """Add the composer of Codex."""
    drawing.add(*((status, "", "") if status else ("",)), f"› {typed or 'Ask Codex to do anything'}", "")
    return drawing.add("  model default · ~/w", "  ? for shortcuts").put_cursor(-4, 2 + len(typed))


def add_codex_dialog(
    drawing: Drawing, body: Sequence[str], options: Sequence[str], hint: str, selected: int = 0, mark: str = "›"
) -> Drawing:
    """Add a dialog of Codex in place of the composer."""
    for text in body:
        drawing.text(text).add("")
    first = len(drawing.rows)
    for number, option in enumerate(options):
        drawing.text(f"{number + 1}. {option}", indent="     ", first=f"{mark if number == selected else ' '} ")
    return drawing.add("", f"  {hint}").put_cursor(first, 2)


# ---- gemini


def draw_gemini_talk(columns: int, *answers: str, title: str = "◇  Ready (w)") -> Drawing:
    """Return a conversation with Gemini CLI, without anything below it."""
    drawing = Drawing(columns, ["", " ▝▜▄     Gemini CLI", ""], title=title)
    for answer in answers or (TALK,):
        drawing.add("▄" * columns, " > look at the loader", "▀" * columns).text(answer, first="✦ ").add("")
    return drawing


def add_gemini_composer(drawing: Drawing, *, status: str = "", typed: str = "") -> Drawing:
    """Add the composer of Gemini CLI."""
    drawing.add("", f" {status}", "─" * drawing.columns, " Shift+Tab to accept edits", "▄" * drawing.columns)
    drawing.add(f" > {typed or '  Type your message or @path/to/file'}", "▀" * drawing.columns)
    return drawing.add(" workspace (/directory)      sandbox", " ~/w      no sandbox").put_cursor(0, 0)


def add_gemini_dialog(drawing: Drawing, body: Sequence[str], options: Sequence[str], selected: int = 0) -> Drawing:
    """Add a dialog of Gemini CLI in place of the composer."""
    shown = [f"{'●' if number == selected else ' '} {number + 1}. {text}" for number, text in enumerate(options)]
    rows = draw_box(drawing.columns, ["", *body, ""])
    inner = drawing.columns - 6
    rows[-1:-1] = [f" │ {text.ljust(inner)} │" for text in [*shown, ""]]
    return drawing.add(*rows, "").put_cursor(-1, 0)


# ---- opencode


def draw_opencode_talk(columns: int, *answers: str) -> Drawing:
    """Return a conversation with opencode, without anything below it."""
    drawing = Drawing(columns, [], title="OC | look at the loader")
    for answer in answers or (TALK,):
        drawing.add("  ┃", "  ┃  look at the loader", "  ┃", "").text(answer, indent="     ").add(
            "", "     ▣  Build · m", ""
        )
    return drawing


def add_opencode_composer(drawing: Drawing, *, footer: str = "~/w", typed: str = "", hint: str = "") -> Drawing:
    """Add the composer of opencode."""
    drawing.add("  ┃", f"  ┃  {typed or hint}".rstrip(), "  ┃", "  ┃  Build · m", f"  ╹{'▀' * (drawing.columns - 4)}")
    keys = "tab agents  ctrl+p commands"
    return drawing.add(f"   {footer}".ljust(drawing.columns - len(keys) - 2) + keys).put_cursor(-5, 5 + len(typed))


def add_opencode_dialog(drawing: Drawing, body: Sequence[str], selected: int = -1) -> Drawing:
    """Add the question of opencode in place of the composer. The selected option has another background."""
    drawing.add("  ┃", "  ┃  △ Permission required", *(f"  ┃  {text}" for text in body), "  ┃", "  ┃")
    keys = "  ctrl+f fullscreen  ⇆ select  enter confirm"
    labels = ["Allow once", "Allow always", "Reject"]
    drawing.add(f"  ┃   {'   '.join(labels)}{keys}", "  ┃").put_cursor(-1, drawing.columns - 2)
    if selected >= 0:
        # after the row was cut, because colours are no columns
        label = labels[selected]
        drawing.rows[-2] = drawing.rows[-2].replace(f" {label} ", f"\x1b[48;2;245;167;66m {label} \x1b[m")
    return drawing
