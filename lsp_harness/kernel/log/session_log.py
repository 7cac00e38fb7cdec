"""The record of a session, `<sessions>/<ulid>/events.jsonl`: it only grows, and a lock makes one process its writer.

Readers receive an event only after it is on disk. All listeners receive the same stream of events.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_lock import FileLock, lock
from lsp_harness.disk.file_reading import read_start
from lsp_harness.disk.file_writing import open_for_append, write_all
from lsp_harness.disk.opening import NO_WAIT, READING
from lsp_harness.disk.renaming import sync_data
from lsp_harness.errors import FileError, UsageError
from lsp_harness.events.event_codec import encode_event, list_unsaved_keys
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.files.secrets import may_contain_secret, redact
from lsp_harness.kernel.log.log_reader import LOG_NAME
from lsp_harness.kernel.log.turn import Turn, current_turn
from lsp_harness.kernel.projections.session_state import SessionState
from lsp_harness.kernel.projections.summary import Summary
from lsp_harness.text.ulid import make_ulid
from lsp_harness.wire.event import Event, encode

LOCK_NAME = "lock"


class SessionLock:
    """The lock of one session. It is free again when the process ends, however it ends.

    Args:
        folder: The folder of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._lock = FileLock(self._path)

    def acquire(self) -> None:
        """Take the lock of the session, so that no other process writes its log.

        Raises:
            UsageError: Another process writes to the session.
            OSError: The lock cannot be created.
        """
        if self._lock.is_held:
            return
        try:
            descriptor = self._lock.acquire()
        except BlockingIOError:
            holder = self._describe_holder()
            raise UsageError(
                f"the session {self._path.parent.name} is open in {holder}; continue it there, or fork it"
            ) from None
        os.ftruncate(descriptor, 0)
        write_all(descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Give the lock of the session back."""
        self._lock.release()

    def _describe_holder(self) -> str:
        number = _read_holder(self._path)
        return f"the process {number}" if number else "another process"


def find_holder(folder: Path) -> int | None:
    """Return the number of the process that writes a session, 0 if it is unknown, or None if there is none."""
    path = folder / LOCK_NAME
    try:
        descriptor = os.open(path, READING | NO_WAIT)
    except OSError:
        return None
    try:
        lock(descriptor, is_shared=True)
    except BlockingIOError:
        return _read_holder(path)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


def _read_holder(path: Path) -> int:
    with suppress(FileError):
        if (number := read_start(path, 32).decode(errors="replace").strip()).isdecimal():
            return int(number)
    return 0


Listener = Callable[[Event], None]
ACCOMPANYING_TYPES = frozenset({"index.updated"})
"""Types of events that are only saved in a session that has events already."""
PRELUDE_TYPES = frozenset({"session.started", "hook.decision", "error", "session.closed"})
"""Types of events that tell nothing as long as nothing else has happened in a session."""
MAX_TURNS = 64
"""Number of the last turns whose events stay in memory."""


class SessionLog:
    """The file with all events of one session, which is written event by event.

    The first event creates its folder, so a session without events leaves nothing on disk.

    Attributes:
        id: The name of the session, a ULID.
        state: What the events say, folded event by event.
        listeners: Functions that receive each event, and each frame that is not written (`seq` is None).
        turns: The number of each of the last turns → its events, for readers without the file.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        is_saved: bool = True,
        id: str = "",
        state: SessionState | None = None,
    ) -> None:
        """Create the log of a new session, or continue one (see `SessionStore.open`).

        Args:
            folder: The folder of all sessions. The default is the user's.
            is_saved: Whether events are written to disk. Listeners receive them in any case.
            id: The id of the session to continue, or of a new one.
            state: The state of the session to continue.
        """
        self.id = id or make_ulid()
        self.state = state or SessionState()
        self.listeners: list[Listener] = []
        self.turns: OrderedDict[int, list[Event]] = OrderedDict()
        self._sessions = folder
        self._is_saved = is_saved
        self._lock: SessionLock | None = None
        self._descriptor: int | None = None
        self._next_turn = self.state.turn_count
        self._unsaved_turns: set[int] = set()
        self._may_end_within_line = False
        self._prelude: list[str] | None = None

    def hold_prelude(self) -> None:
        """Write the events before the first turn together with it: a session without a turn leaves nothing on disk."""
        if not self.state.next_seq:
            self._prelude = []

    @property
    def folder(self) -> Path:
        """The folder of the session, whether it exists or not."""
        return (self._sessions or paths.sessions_folder()) / self.id

    @property
    def path(self) -> Path:
        """The path of the log, whether it exists or not."""
        return self.folder / LOG_NAME

    @property
    def is_saved(self) -> bool:
        """Return whether events are written to disk."""
        return self._is_saved

    @property
    def summary(self) -> Summary:
        """The summary of all events that are saved."""
        return self.state.summary

    def turn(self, *, is_saved: bool = True) -> Turn:
        """Begin the next turn. The events of a turn that is not saved reach the listeners, but never the disk."""
        number = self._next_turn
        self._next_turn += 1
        if not is_saved:
            self._unsaved_turns.add(number)
        self.turns[number] = []
        while len(self.turns) > MAX_TURNS:
            self.turns.popitem(last=False)
        return Turn(self, number)

    def append(
        self, event: SessionEvent, *, turn: int | None = None, step: str | None = None, cause: str | None = None
    ) -> Event:
        """Append an event and call the listeners.

        Args:
            event: The event. Secrets in its texts are replaced, and its unsaved fields reach the listeners only.
            turn: The number of its turn.
            step: The state or the step that the turn is in.
            cause: The id of the event that began the turn.

        Returns:
            The event in its envelope.
        """
        type, data = encode_event(event)
        unsaved = {key: data.pop(key) for key in list_unsaved_keys(type) & data.keys()}
        seq = self.state.next_seq
        envelope = Event(make_ulid(), seq, timestamp(), self.id, turn, step, cause, type, data)
        line = encode(envelope)
        if may_contain_secret(line):
            envelope = replace(envelope, data=_redact(data))
            line = encode(envelope)
        if turn not in self._unsaved_turns and (seq or type not in ACCOMPANYING_TYPES):
            if self._is_saved and self._prelude is not None and type in PRELUDE_TYPES:
                self._prelude.append(line)
            elif self._is_saved:
                lines, self._prelude = [*(self._prelude or ()), line], None
                for text in lines:
                    self._write(text)
            self.state.apply(envelope)
        if turn in self.turns:
            self.turns[turn].append(envelope)
        self._call_listeners(replace(envelope, data={**envelope.data, **unsaved}) if unsaved else envelope)
        return envelope

    def append_to_running(self, event: SessionEvent) -> Event:
        """Append an event to the turn that runs in this task, or to none."""
        turn = current_turn.get()
        return turn.append(event) if turn and turn.belongs_to(self) else self.append(event)

    def send_frame(
        self, type: str, data: Mapping[str, object], *, turn: int | None = None, step: str | None = None
    ) -> None:
        """Send data that is not written, such as a piece of text, to the listeners."""
        if self.listeners:
            unsaved = {key: data[key] for key in list_unsaved_keys(type) & data.keys()}
            shown = {**_redact(dict(data)), **unsaved}
            envelope = Event("", None, timestamp(), self.id, turn, step, None, type, shown)
            self._call_listeners(envelope)

    def acquire(self) -> None:
        """Become the only writer of the session, and open its file.

        Raises:
            UsageError: Another process writes to the session.
        """
        if not self._is_saved or self._descriptor is not None:
            return
        try:
            self.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            self._lock = self._lock or SessionLock(self.folder)
            self._lock.acquire()
            self._descriptor = open_for_append(self.path, follows_links=False)
        except OSError as error:
            self._warn(error)

    def continue_from(self, state: SessionState) -> None:
        """Number the next events and turns after those of a state."""
        self.state = state
        self._next_turn = state.turn_count

    def end_torn_line(self) -> None:
        """Write the end of a last line that a crash cut off. Readers leave the line out, unless it is a whole event."""
        if self._descriptor is None:
            return
        try:
            write_all(self._descriptor, b"\n")
        except OSError as error:
            # the next event is written after a line end
            self._may_end_within_line = True
            self._warn(error)

    def sync(self) -> None:
        """Wait until all events are safe from a power cut. May be called in a thread."""
        descriptor = self._descriptor
        if descriptor is not None:
            with suppress(OSError):
                sync_data(descriptor)

    def close(self) -> None:
        """Close the file, and let other processes write to the session. A later event opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._lock:
            self._lock.release()

    def _call_listeners(self, envelope: Event) -> None:
        for listener in list(self.listeners):
            listener(envelope)

    def _write(self, text: str) -> None:
        """Append a line of JSON. If the disk is full or the folder is read-only, the session continues without it."""
        line = (text + "\n").encode("utf-8", "replace")
        try:
            if self._descriptor is None:
                self.acquire()
            if self._descriptor is None:
                return
            # a line that the last write did not finish becomes a line of its own, which readers leave out
            write_all(self._descriptor, b"\n" * self._may_end_within_line + line)
            self._may_end_within_line = False
        except OSError as error:
            self._may_end_within_line = self._descriptor is not None
            self._warn(error)
        except UsageError as error:
            # somebody else continues the session: what happens here is heard, but their log stays theirs
            self._is_saved = False
            self._warn(error)

    def _warn(self, error: BaseException) -> None:
        paths.warn_not_saved("what happens in this session", paths.STATE, self.path, error)


def timestamp() -> str:
    """Return the present time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _redact(value: Any) -> Any:
    """Return the same data with an ellipsis for each secret in its texts and keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {redact(str(key)): redact(item) if isinstance(item, str) else _redact(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_redact(item) for item in cast("list[Any]", value)]
    return value
