"""Reading the logs of sessions: at once, with the sessions that they continue, or while another process writes."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from io import BufferedReader
from pathlib import Path

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.wire.event import Event, decode

LOG_NAME = "events.jsonl"
MAX_LINE_BYTES = 64_000_000
"""Bytes of a line that are read at once. No event is that long."""
TAIL_BYTES = 1 << 20
"""Bytes at the end of a log in which its last line is looked for."""
POLL_INTERVAL_S = 0.05
"""How often a reader that follows a log looks for new lines."""
MAX_ANCESTORS = 1000
"""Forks of forks that are followed."""


def log_path(sessions: Path, id: str) -> Path:
    """Return the path of the log of a session."""
    return sessions / id / LOG_NAME


def decode_line(line: bytes) -> Event | None:
    """Return the event of a line, or None if the line is none."""
    try:
        return decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log that have an end, without decoding them.

    Raises:
        FileMissing: There is no such log.
        FileError: The log cannot be read.
    """
    with open_regular(path) as lines:
        while line := lines.readline(MAX_LINE_BYTES):
            if line.endswith(b"\n"):
                yield line


def read_last_event(path: Path) -> Event | None:
    """Return the last event of a log without reading the whole log, or None if there is none at its end.

    Raises:
        FileMissing: There is no such log.
        FileError: The log cannot be read.
    """
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        lines = file.read().splitlines()
    return next((event for line in reversed(lines) if (event := decode_line(line))), None)


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
        """Yield the events of the log in order.

        Raises:
            FileMissing: There is no such log.
            FileError: The log cannot be read.
        """
        with open_regular(self._path) as lines:
            has_open_line = yield from self.read_new(lines)
            self.skipped_lines += has_open_line

    def read_new(self, lines: BufferedReader) -> Generator[Event, None, bool]:
        """Read the events that follow in an open log.

        Returns:
            Whether a last line without its end is left, which is still being written or was cut off.
        """
        while line := lines.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
                lines.seek(-len(line), 1)
                return True
            if event := decode_line(line):
                yield event
            elif line.strip():
                self.skipped_lines += 1
        return False

    @property
    def warning(self) -> str:
        """A sentence that says that lines were left out, or an empty text."""
        lines = "1 line was" if self.skipped_lines == 1 else f"{self.skipped_lines} lines were"
        return f"{lines} left out of {self._path}: cut off by a full disk or a crash" if self.skipped_lines else ""


def read_history(sessions: Path, id: str) -> Iterator[Event]:
    """Yield all events of a session: first those of the sessions that it continues, then its own.

    Args:
        sessions: The folder of all sessions.
        id: The id of the session.

    Raises:
        FileMissing: There is no such session.
        FileError: A log cannot be read.
        UsageError: The session continues itself.
    """
    chain: list[tuple[str, int | None]] = [(id, None)]
    while parent := fork_parent(sessions, chain[-1][0]):
        if not log_path(sessions, parent[0]).exists():
            fork = chain[-1][0]
            raise FileError(f"the session {fork} continues {parent[0]}, whose folder was removed from {sessions}")
        if any(parent[0] == known for known, _ in chain) or len(chain) > MAX_ANCESTORS:
            raise UsageError(f"the session {id} continues itself; its log is damaged")
        chain.append(parent)
    bound: int | None = None
    bounds: list[int | None] = []
    for _, limit in chain:
        # a fork at an earlier event also bounds the sessions that its parent continues
        bound = limit if bound is None else bound if limit is None else min(bound, limit)
        bounds.append(bound)
    for (name, _), last in zip(reversed(chain), reversed(bounds), strict=True):
        for event in read_log(log_path(sessions, name)):
            if last is not None and event.seq is not None and event.seq > last:
                break
            yield event


def fork_parent(sessions: Path, id: str) -> tuple[str, int] | None:
    """Return the session that a session continues and the number of the last event there, or None.

    Raises:
        FileMissing: There is no such session.
        FileError: Its log cannot be read.
    """
    for event in read_log(log_path(sessions, id)):
        if event.type != "session.forked":
            return None
        parent, at_seq = event.data.get("parent"), event.data.get("at_seq")
        return (parent, at_seq) if isinstance(parent, str) and isinstance(at_seq, int) else None
    return None


async def follow_log(path: Path, after: int = -1) -> AsyncIterator[Event]:
    """Yield the events of a log with a number above `after`, and then each new event as it is written.

    The writer is not disturbed: the log is only read. The iteration ends when the caller stops it.

    Raises:
        FileError: The log cannot be read.
    """
    reader = LogReader(path)
    while True:
        try:
            with open_regular(path) as lines:
                while True:
                    for event in reader.read_new(lines):
                        if event.seq is not None and event.seq > after:
                            after = event.seq
                            yield event
                    await asyncio.sleep(POLL_INTERVAL_S)
        except FileMissing:
            # a session without events has no log yet
            if not path.parent.parent.exists():
                raise FileError(f"there is no folder {path.parent.parent}; the session was removed") from None
            await asyncio.sleep(POLL_INTERVAL_S)
