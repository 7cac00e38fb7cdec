"""Messages of a server of tools that are read and checked before the library of the protocol gets them.

The library drops what it cannot read, and a call then waits until its time is over. It also has codes of its own for a
lost connection and for a late answer, which a server may use for other errors.
"""

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from lsp_harness.text.surrogates import to_scalar_json

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

CLOSED_CODE, TIMEOUT_CODE = -32000, -32001
"""Codes of the library for a connection that is closed, and for a request without an answer."""
SERVER_CODE = -32099
"""The code that an error of a server has here, if the server has given it a code of the library."""
INVALID_CODE = -32603
TOOLS_CHANGED = "notifications/tools/list_changed"
ANSWER_ID = re.compile(r'"id"\s*:\s*(\d{1,15})\b')
MAX_QUOTED_CHARS = 200
RequestId = int | str


@dataclass(frozen=True, slots=True)
class ServerSigns:
    """Signs of one connection, which its messages set.

    Attributes:
        is_over: The server has ended, or cannot be reached any more.
        tools_changed: The server says that it has other tools than before.
    """

    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    tools_changed: asyncio.Event = field(default_factory=asyncio.Event)


def check_message(message: "JSONRPCMessage", signs: ServerSigns) -> "JSONRPCMessage":
    """Return a message of a server as the library should see it, and note the signs in it."""
    from mcp_types import JSONRPCError, JSONRPCNotification

    if isinstance(message, JSONRPCNotification) and message.method == TOOLS_CHANGED:
        signs.tools_changed.set()
    if isinstance(message, JSONRPCError) and message.error.code in (CLOSED_CODE, TIMEOUT_CODE):
        error = message.error.model_copy(update={"code": SERVER_CODE})
        return message.model_copy(update={"error": error})
    return message


class MessageReader:
    """Reads the lines of one server.

    Args:
        signs: The signs that its messages set.
    """

    def __init__(self, signs: ServerSigns) -> None:
        self._signs = signs
        self._asked: set[RequestId] = set()

    def note_sent(self, message: "JSONRPCMessage") -> None:
        """Expect an answer to a request of ours."""
        from mcp_types import JSONRPCRequest

        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)

    def read(self, line: bytes, *, is_whole: bool = True) -> "JSONRPCMessage | None":
        """Return the message of a line. One that looks like an answer and is none becomes an error, at once.

        Other lines that are no messages are left out: some servers print what they do.

        Args:
            line: The line.
            is_whole: Whether it has its end. What was cut off says nothing.
        """
        from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

        text = to_scalar_json(line).strip()
        if not text:
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            return self._read_invalid(text) if is_whole else None
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._asked.discard(message.id)
        return check_message(message, self._signs)

    def give_up(self, id: RequestId) -> bool:
        """Expect no answer to a request any more. Return whether there was none until now."""
        is_open = id in self._asked
        self._asked.discard(id)
        return is_open

    def fail_all(self, reason: str) -> "list[JSONRPCMessage]":
        """Return an error for each request that waits for its answer."""
        failed, self._asked = sorted(self._asked, key=str), set()
        return [make_error(id, reason) for id in failed]

    def _read_invalid(self, text: bytes) -> "JSONRPCMessage | None":
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            # an answer that was cut, or has something else in it
            found = ANSWER_ID.search(text.decode()) if text.startswith(b"{") else None
            id = int(found[1]) if found else None
        else:
            id = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) and "method" not in value else None
        if isinstance(id, bool) or not isinstance(id, int | str) or id not in self._asked:
            return None
        self._asked.discard(id)
        quoted = text.decode()
        shown = quoted if len(quoted) <= MAX_QUOTED_CHARS else f"{quoted[:MAX_QUOTED_CHARS]}…"
        return make_error(id, f"its answer is not valid: {shown}")


def make_error(id: RequestId, reason: str) -> "JSONRPCMessage":
    """Return an answer that says why there is none."""
    from mcp_types import ErrorData, JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=INVALID_CODE, message=reason))


class CheckedStream:
    """The messages that a transport of the library reads, each checked.

    Args:
        stream: The stream of the transport.
        signs: The signs that its messages set.
    """

    def __init__(self, stream: Any, signs: ServerSigns) -> None:
        self._stream, self._signs = stream, signs

    @property
    def last_context(self) -> Any:
        """The variables of the sender of the last message."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> "SessionMessage | Exception":
        """Return the next message."""
        return self._check(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> "CheckedStream":
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        return self._check(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._stream.__aexit__(*error)

    def _check(self, item: "SessionMessage | Exception") -> "SessionMessage | Exception":
        if not isinstance(item, Exception):
            item.message = check_message(item.message, self._signs)
        return item
