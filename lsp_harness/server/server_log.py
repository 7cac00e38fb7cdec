"""The log of the server: on standard error without secrets, and warnings about files in the log view of the editor.

Editors store standard error in files, and exceptions and clients may quote secrets. The users of an editor do not read
it, so warnings about files and folders are forwarded to its log view.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from lsp_harness.disk.file_warnings import LOGGER_NAME


class WarningForwarder(logging.Handler):
    """Keeps warnings until there is a client to send them to. Warnings of other threads are sent on the event loop."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._pending: list[str] = []
        self._send: Callable[[str], None] = self._pending.append

    def emit(self, record: logging.LogRecord) -> None:
        # if the loop is closed, there is no client any more
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._send_warning, record.getMessage())

    def send_to(self, send: Callable[[str], None]) -> None:
        """Send all warnings to this function: those that are pending, and those to come."""
        self._send = send
        for message in self._pending:
            send(message)
        self._pending.clear()

    def _send_warning(self, message: str) -> None:
        self._send(message)


@contextmanager
def forward_warnings() -> Generator[WarningForwarder]:
    """Receive the warnings about files and folders until the context ends."""
    forwarder, log = WarningForwarder(), logging.getLogger(LOGGER_NAME)
    log.addHandler(forwarder)
    try:
        yield forwarder
    finally:
        log.removeHandler(forwarder)


class RedactingFormatter(logging.Formatter):
    """Removes secrets from log records and their tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        # imported with the first line: `initialize` must be answered at once
        from lsp_harness.files.secrets import redact

        return redact(super().format(record))


def stderr_log() -> logging.Handler:
    """Return a handler that writes to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(levelname)s %(name)s: %(message)s"))
    return handler
