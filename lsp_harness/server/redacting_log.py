"""The server's log on stderr, which editors keep in files: whatever an exception or a client quotes, no secret is in it."""

import logging
import sys


class Redacting(logging.Formatter):
    """Tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        # imported with the first line: `initialize` must be answered at once
        from lsp_harness.files.secrets import redact

        return redact(super().format(record))


def stderr_log() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacting("%(levelname)s %(name)s: %(message)s"))
    return handler
