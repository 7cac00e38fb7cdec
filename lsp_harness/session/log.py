"""The append-only record of a session: `<state>/sessions/<ulid>/events.jsonl`, one writer.

Readers see an event only after it is on disk. Whoever listens (editor progress, later SSE and the SDK) gets the same
stream.
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
from lsp_harness.session.summary import Summary
from lsp_harness.wire.event import Event, decode, encode

Listener = Callable[[Event], None]
KEPT_TURNS = 64
LONGEST = 64_000_000
"""Bytes of a line that are read at once; no event is that long."""


class SessionLog:
    """One session. The directory is made with the first event, so a session in which nothing happens leaves nothing."""

    def __init__(self, folder: Path | None = None, *, keep: bool = True) -> None:
        self.id = str(ULID())
        self._keep = keep
        """Whether events are written; those who listen hear them in any case."""
        self._folder = folder
        self._file: int | None = None
        self._seq = 0
        self._turn = -1
        self._torn = False
        """Whether the last write may have ended in the middle of a line."""
        self._unwritten: set[int] = set()
        self.summary = Summary()
        """Of what is kept so far."""
        self.listeners: list[Listener] = []
        self.turns: OrderedDict[int, list[Event]] = OrderedDict()
        """The events of the last turns, for those who want to read them without the file."""

    @property
    def path(self) -> Path:
        return (self._folder or paths.state_folder() / "sessions") / self.id / "events.jsonl"

    def turn(self, *, keep: bool = True) -> "Turn":
        """Open the next turn. What is not to be kept is heard and read as the others are, but never on disk."""
        self._turn += 1
        if not keep:
            self._unwritten.add(self._turn)
        self.turns[self._turn] = []
        while len(self.turns) > KEPT_TURNS:
            self.turns.popitem(last=False)
        return Turn(self, self._turn)

    def tell(self, kind: str, /, **data: Any) -> Event:
        """Append an event that is of no turn. It is heard in any case, and kept once the session has had a turn."""
        return self.append(kind, data, turn=None, step=None, cause=None)

    def append(
        self, kind: str, data: dict[str, Any], *, turn: int | None, step: str | None, cause: str | None
    ) -> Event:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(str(ULID()), self._seq, now, self.id, turn, step, cause, kind, _without_secrets(data))
        if turn not in self._unwritten and (turn is not None or self._seq):
            if self._keep:
                self._write(event)
            self._seq += 1
            self.summary = self.summary.after(event)
        if turn in self.turns:
            self.turns[turn].append(event)
        for listener in list(self.listeners):
            listener(event)
        return event

    def _write(self, event: Event) -> None:
        """Append a line. Where the disk is full or the folder cannot be written, the session goes on without it."""
        line = (encode(event) + "\n").encode("utf-8", "replace")
        path = self.path
        try:
            if self._file is None:
                path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
                self._file = open_for_append(path)
            # what the last write began without ending it is a line by itself, which readers leave out
            write_all(self._file, b"\n" * self._torn + line)
            self._torn = False
        except OSError as error:
            self._torn = self._file is not None
            paths.warn_not_saved("what happens in this session", paths.STATE, path, error)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Turn:
    """One ingress and what came of it. `step` is the state the driver is in."""

    def __init__(self, log: SessionLog, number: int) -> None:
        self._log = log
        self.number = number
        self.step: str | None = None
        self.cause: str | None = None

    def tell(self, kind: str, /, **data: Any) -> Event:
        """Append an event of this turn; the first is the cause of the rest."""
        event = self._log.append(kind, data, turn=self.number, step=self.step, cause=self.cause)
        self.cause = self.cause or event.id
        return event

    def enter(self, state: str, **data: Any) -> None:
        """The driver is now in `state`."""
        self.step = state
        self.tell("state.entered", state=state, **data)


def _without_secrets(value: Any) -> Any:
    """The same data, each secret in its texts and names replaced by an ellipsis."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {redact(str(key)): _without_secrets(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in cast("list[Any]", value)]
    return value


def read(path: Path) -> "Record":
    """The events of a log, without the lines that are none."""
    return Record(path)


class Record:
    """The events of a log on disk, read once. `torn` counts the lines that were left out because they are no events: a full
    disk or a crash cut them off."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.torn = 0

    def __iter__(self) -> Iterator[Event]:
        """Raises FileMissing or FileError."""
        with open_regular(self._path) as lines:
            while line := lines.readline(LONGEST):
                # a last line without its end is still being written, or was cut off
                event = _event(line) if line.endswith(b"\n") else None
                if event:
                    yield event
                elif line.strip():
                    self.torn += 1

    @property
    def said(self) -> str:
        """That lines were left out; empty where none were."""
        lines = "1 line was" if self.torn == 1 else f"{self.torn} lines were"
        return f"{lines} left out of {self._path}: cut off by a full disk or a crash" if self.torn else ""


def _event(line: bytes) -> Event | None:
    try:
        return decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
