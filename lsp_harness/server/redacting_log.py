"""The log of the server on standard error, without secrets.

Editors store this log in files, and exceptions and clients may quote secrets.
"""

import logging
import sys


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
