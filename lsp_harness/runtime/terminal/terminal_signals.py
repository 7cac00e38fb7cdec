"""Events that a program signals to its terminal: titles, states and links."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from lsp_harness.runtime.terminal.status_report import COMMAND, StatusReport, parse_report
from lsp_harness.runtime.terminal.untrusted_text import clean_text

MAX_LINK_BYTES = 4096
LINK_SCHEME = re.compile(r"(https?|file|mailto|ftp)://?\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The program set the title of its window (OSC 0 or 2). It is not trusted, but it has no control characters."""

    title: str


@dataclass(frozen=True, slots=True)
class StatusReported:
    """The program reported its state (OSC 7501)."""

    report: StatusReport


@dataclass(frozen=True, slots=True)
class LinkShown:
    """The program began a text that is a link (OSC 8)."""

    url: str


@dataclass(frozen=True, slots=True)
class ScreenChanged:
    """The program printed something, and the screen has it. Several chunks of output are one such signal."""


@dataclass(frozen=True, slots=True)
class TerminalEnded:
    """The program and all its processes have ended, and all output was read.

    Attributes:
        exit_code: The exit status, or minus the number of the signal that ended it.
    """

    exit_code: int


TerminalSignal = TitleChanged | StatusReported | LinkShown | ScreenChanged | TerminalEnded
SignalListener = Callable[[TerminalSignal], None]


def read_signal(command: str) -> TitleChanged | StatusReported | LinkShown | None:
    """Return the signal in an operating system command, which is the text between `ESC ]` and its end."""
    number, _, payload = command.partition(";")
    match number:
        case "0" | "2":
            return TitleChanged(clean_text(payload))
        case "8":
            _, _, url = payload.partition(";")
            return LinkShown(url) if is_link(url) else None
        case _ if number == str(COMMAND):
            report = parse_report(payload)
            return StatusReported(report) if report else None
        case _:
            return None


def is_link(url: str) -> bool:
    """Return whether an address is one that can be shown to a user."""
    return len(url) <= MAX_LINK_BYTES and url.isprintable() and bool(LINK_SCHEME.fullmatch(url))
