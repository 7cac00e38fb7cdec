"""The receiver of HTTP hooks, on the loopback device: an agent in a terminal reports its states and asks by them."""

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

PATH = "/hook"
HEAD_LIMIT_S = 5.0
"""Time for a request to arrive."""
MAX_HEAD_BYTES = 32_768
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_REQUESTS = 50
"""Requests that are answered at the same time. A permission question is one for as long as nobody answers it."""
HandleHook = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""A function that takes the facts of a hook and returns its answer. It is cancelled if the agent does not wait any
more."""


class HookReceiver:
    """A small HTTP server for the hooks of one agent.

    Args:
        handle: Returns the answer to a hook.
    """

    def __init__(self, handle: HandleHook) -> None:
        self._handle = handle
        self._token = secrets.token_urlsafe(32)
        self._server: asyncio.Server | None = None
        self._requests: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen on a free port of the loopback device."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)

    @property
    def url(self) -> str:
        """The address for the hooks."""
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{PATH}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the hooks must send. They are secret."""
        return {"Authorization": f"Bearer {self._token}"}

    async def aclose(self) -> None:
        """Stop listening, and cancel the questions."""
        if self._server:
            self._server.close()
        for task in tuple(self._requests):
            task.cancel()
        await asyncio.gather(*self._requests, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._requests.add(task)
        try:
            status, answer = HTTPStatus.SERVICE_UNAVAILABLE, dict[str, Any]()
            if len(self._requests) <= MAX_REQUESTS:
                status, answer = await self._answer(reader)
            body = json.dumps(answer).encode()
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
            with suppress(ConnectionError):
                await writer.drain()
        except (asyncio.CancelledError, ConnectionError):
            # the end of the receiver, or of the agent
            pass
        finally:
            self._requests.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[HTTPStatus, dict[str, Any]]:
        try:
            async with asyncio.timeout(HEAD_LIMIT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, length = self._check(head.decode("latin-1"))
                if status is not HTTPStatus.OK:
                    return status, {}
                facts = json.loads(await reader.readexactly(length))
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            return HTTPStatus.BAD_REQUEST, {}
        if not isinstance(facts, dict):
            return HTTPStatus.BAD_REQUEST, {}
        handling = asyncio.ensure_future(self._handle(cast("dict[str, Any]", facts)))
        # the end of the request means that the agent does not wait any more
        hanging_up = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({handling, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if not handling.done():
                raise ConnectionError("the agent does not wait any more")
            return HTTPStatus.OK, dict(handling.result())
        finally:
            for part in (handling, hanging_up):
                part.cancel()
            await asyncio.gather(handling, hanging_up, return_exceptions=True)

    def _check(self, head: str) -> tuple[HTTPStatus, int]:
        """Return whether a request is from the agent, and the length of its body."""
        request, *lines = head.split("\r\n")
        fields = {name.strip().casefold(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if not hmac.compare_digest(fields.get("authorization", "").encode(), f"Bearer {self._token}".encode()):
            return HTTPStatus.UNAUTHORIZED, 0
        if not request.startswith(f"POST {PATH} "):
            return HTTPStatus.NOT_FOUND, 0
        length = fields.get("content-length", "")
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED, 0
        if int(length) > MAX_BODY_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, 0
        return HTTPStatus.OK, int(length)
