"""Forwards what the log of files and folders says to the editor's log view: users of an editor read no standard error."""

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from lsp_harness.disk.file_warnings import LOGGER_NAME


class Notices(logging.Handler):
    """Keeps the warnings until there is a client to `tell`; those from other threads reach it on the event loop."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._waiting: list[str] = []
        self._tell: Callable[[str], None] = self._waiting.append

    def emit(self, record: logging.LogRecord) -> None:
        # a loop that is closed has no client any more
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._pass, record.getMessage())

    def to(self, tell: Callable[[str], None]) -> None:
        """From now on, and what was said before."""
        self._tell = tell
        for message in self._waiting:
            tell(message)
        self._waiting.clear()

    def _pass(self, message: str) -> None:
        self._tell(message)


@contextmanager
def forwarded() -> Generator[Notices]:
    """Listen to the log meanwhile."""
    notices, log = Notices(), logging.getLogger(LOGGER_NAME)
    log.addHandler(notices)
    try:
        yield notices
    finally:
        log.removeHandler(notices)
