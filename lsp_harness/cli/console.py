"""Output of commands: text or tables for people, one JSON value for programs, and warnings and progress beside it."""

import codecs
import io
import json
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from lsp_harness.text.visible_text import escape_controls

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_WIDTH = 200
"""Columns of a table if the output is no terminal. A program that splits the columns needs uncut words."""
ASCII_FALLBACK = "lsp-harness-ascii"
"""The name of the error handler that replaces the characters that an encoding lacks."""
ASCII_SIGNS = {
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
JsonOption = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of text.")]


def require_positive(_: object, value: int) -> None:
    """Raise ValueError for a number below 1. This is a validator of parameters."""
    if value < 1:
        raise ValueError(f"must be 1 or more, not {value}")


def console(width: int = DEFAULT_WIDTH) -> "Console":
    """Return a console for tables, which is `width` columns wide if the output is no terminal."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

    class PrintableConsole(Console):
        """A console whose contents cannot control the terminal; its own colours can."""

        def render_str(self, text: str, **keywords: Any) -> Text:
            # rich measures the widths of columns after this
            return super().render_str(escape_controls(text), **keywords)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            if isinstance(renderable, Table):
                for column in renderable.columns:
                    # what is cut cannot be copied
                    column.overflow = "fold"
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else escape_controls(text), style, control)

    terminal = PrintableConsole(highlight=False, soft_wrap=True, emoji=False)
    if terminal.is_terminal:
        return terminal
    return PrintableConsole(highlight=False, soft_wrap=True, emoji=False, width=width)


def say(text: str = "") -> None:
    """Print a text as it is. It may be code, in which rich would expand tabs and replace `:key:` by pictures."""
    sys.stdout.write(f"{make_encodable(text, sys.stdout)}\n")


def warn(sentence: str) -> None:
    """Print a sentence for people on standard error, if standard error can be written."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"lsp-harness: {make_encodable(sentence, sys.stderr)}\n")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    say(json.dumps(value, indent=2, ensure_ascii=not _is_unicode(sys.stdout)))


def print_json_line(value: Any) -> None:
    """Print one line of JSON at once, because another program waits for it."""
    say(json.dumps(value, ensure_ascii=not _is_unicode(sys.stdout)))
    sys.stdout.flush()


def make_encodable(text: str, stream: TextIO) -> str:
    """Return the text with only the characters that a stream can show.

    A sign that the encoding lacks becomes ASCII, and another character becomes `?`. Control characters are escaped on a
    terminal. A program that reads the stream gets them unchanged.
    """
    encoding = stream.encoding or "utf-8"
    return (escape_controls(text) if stream.isatty() else text).encode(encoding, ASCII_FALLBACK).decode(encoding)


def make_encodable_mark(sign: str) -> str:
    """Return a sign, or its replacement if standard output cannot show it."""
    return make_encodable(sign, sys.stdout)


def replace_unencodable() -> None:
    """Replace the characters that standard output and error lack. Otherwise, such a character would end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII_FALLBACK)


def _is_unicode(stream: TextIO) -> bool:
    try:
        return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf")
    except LookupError:
        return False


def _replace_with_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(ASCII_SIGNS.get(character, "?") for character in missing), error.end


codecs.register_error(ASCII_FALLBACK, _replace_with_ascii)


class TerminalNotices:
    """Shows warnings as lines, and progress as a bar if standard error is a terminal."""

    def warn(self, sentence: str) -> None:
        warn(sentence)

    @contextmanager
    def progress(self, title: str) -> Generator[Callable[[int, int], None]]:
        """Show a bar until the context ends. It is called with the number of finished items and of all items."""
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(title, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)
