"""The log of the server on standard error, without secrets and control characters."""

import logging
from typing import TextIO

from lsp_harness.files.secrets import redact

LOGGERS = ("lsp_harness", "uvicorn", "sse_starlette")
REFUSED_SOCKET = "ASGI callable returned without completing handshake."
"""The line of the library for a WebSocket that was answered with an error of HTTP. Our own line says which one."""
INVALID_TEXT = "Invalid UTF-8 sequence received from client."
"""The line of the library for a message of a client that is no text."""


class SafeLines(logging.Formatter):
    """Removes secrets from log records and their tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return redact(super().format(record))


def drop_noise(record: logging.LogRecord) -> bool:
    """Return whether a record is shown. A mistake of a client is at most one line, without a traceback."""
    if record.msg == INVALID_TEXT:
        record.exc_info = record.exc_text = None
    return record.msg != REFUSED_SOCKET


def start_log(stream: TextIO, level: str) -> None:
    """Write the lines of the server to a stream, from a level on."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(drop_noise)
    handler.setFormatter(SafeLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        # the lines of the libraries below a warning say nothing about requests that ours do not say
        logger.setLevel(level.upper() if name == "lsp_harness" else "WARNING")
