"""Tests of the time limits of requests, in this process so that they can be short."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from lsp_harness.api import api_route
from lsp_harness.api.access import bounded_protocol
from lsp_harness.api.access.bounded_protocol import BoundedProtocol
from lsp_harness.api.api_errors import TooSlow
from lsp_harness.api.api_route import read_body

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n"


async def answer_with_members(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the names of the members of the body."""
    try:
        text = ",".join(await read_body(Request(scope, receive), {"type": "object"}))
    except TooSlow as error:
        text = error.code
    await PlainTextResponse(f"<{text}>")(scope, receive, send)


@pytest.fixture
async def server_port() -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answer_with_members, http=BoundedProtocol, lifespan="off", log_config=None, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server._serve([listener]))  # pyright: ignore[reportPrivateUsage] - without signals
    yield listener.getsockname()[1]
    server.should_exit = True
    await serving
    listener.close()


async def ask(port: int, *parts: bytes, until: bytes = b"") -> bytes:
    """Send parts, and read until a text or the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        async with asyncio.timeout(20):
            while data := await reader.read(1000):
                answer += data
                if until and until in answer:
                    break
    except ConnectionError:
        answer += b"(reset)"
    finally:
        writer.close()
    return answer


async def test_a_connection_without_a_complete_head_is_closed(server_port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bounded_protocol, "HEAD_TIMEOUT_S", 0.2)
    for part in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"):
        answer = await ask(server_port, part)
        assert b"<" not in answer


async def test_a_second_head_of_a_connection_is_bounded_too(server_port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bounded_protocol, "HEAD_TIMEOUT_S", 0.2)
    answer = await ask(server_port, HEAD + b"{}", b"GET / HT")
    assert answer.count(b"<>") == 1


async def test_a_client_that_sends_a_byte_now_and_then_is_ended(server_port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bounded_protocol, "HEAD_TIMEOUT_S", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", server_port)
    ended = asyncio.ensure_future(reader.read())
    try:
        async with asyncio.timeout(20):
            while not ended.done():
                writer.write(b"x")
                await asyncio.wait({ended}, timeout=0.02)
        assert b"<" not in (ended.result() if not ended.exception() else b"")
    finally:
        writer.close()


async def test_a_body_that_does_not_come_is_refused(server_port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(api_route, "BODY_TIMEOUT_S", 0.2)
    assert b"<TOO_SLOW>" in await ask(server_port, HEAD + b"{", until=b">")


async def test_a_request_in_time_is_answered_twice_on_one_connection(server_port: int):
    request = HEAD.replace(b"content-length: 2", b"content-length: 8")
    answer = await ask(server_port, request + b'{"a": 1}' + request + b'{"b": 1}', until=b"<b>")
    assert b"<a>" in answer
