"""The agent over standard input and output, as editors start it.

A line that is no valid message would end the library, and all sessions with it, so each is checked first.
"""

import asyncio
import json
import logging
import math
import sys
from collections.abc import Mapping
from typing import Any, cast

from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.stdio import stdio_streams
from pydantic import ValidationError

from lsp_harness.acp.editor_agent import EditorAgent
from lsp_harness.files.secrets import redact
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.checked_messages import CheckedMessages
from lsp_harness.wire.message_lines import MessageLines


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


class MessagePipe:
    """The messages of one editor, as the library wants to read and write them.

    Args:
        reader: The output of the editor.
        writer: The input of the editor.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._lines, self._writer = MessageLines(reader.read), writer
        self._checked = CheckedMessages(self.send)

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. An editor that is gone is told nothing.

        Raises:
            ConnectionError: The editor is gone, and the message is a request, whose answer will never come.
        """
        is_request = "method" in message and "id" in message
        if is_request:
            self._checked.note_request(message["id"])
        try:
            self._writer.write(_encode(message) + b"\n")
            await self._writer.drain()
        except OSError as error:
            if is_request:
                raise ConnectionError("the editor is gone") from error

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, or None after the last one."""
        message = await self._checked.next(self._lines)
        return _without_meta(message) if message is not None else None

    async def close(self) -> None:
        """Do nothing: the process ends."""


def _without_meta(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the remarks of the client: the library would give them to a method as arguments."""
    params = message.get("params")
    if not isinstance(params, dict):
        return message
    members = cast("dict[str, Any]", params).items()
    return {**message, "params": {name: value for name, value in members if name != "_meta"}}


def _encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON that every client can read: without halves of characters, NaN and infinite numbers."""
    try:
        text = json.dumps(message, separators=(",", ":"), allow_nan=False, default=str)
    except (TypeError, ValueError):
        text = json.dumps(_make_plain(message), separators=(",", ":"), default=str)
    return to_scalar_json(text.encode())


def _make_plain(value: Any) -> Any:
    """Return a value with null for each number that JSON cannot express, and with texts as names."""
    if isinstance(value, Mapping):
        return {str(name): _make_plain(member) for name, member in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
