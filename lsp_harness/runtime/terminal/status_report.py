"""Reports of programs about their state: the Program Status Protocol (OSC 7501).

    ESC ] 7501 ; state=blocked:app=claude:id=main:kind=permission:msg=<base64> ESC \\

A program asks with `ESC ] 7501 ; ? ESC \\` whether the terminal knows the protocol, and the terminal answers the same.
"""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from lsp_harness.runtime.terminal.untrusted_text import clean_text, has_control_characters

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
        app: Its name.
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
