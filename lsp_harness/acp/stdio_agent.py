"""The agent over standard input and output, as editors start it."""

import logging
import sys

from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.stdio import stdio_streams
from pydantic import ValidationError

from lsp_harness.acp.editor_agent import EditorAgent
from lsp_harness.acp.message_pipe import MessagePipe
from lsp_harness.files.secrets import redact
from lsp_harness.sessions.session_options import SessionOptions


class ShortLines(logging.Formatter):
    """Formats what the library says about a message of the editor as one line. A bug of ours keeps its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, RequestError | ValidationError | OSError):
            reason = " ".join(str(error).split())[:300]
            return redact(f"lsp-harness: {record.getMessage()}: {reason}")
        return redact(super().format(record))


async def serve_stdio(options: SessionOptions) -> None:
    """Serve a client until its output ends.

    Args:
        options: The options of all sessions.
    """
    _shorten_log()
    agent = EditorAgent(options)
    reader, writer = await stdio_streams()
    # forks, and sessions that are closed or continued, are parts of the unstable protocol
    connection = AgentSideConnection(agent, MessagePipe(reader, writer), listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await connection.close()
        await agent.aclose()


def _shorten_log() -> None:
    """Write what the library logs to standard error, without tracebacks."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ShortLines("lsp-harness: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
