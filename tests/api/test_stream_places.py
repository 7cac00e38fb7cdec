"""Tests of the limit of open streams: one too many is refused in one line of the log, and closed ones are freed."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sse_starlette.event import ServerSentEvent
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from lsp_harness.api.api_context import MAX_STREAMS, ApiContext
from lsp_harness.api.api_errors import TooManyStreams
from lsp_harness.api.event_streams import open_event_stream
from tests.api.conftest import ApiProcess


async def test_a_refused_websocket_is_one_line_of_the_log(api: ApiProcess):
    def open_socket() -> connect:
        return connect(f"ws://127.0.0.1:{api.port}/ws/events", additional_headers=api.headers)

    async with AsyncExitStack() as stack:
        for _ in range(MAX_STREAMS):
            await stack.enter_async_context(open_socket())
        with pytest.raises(InvalidStatus) as refused:
            await open_socket()
        assert refused.value.response.status_code == 503
        async with api.client() as client:
            answer = await client.get("/events", headers={"accept": "text/event-stream"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "TOO_MANY_STREAMS")
    # the places are free again
    async with asyncio.timeout(20), open_socket() as socket:
        assert json.loads(await socket.recv())["type"] == "connected"
    await api.end()
    lines = api.log.decode().splitlines()
    assert [line for line in lines if "Traceback" in line or "ERROR" in line or "ASGI" in line] == []
    # a request may also take 503 ms
    assert len([line for line in lines if "events 503 " in line]) == 2


async def test_a_binary_message_does_not_end_the_events(api: ApiProcess):
    async with connect(f"ws://127.0.0.1:{api.port}/ws/events", additional_headers=api.headers) as socket:
        assert json.loads(await socket.recv())["type"] == "connected"
        await socket.send(b"\xff\0")
        await socket.send("ping")
        assert json.loads(await socket.recv())["type"] == "pong"


async def test_a_message_that_is_no_text_is_one_line_of_the_log(api: ApiProcess):
    async with connect(f"ws://127.0.0.1:{api.port}/ws/events", additional_headers=api.headers) as socket:
        assert json.loads(await socket.recv())["type"] == "connected"
        await socket.send(b"\xff", text=True)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    await api.end()
    assert b"Traceback" not in api.log


async def test_a_client_that_disconnects_during_its_request_is_one_line_of_the_log(api: ApiProcess):
    _, writer = await asyncio.open_connection("127.0.0.1", api.port)
    head = f"POST /agents HTTP/1.1\r\nHost: localhost:{api.port}\r\nAuthorization: Bearer {api.token}\r\n"
    writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    await writer.drain()
    writer.close()
    async with asyncio.timeout(20):
        while b"POST /agents" not in api.log:
            async with api.client() as client:
                await client.get("/health")
    await api.end()
    assert b"Traceback" not in api.log


async def test_a_stream_whose_client_disconnects_early_frees_its_place():
    context: Any = SimpleNamespace(open_streams=0, max_streams=1)

    async def events() -> AsyncGenerator[ServerSentEvent]:
        yield ServerSentEvent("a")

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any):
        raise OSError("the client is gone")

    answer = open_event_stream(cast("ApiContext", context), events())
    assert context.open_streams == 1
    with pytest.raises(TooManyStreams):
        open_event_stream(cast("ApiContext", context), events())
    with pytest.raises((OSError, ExceptionGroup)):
        await answer({"type": "http", "method": "GET", "asgi": {"spec_version": "2.4"}}, receive, send)
    assert context.open_streams == 0
