"""The output of a task: a file that grows while the task runs, and is read meanwhile or afterwards."""

import asyncio
import codecs
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lsp_harness.disk.file_reading import describe_system_error, open_regular
from lsp_harness.disk.file_writing import NEW_FILE_FLAGS, write_all
from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.files.secret_stream import SecretStream
from lsp_harness.kernel.artifacts import MAX_READ_BYTES, READ_LIMIT_BYTES, read_part
from lsp_harness.text.ulid import is_ulid

MAX_LOG_BYTES = 64_000_000
"""Maximum size of the output of one task. The rest is dropped, and the end of the file says so."""
DROPPED = "\n[the output is longer than {:,} bytes; the rest was dropped]\n"


class Closable(Protocol):
    """A part of a task that must end before the task, such as the tasks of a subagent."""

    async def aclose(self) -> None:
        """End this part of the task."""
        ...


class TaskOutput:
    """The file with the output of one task. Any thread may write.

    Secrets are removed before anything is written, so the file can be shown to a model. What may be the start of a
    secret is written when it turns out to be none, or at the end.

    Attributes:
        task_id: The id of the task.
        path: The file.
        parts: What ends before the task.
    """

    def __init__(self, task_id: str, path: Path, report: Callable[[str], None], max_bytes: int = MAX_LOG_BYTES) -> None:
        """Create the file.

        Args:
            task_id: The id of the task.
            path: The file, which must not exist.
            report: Receives each piece of text in the event loop, in order.
            max_bytes: Maximum size of the file.

        Raises:
            OSError: The file cannot be created.
        """
        self.task_id = task_id
        self.path = path
        self.parts: list[Closable] = []
        self._report = report
        self._max_bytes = max_bytes
        self._size = 0
        self._secrets = SecretStream()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._descriptor = os.open(path, NEW_FILE_FLAGS, 0o600)

    def write(self, piece: bytes | str) -> None:
        """Add a piece of the output. Raises OSError if the disk is full."""
        data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
        with self._lock:
            self._append(self._secrets.feed(data))

    def adopt(self, part: Closable) -> None:
        """Close `part` when the task ends in any way, before its end is recorded."""
        self.parts.append(part)

    def close(self) -> None:
        """Write what was held back, and close the file."""
        with self._lock:
            if self._descriptor >= 0:
                try:
                    self._append(self._secrets.finish())
                finally:
                    os.close(self._descriptor)
                    self._descriptor = -1

    def _append(self, data: bytes) -> None:
        if not data or self._descriptor < 0 or self._size > self._max_bytes:
            return
        if self._size + len(data) > self._max_bytes:
            kept = data[: self._max_bytes - self._size].decode("utf-8", "ignore").encode()
            data = kept + DROPPED.format(self._max_bytes).encode()
            self._size = self._max_bytes
        write_all(self._descriptor, data)
        self._size += len(data)
        text = self._decoder.decode(data)
        if threading.get_ident() == self._loop_thread:
            self._report(text)
        else:
            self._loop.call_soon_threadsafe(self._report, text)


@dataclass(frozen=True, slots=True)
class TaskRead:
    """A part of the output of a task.

    Attributes:
        text: The text.
        next_cursor: The cursor for the next part.
        is_running: Whether more may come.
    """

    text: str
    next_cursor: int
    is_running: bool


def log_path(session_folder: Path, task_id: str) -> Path:
    """Return the file with the output of a task."""
    return session_folder / "tasks" / f"{task_id}.log"


def read_output(
    session_folder: Path, task_id: str, since: int = 0, limit: int = READ_LIMIT_BYTES, *, is_running: bool = False
) -> TaskRead:
    """Read a part of the output of a task.

    Args:
        session_folder: The folder of the session.
        task_id: The id of the task.
        since: The cursor of the part before, or 0.
        limit: Maximum number of bytes.
        is_running: Whether the task still runs.

    Raises:
        UsageError: There is no such task, or an argument is not valid.
        FileError: The output cannot be read.
    """
    if not is_ulid(task_id):
        raise UsageError("the id of a task has 26 letters and digits; list the tasks to see their ids")
    if since < 0 or limit <= 0:
        raise UsageError("the output of a task is read from a cursor of 0 or more, with a limit of 1 byte or more")
    path = log_path(session_folder, task_id)
    if path.is_symlink():
        raise FileError(f"{path} is a link, not the output of a task; remove it")
    try:
        with open_regular(path) as file:
            part = read_part(file.fileno(), os.fstat(file.fileno()).st_size, since, min(limit, MAX_READ_BYTES))
    except FileMissing as error:
        raise UsageError(f"this session has no task {task_id}; list the tasks to see their ids") from error
    except OSError as error:
        raise FileError(
            f"the output of task {task_id} cannot be read: {describe_system_error(error).lower()}"
        ) from error
    return TaskRead(part.text, part.next_offset, is_running)
