"""The log file of a terminal: its output without secrets. The file is bounded, and only the user can read it."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.file_writing import open_for_append, write_all
from lsp_harness.disk.ownership import set_mode
from lsp_harness.files.secret_stream import SecretStream
from lsp_harness.files.secret_values import encode_values

MAX_LOG_BYTES = 4_000_000
"""Size after which a log is renamed. One older log stays."""
MAX_PENDING_BYTES = 65_536
HIDDEN = b"[secret]"


class TerminalLog:
    """The log of one terminal. A disk that is full loses lines of the log, and nothing else.

    Args:
        path: The file. None writes nothing.
        secrets: Texts that must not be in the log, such as the keys in the environment of the program.
        limit: The size after which the file is renamed.
    """

    def __init__(self, path: Path | None, secrets: Collection[str] = (), limit: int = MAX_LOG_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._secrets = encode_values(secrets)
        self._stream = SecretStream(self._secrets)
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._descriptor = -1
        self._size = 0

    def write(self, data: bytes) -> None:
        """Add output. It is in the file after `flush` at the latest."""
        if self._path is None:
            return
        self._pending.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes >= MAX_PENDING_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the output that waits, except for its end that may be the start of a secret."""
        if self._pending:
            data = b"".join(self._pending)
            self._pending.clear()
            self._pending_bytes = 0
            self._write(self._stream.feed(data))

    def close(self) -> None:
        """Write all output that waits, and close the file."""
        self.flush()
        self._write(self._stream.finish())
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, data: bytes) -> None:
        for secret in self._secrets:
            data = data.replace(secret, HIDDEN)
        if not data or self._path is None:
            return
        with suppress(OSError):
            if self._descriptor < 0:
                self._open(self._path)
            write_all(self._descriptor, data)
            self._size += len(data)
            if self._size >= self._limit:
                os.close(self._descriptor)
                self._descriptor = -1
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))

    def _open(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = open_for_append(path, follows_links=False)
        # a file of an older version may be readable by others
        set_mode(self._descriptor, path, 0o600)
        self._size = os.fstat(self._descriptor).st_size
