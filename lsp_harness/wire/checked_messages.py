"""Messages of a peer that are checked before a library of the protocol gets them.

Such libraries expect valid messages: an answer with a strange id, or without a result, ends their reader or lets a
request wait for ever. One that is no valid message is answered with an error, and an answer that fits no question is
left out.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire import rpc_message
from lsp_harness.wire.message_lines import LineTooLong, MessageLines
from lsp_harness.wire.rpc_message import (
    Id,
    InvalidRequest,
    Message,
    Notification,
    Request,
    Response,
    UnanswerableMessage,
)

INTERNAL_ERROR = -32603
NO_ANSWER = {"code": INTERNAL_ERROR, "message": "the answer has no result"}
LOG = logging.getLogger(__name__)


class CheckedMessages:
    """The reader of the messages of one peer, which answers invalid ones with an error.

    Args:
        send: Sends a message to the peer.
    """

    def __init__(self, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self._send = send
        self._is_open: dict[Id, bool] = {}
        """Id of each of our own requests → whether it waits for its answer."""

    def note_request(self, id: Id) -> None:
        """Expect an answer to a request of ours."""
        self._is_open[id] = True

    async def next(self, lines: MessageLines) -> dict[str, Any] | None:
        """Return the next message that a library can read, or None after the last line."""
        while True:
            try:
                line = await lines.next()
            except LineTooLong as error:
                await self.refuse(None, rpc_message.INVALID_REQUEST, error.message)
                continue
            if line is None:
                return None
            if (message := await self.accept(line)) is not None:
                return message

    async def accept(self, line: bytes) -> dict[str, Any] | None:
        """Return the message of a line in the form that a library can read, or None if it has been dealt with."""
        line = to_scalar_json(line).strip()
        if not line:
            return None
        message = rpc_message.parse(line)
        if line.startswith(b"[") and isinstance(message, InvalidRequest):
            await self._refuse_batch(line, message)
            return None
        return await self.take(message)

    async def take(self, message: Message) -> dict[str, Any] | None:
        """Return a message in the form that a library can read, or None if it has been dealt with."""
        match message:
            case Request(id, method, params):
                return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            case Notification(method, params):
                return {"jsonrpc": "2.0", "method": method, "params": params}
            case Response():
                return await self._take_answer(message)
            case InvalidRequest(id, code, reason):
                await self.refuse(id, code, reason)
            case UnanswerableMessage(reason, is_answer):
                if is_answer:
                    LOG.info("ignored a message: %s", reason)
                else:
                    await self.refuse(None, rpc_message.INVALID_REQUEST, reason)
        return None

    async def _take_answer(self, answer: Response) -> dict[str, Any] | None:
        if not self._is_open.get(answer.id):
            # a second answer is left out, and not refused: the peer may have a request with the same id
            if answer.is_empty and answer.id not in self._is_open:
                await self.refuse(answer.id, rpc_message.INVALID_REQUEST, "a request needs a method")
            else:
                LOG.info("ignored an answer to no question: %s", answer.id)
            return None
        self._is_open[answer.id] = False
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": answer.id}
        if answer.error is not None or answer.is_empty:
            return message | {"error": _read_error(answer.error)}
        return message | {"result": answer.result}

    async def _refuse_batch(self, line: bytes, refusal: InvalidRequest) -> None:
        """Answer each request of a batch, and the batch itself if there is none."""
        requests: list[Id] = []
        if refusal.code == rpc_message.INVALID_REQUEST:
            items: Any = json.loads(line)
            messages = map(rpc_message.classify, cast("list[Any]", items))
            requests = [message.id for message in messages if isinstance(message, Request)]
        for id in requests or [None]:
            await self.refuse(id, refusal.code, refusal.message)

    async def refuse(self, id: Id | None, code: int, reason: str) -> None:
        """Answer a message that is not valid."""
        LOG.info("refused a message: %s", reason)
        await self._send(rpc_message.error_response(id, code, reason))


def _read_error(error: Any) -> dict[str, Any]:
    """Return the error of an answer in a form that the library can read."""
    if not isinstance(error, dict):
        return NO_ANSWER
    members = cast("dict[str, Any]", error)
    code, message = members.get("code"), members.get("message")
    return {
        "code": code if type(code) is int else INTERNAL_ERROR,
        "message": message if isinstance(message, str) else "the request was refused",
        "data": members.get("data"),
    }
