"""What commands print: text or tables for people, one JSON value for programs."""

import codecs
import io
import json
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 200
"""Columns where there is no terminal: nobody sees them, and a program that cuts them wants whole words."""
ASCII = "lsp-harness-ascii"
"""The name under which Python knows how we write what an encoding lacks."""
SIGNS = {
    **dict(
        zip(
            "✓✗–—⏎·→←×│─━‘’≤≥≈•",
            ["ok", "x", "-", "-", "|", "-", "->", "<-", "x", "|", "-", "-", "'", "'", "<=", ">=", "~", "*"],
            strict=True,
        )
    ),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("╭╮╰╯├┤┬┴┼┌┐└┘╷╵╸╺╇╈┡┩┏┓┗┛┃┳┻╋", "+"),
    "…": "...",
}
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]


def positive(_: object, value: int) -> None:
    """Refuse a number below 1, as the validator of a parameter."""
    if value < 1:
        raise ValueError(f"must be 1 or more, not {value}")


CONTROLS = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What changes a terminal instead of being shown: control characters, but for line ends and tabs, and changes of direction."""


def printable(text: str) -> str:
    """The text with `\\u001b` in place of what a terminal would obey. File names and code may hold anything."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def console(width: int = WIDTH) -> "Console":
    """A console for tables, `width` columns wide if the output is no terminal."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class PrintableConsole(Console):
        """A console whose contents cannot control the terminal; its own colours can."""

        def render_str(self, text: str, **keywords: Any) -> Text:
            # before the widths of columns are measured
            return super().render_str(printable(text), **keywords)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else printable(text), style, control)

    terminal = PrintableConsole(highlight=False, soft_wrap=True, emoji=False)
    if terminal.is_terminal:
        return terminal
    return PrintableConsole(highlight=False, soft_wrap=True, emoji=False, width=width)


def say(text: str = "") -> None:
    """Print a text as it is: it may be code, in which rich would expand tabs and replace `:key:` by pictures."""
    sys.stdout.write(f"{shown(text, sys.stdout)}\n")


def warn(sentence: str) -> None:
    """Print a sentence for people on standard error, if that can be written."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"lsp-harness: {shown(sentence, sys.stderr)}\n")


def as_json(value: Any) -> None:
    say(json.dumps(value, indent=2, ensure_ascii=not _unicode(sys.stdout)))


def as_line(value: Any) -> None:
    """One line of JSON, at once: whoever reads along waits for it."""
    say(json.dumps(value, ensure_ascii=not _unicode(sys.stdout)))
    sys.stdout.flush()


def shown(text: str, stream: TextIO) -> str:
    """The text as a stream can show it.

    Signs that the encoding lacks become ASCII, other characters `?`. On a terminal, control characters are escaped; a program
    that reads the stream gets them as they are.
    """
    encoding = stream.encoding or "utf-8"
    return (printable(text) if stream.isatty() else text).encode(encoding, ASCII).decode(encoding)


def mark(sign: str) -> str:
    """A sign, or what stands for it where standard output cannot show it."""
    return shown(sign, sys.stdout)


def can_show_anything() -> None:
    """Let no character end a command: what a stream cannot show is written in ASCII."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII)


def _unicode(stream: TextIO) -> bool:
    try:
        return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf")
    except LookupError:
        return False


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(SIGNS.get(character, "?") for character in lacking), error.end


codecs.register_error(ASCII, _in_ascii)
