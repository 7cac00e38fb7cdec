"""The standard error of a server of tools, of which only the end is kept."""

import os
import threading
from types import TracebackType
from typing import Self, TextIO

MAX_BYTES = 4_000


class ErrorOutput:
    """A file that a program writes its errors to. A thread reads it, so that the program never waits.

    It is used as a context manager. Outside of it, nothing can be written.
    """

    def __init__(self) -> None:
        self._tail = b""
        self._file: TextIO | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        reader, writer = os.pipe()
        self._file = os.fdopen(writer, "w")
        self._thread = threading.Thread(target=self._read, args=(reader,), name="MCP error output", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()
        if self._thread:
            # a child that was left running may hold the other end
            self._thread.join(0.2)

    @property
    def file(self) -> TextIO:
        """The file to write to."""
        assert self._file
        return self._file

    @property
    def last_line(self) -> str:
        """The last line that is not blank, or an empty text."""
        lines = self._tail.decode("utf-8", "replace").splitlines()
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def _read(self, reader: int) -> None:
        with open(reader, "rb", buffering=0) as pipe:
            while data := pipe.read(65_536):
                self._tail = (self._tail + data)[-MAX_BYTES:]
