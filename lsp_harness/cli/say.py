"""What commands print: text or tables for people, one JSON value for programs."""

import codecs
import io
import json
import sys
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


def console(width: int = WIDTH) -> "Console":
    """A console, `width` columns wide where there is no terminal."""
    from rich.console import Console

    terminal = Console(highlight=False, soft_wrap=True, emoji=False)
    return terminal if terminal.is_terminal else Console(highlight=False, soft_wrap=True, emoji=False, width=width)


def say(text: str = "") -> None:
    """As it is: what is shown may be code, in which rich would expand tabs and put pictures for `:key:`."""
    sys.stdout.write(f"{shown(text, sys.stdout)}\n")


def warn(sentence: str) -> None:
    """A line on standard error. Where nobody can read it, nothing is lost."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"lsp-harness: {shown(sentence, sys.stderr)}\n")


def as_json(value: Any) -> None:
    say(json.dumps(value, indent=2, ensure_ascii=not _unicode(sys.stdout)))


def as_line(value: Any) -> None:
    """One line of JSON, at once: whoever reads along waits for it."""
    say(json.dumps(value, ensure_ascii=not _unicode(sys.stdout)))
    sys.stdout.flush()


def shown(text: str, stream: TextIO) -> str:
    """The text as a stream can show it: signs that its encoding lacks in ASCII, other characters as `?`."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, ASCII).decode(encoding)


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
