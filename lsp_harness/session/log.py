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
from lsp_harness.files.secrets import redacted
from lsp_harness.session.summary import Summary
from lsp_harness.wire.event import Event, decode, encode

Listener = Callable[[Event], None]
KEPT_TURNS = 64


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
        self._unwritten: set[int] = set()
        self.summary = Summary()
        """Of what is kept so far."""
        self.listeners: list[Listener] = []
        self.turns: OrderedDict[int, list[Event]] = OrderedDict()
        """The events of the last turns, for those who want to read them without the file."""

    @property
    def path(self) -> Path:
        return (self._folder or paths.state() / "sessions") / self.id / "events.jsonl"

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
        if self._file is None:
            self.path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._file, (encode(event) + "\n").encode("utf-8", "replace"))

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
        return redacted(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {redacted(str(key)): _without_secrets(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in cast("list[Any]", value)]
    return value


def read(path: Path) -> Iterator[Event]:
    """The events of a log, without a torn last line."""
    with path.open("rb") as lines:
        for line in lines:
            # a last line without its end may stop inside of a character
            if line.endswith(b"\n"):
                yield decode(line.decode("utf-8"))
