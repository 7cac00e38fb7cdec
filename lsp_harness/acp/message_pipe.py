"""The lines between an editor and the library of the Agent Client Protocol.

A line that is no valid message would end the library, and all sessions with it, so each is checked first.
"""

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.checked_messages import CheckedMessages
from lsp_harness.wire.message_lines import MessageLines


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
        text = json.dumps(_plain(message), separators=(",", ":"), default=str)
    return to_scalar_json(text.encode())


def _plain(value: Any) -> Any:
    """Return a value with null for each number that JSON cannot express, and with texts as names."""
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
