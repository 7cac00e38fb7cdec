"""What commands print: text or tables for people, one JSON value for programs."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 200
"""Columns where there is no terminal: nobody sees them, and a program that cuts them wants whole words."""
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]


def console(width: int = WIDTH) -> "Console":
    """A console, `width` columns wide where there is no terminal."""
    from rich.console import Console

    terminal = Console(highlight=False, soft_wrap=True, emoji=False)
    return terminal if terminal.is_terminal else Console(highlight=False, soft_wrap=True, emoji=False, width=width)


def say(text: str = "") -> None:
    """As it is: what is shown may be code, in which rich would expand tabs and put pictures for `:key:`."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{text}\n".encode(encoding, "replace").decode(encoding))


def as_json(value: Any) -> None:
    say(json.dumps(value, indent=2, ensure_ascii=False))


def as_line(value: Any) -> None:
    """One line of JSON, at once: whoever reads along waits for it."""
    say(json.dumps(value, ensure_ascii=False))
    sys.stdout.flush()
