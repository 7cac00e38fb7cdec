"""The output of a task: a file that grows while the task runs. The text is never whole in memory."""

import asyncio
import codecs
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from lsp_harness.disk.file_writing import NEW_FILE_FLAGS, write_all
from lsp_harness.files.secret_stream import SecretStream

MAX_LOG_BYTES = 64_000_000
"""Maximum size of the output of one task. The rest is dropped, and the end of the file says so."""
DROPPED = "\n[the output is longer than {:,} bytes; the rest was dropped]\n"


class Closable(Protocol):
    """A part of a task that must end before the task, such as the tasks of a subagent."""

    async def aclose(self) -> None:
        """End it."""
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
