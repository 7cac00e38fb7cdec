"""The append-only record of a session: `<state>/sessions/<ulid>/events.jsonl`, with one writer.

Readers receive an event only after it is on disk. All listeners receive the same stream of events.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from ulid import ULID

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import open_regular
from lsp_harness.disk.file_writing import open_for_append, write_all
from lsp_harness.files.secrets import redact
from lsp_harness.session.events.code_events import StateEntered
from lsp_harness.session.events.event_codec import encode_event
from lsp_harness.session.events.event_types import SessionEvent
from lsp_harness.session.summary import Summary
from lsp_harness.wire.event import Event, decode, encode

Listener = Callable[[Event], None]
MAX_TURNS = 64
"""Number of the last turns whose events stay in memory."""
MAX_LINE_BYTES = 64_000_000
"""Bytes of a line that are read at once. No event is that long."""


class SessionLog:
    """The file with all events of one session, which is written event by event.

    The first event creates its folder, so a session without events leaves nothing on disk.

    Attributes:
        id: The name of the session, a ULID.
        summary: The summary of all events that are saved.
        listeners: Functions that receive each event.
        turns: The number of each of the last turns → its events, for readers without the file.
    """

    def __init__(self, folder: Path | None = None, *, is_saved: bool = True) -> None:
        """Create the log of a new session.

        Args:
            folder: The folder of all sessions. The default is in the state folder of the user.
            is_saved: Whether events are written to disk. Listeners receive them in any case.
        """
        self.id = str(ULID())
        self.summary = Summary()
        self.listeners: list[Listener] = []
        self.turns: OrderedDict[int, list[Event]] = OrderedDict()
        self._folder = folder
        self._is_saved = is_saved
        self._descriptor: int | None = None
        self._seq = 0
        self._turn = -1
        self._unsaved_turns: set[int] = set()
        self._may_end_within_line = False

    @property
    def path(self) -> Path:
        """The path of the log, whether it exists or not."""
        return (self._folder or paths.state_folder() / "sessions") / self.id / "events.jsonl"

    def turn(self, *, is_saved: bool = True) -> "Turn":
        """Begin the next turn. The events of a turn that is not saved reach the listeners, but never the disk."""
        self._turn += 1
        if not is_saved:
            self._unsaved_turns.add(self._turn)
        self.turns[self._turn] = []
        while len(self.turns) > MAX_TURNS:
            self.turns.popitem(last=False)
        return Turn(self, self._turn)

    def append(
        self, event: SessionEvent, *, turn: int | None = None, step: str | None = None, cause: str | None = None
    ) -> Event:
        """Append an event and call the listeners.

        Args:
            event: The event. Secrets in its texts are replaced.
            turn: The number of its turn. An event without a turn is saved only if the session had a turn before.
            step: The state that the turn is in, such as GENERATE.
            cause: The id of the event that began the turn.

        Returns:
            The event in its envelope.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        type, data = encode_event(event)
        envelope = Event(str(ULID()), self._seq, now, self.id, turn, step, cause, type, _redact(data))
        if turn not in self._unsaved_turns and (turn is not None or self._seq):
            if self._is_saved:
                self._write(envelope)
            self._seq += 1
            self.summary = self.summary.with_event(envelope)
        if turn in self.turns:
            self.turns[turn].append(envelope)
        for listener in list(self.listeners):
            listener(envelope)
        return envelope

    def close(self) -> None:
        """Close the file. A later event opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, event: Event) -> None:
        """Append a line. If the disk is full or the folder cannot be written, the session continues without it."""
        line = (encode(event) + "\n").encode("utf-8", "replace")
        path = self.path
        try:
            if self._descriptor is None:
                path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
                self._descriptor = open_for_append(path)
            # a line that the last write did not finish becomes a line of its own, which readers leave out
            write_all(self._descriptor, b"\n" * self._may_end_within_line + line)
            self._may_end_within_line = False
        except OSError as error:
            self._may_end_within_line = self._descriptor is not None
            paths.warn_not_saved("what happens in this session", paths.STATE, path, error)


class Turn:
    """One request of the user and its events.

    Attributes:
        number: The number of the turn in its session, from 0.
        step: The state that the turn is in, or None before the first state.
        cause: The id of the first event, which is the cause of the others.
    """

    def __init__(self, log: SessionLog, number: int) -> None:
        self._log = log
        self.number = number
        self.step: str | None = None
        self.cause: str | None = None

    def append(self, event: SessionEvent) -> Event:
        """Append an event of this turn and return it in its envelope."""
        if isinstance(event, StateEntered):
            self.step = event.state
        envelope = self._log.append(event, turn=self.number, step=self.step, cause=self.cause)
        self.cause = self.cause or envelope.id
        return envelope


def _redact(value: Any) -> Any:
    """Return the same data with an ellipsis for each secret in its texts and keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {redact(str(key)): _redact(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_redact(item) for item in cast("list[Any]", value)]
    return value


def read_log(path: Path) -> "LogReader":
    """Return the events of a log on disk. Lines that are no events are left out."""
    return LogReader(path)


class LogReader:
    """The events of a log on disk, to be read once.

    Attributes:
        skipped_lines: The number of lines that were left out until now. A full disk or a crash cut them off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.skipped_lines = 0

    def __iter__(self) -> Iterator[Event]:
        """Read the events.

        Raises:
            FileMissing: There is no such log.
            FileError: The log cannot be read.
        """
        with open_regular(self._path) as lines:
            while line := lines.readline(MAX_LINE_BYTES):
                # a last line without its end is still being written, or was cut off
                event = _decode_line(line) if line.endswith(b"\n") else None
                if event:
                    yield event
                elif line.strip():
                    self.skipped_lines += 1

    @property
    def warning(self) -> str:
        """A sentence that says that lines were left out, or an empty text."""
        lines = "1 line was" if self.skipped_lines == 1 else f"{self.skipped_lines} lines were"
        return f"{lines} left out of {self._path}: cut off by a full disk or a crash" if self.skipped_lines else ""


def _decode_line(line: bytes) -> Event | None:
    try:
        return decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
