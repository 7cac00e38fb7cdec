"""Events that a program signals to its terminal: titles, states, links and the address of a login, as clean texts.

A status report (Program Status Protocol) looks as follows.

    ESC ] 7501 ; state=blocked:app=claude:id=main:kind=permission:msg=<base64> ESC \\

A program asks with `ESC ] 7501 ; ? ESC \\` whether the terminal knows the protocol, and the terminal answers the same.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

MAX_TITLE_CHARACTERS = 512
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Categories of characters that are removed: control characters, marks of the writing direction, halves of pairs."""


def clean_text(text: str, limit: int = MAX_TITLE_CHARACTERS) -> str:
    """Return a text without control characters and marks of the writing direction, with at most `limit` characters."""
    shown = "".join(c for c in text[: limit * 2] if c == "\u200d" or unicodedata.category(c) not in HIDDEN_CATEGORIES)
    return shown[:limit].strip()


def has_control_characters(text: str) -> bool:
    """Return whether a text contains control characters."""
    return any(unicodedata.category(character) == "Cc" for character in text)


COMMAND = 7501
QUERY = "?"
MAX_REPORT_BYTES = 4096
MAX_MESSAGE_BYTES = 2048
MAX_APP_CHARACTERS = 32
MAX_RECORDS = 256
ReportedState = Literal["idle", "working", "blocked", "done", "error", "clear"]
STATES = frozenset[str](get_args(ReportedState))


@dataclass(frozen=True, slots=True)
class StatusReport:
    """One report of a program. The texts are not trusted, but they are clean.

    Attributes:
        state: What the program does.
        app: The name of the program.
        id: The part of the program that reports, such as `main/subagent`.
        kind: What it waits for if it is `blocked`: `permission`, `question`, `auth`, or another word.
        progress: The progress in percent, or None.
        title: A short name of the work.
        message: What it says about its state, such as the text of its question.
    """

    state: ReportedState
    app: str = ""
    id: str = ""
    kind: str = ""
    progress: int | None = None
    title: str = ""
    message: str = ""


def parse_report(payload: str) -> StatusReport | None:
    """Return the report in the text after `7501;`, or None if it is none."""
    if len(payload) > MAX_REPORT_BYTES:
        return None
    fields = dict(_split_fields(payload))
    state = fields.get("state", "")
    if state not in STATES:
        return None
    progress = fields.get("progress", "")
    return StatusReport(
        state=state,  # pyright: ignore[reportArgumentType] - it is one of the states
        app=clean_text(fields.get("app", ""), MAX_APP_CHARACTERS),
        id=clean_text(fields.get("id", ""), MAX_MESSAGE_BYTES),
        kind=clean_text(fields.get("kind", ""), MAX_APP_CHARACTERS),
        progress=min(100, int(progress)) if progress.isascii() and progress.isdecimal() and len(progress) < 4 else None,
        title=_decode(fields.get("title", "")),
        message=_decode(fields.get("msg", "")),
    )


class StatusRecords:
    """The last report of each part of a program."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, str], StatusReport] = {}

    def add(self, report: StatusReport) -> None:
        """Replace the record of the same part. `clear` removes it, and that of all parts if it names none."""
        key = (report.app, report.id)
        if report.state == "clear":
            if report.id:
                self._reports.pop(key, None)
            else:
                self._reports.clear()
        elif key in self._reports or len(self._reports) < MAX_RECORDS:
            # the newest one is the last
            self._reports.pop(key, None)
            self._reports[key] = report

    def clear(self) -> None:
        """Remove all records, because the program has ended."""
        self._reports.clear()

    @property
    def reports(self) -> list[StatusReport]:
        """The records, the newest one last."""
        return list(self._reports.values())


def _split_fields(payload: str) -> Iterator[tuple[str, str]]:
    for part in payload.split(":"):
        name, separator, value = part.partition("=")
        if separator:
            yield name, value


def _decode(encoded: str) -> str:
    """Return a text in base64. One that is wrong, too long or has control characters is left out: the state counts."""
    try:
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        text = data.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return "" if len(data) > MAX_MESSAGE_BYTES or has_control_characters(text) else clean_text(text, MAX_MESSAGE_BYTES)


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


URL = re.compile(r"https?://[^\s\"'<>`│┃║|\x00-\x1f]+")
RAW_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
LOGIN_WORD = re.compile(
    r"oauth|authoriz|authenticat|/auth|login|log-in|sign-?in|/device|activate|client_id=|user_code=|code_challenge=",
    re.IGNORECASE,
)
BORDERS = " \t│┃║|"
MAX_MARGIN = 3
"""Number of blank columns at the right of a row that is full. Frames and padding are there."""


def find_login_url(rows: Sequence[str], columns: int, links: Iterable[str] = (), raw: bytes = b"") -> str:
    """Return the address of a login that a program shows, or an empty text.

    The targets of links are complete, so they come first. Else rows that fill the width are joined, and at last the
    bytes of the output are read, where a program wrote the address in one piece.

    Args:
        rows: The visible rows of the screen.
        columns: The width of the screen.
        links: The targets of the links that the program printed, the newest one last.
        raw: The newest output of the program.
    """
    for url in reversed([*links]):
        if LOGIN_WORD.search(url):
            return url
    shown = [url for url in _find_urls(join_full_rows(rows, columns)) if LOGIN_WORD.search(url)]
    text = RAW_SEQUENCE.sub(b"", raw).decode("utf-8", "replace")
    printed = [url for url in _find_urls(text) if LOGIN_WORD.search(url)]
    if not shown:
        return printed[-1] if printed else ""
    # the output can have more of the address than the rows, but an older address is not wanted
    return next((url for url in reversed(printed) if url.startswith(shown[-1])), shown[-1])


def join_full_rows(rows: Sequence[str], columns: int) -> str:
    """Return the text of rows. A row that fills the width is continued by the next one, without indent and frame."""
    parts: list[str] = []
    is_full = False
    for row in rows:
        text = row.strip(BORDERS)
        parts.append(text if is_full or not parts else f"\n{text}")
        is_full = bool(text) and len(row.rstrip(BORDERS)) >= columns - MAX_MARGIN
    return "".join(parts)


def _find_urls(text: str) -> Iterator[str]:
    for match in URL.finditer(text):
        yield match[0].rstrip(".,;:)]}")
