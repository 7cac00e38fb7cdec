"""The log of the server on standard error, without secrets and control characters."""

import logging
from typing import TextIO

from lsp_harness.files.secrets import redact

LOGGERS = ("lsp_harness", "uvicorn", "sse_starlette")


class SafeLines(logging.Formatter):
    """Removes secrets from log records and their tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return redact(super().format(record))


def start_log(stream: TextIO, level: str) -> None:
    """Write the lines of the server to a stream, from a level on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(SafeLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        # the lines of the libraries below a warning say nothing about requests that ours do not say
        logger.setLevel(level.upper() if name == "lsp_harness" else "WARNING")
