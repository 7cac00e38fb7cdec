"""Tests of the WebSockets: input and output of a terminal, and the events with their replay."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from lsp_harness.api.routes.socket_routes import read_control
from tests.api.conftest import ApiProcess, spawn, wait_for_status


@asynccontextmanager
async def attach_client(api: ApiProcess, agent_id: str, query: str = "") -> AsyncIterator[ClientConnection]:
    """Yield a client of a terminal whose first frame has been read."""
    url = f"ws://127.0.0.1:{api.port}/ws/agents/{agent_id}/terminal{query}"
    async with connect(url, additional_headers=api.headers) as socket:
        assert json.loads(await socket.recv())["type"] == "connected"
        yield socket


def decode_message(message: str | bytes) -> str:
    """Return a message as a terminal shows it: without NUL."""
    return (message if isinstance(message, str) else message.decode("utf-8", "replace")).replace("\0", "")


async def read_until(socket: ClientConnection, text: str) -> list[Any]:
    """Read messages until the output has a text."""
    messages: list[Any] = []
    async with asyncio.timeout(20):
        while text not in "".join(map(decode_message, messages)):
            messages.append(await socket.recv())
    return messages


@pytest.mark.parametrize(
    ("text", "is_control"),
    [
        ('{"type": "resize", "cols": 80, "rows": 24}', True),
        ('{"type": "ping"}', True),
        ('{"type": "ping"', False),
        ('{"type": "other"}', False),
        ('{"type": ["ping"]}', False),
        ('{"a": 1}', False),
        ('[{"type": "ping"}]', False),
        (' {"type": "ping"}', False),
        ("ls\r", False),
        ("{" * 100_000, False),
    ],
)
def test_only_known_objects_are_control_messages(text: str, is_control: bool):
    assert (read_control(text) is not None) is is_control


async def test_json_is_printed_and_typed_in_text_mode(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        async with attach_client(api, agent["id"]) as socket:
            await socket.send("cat\r")
            await read_until(socket, "cat")
            await socket.send('{"a": 1}\r')
            messages = await read_until(socket, '{"a": 1}\r\n{"a": 1}')
            assert not [message for message in messages if message.startswith("{")]
            await wait_for_status(client, agent["id"], "busy")
            await socket.send("\x03")
            # the shell throws away what is typed before it shows its prompt again
            await wait_for_status(client, agent["id"], "ready")
            await socket.send("printf '\\n'; printf '{'; sleep 0.3; printf '\"type\":\"connected\"}\\n'\r")
            messages = await read_until(socket, '{"type":"connected"}')
            assert not [message for message in messages if message.startswith("{")]


async def test_bytes_go_both_ways_in_binary_mode_and_a_resize_reaches_the_program(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        async with attach_client(api, agent["id"], "?mode=binary") as socket:
            await socket.send(json.dumps({"type": "resize", "cols": 91, "rows": 33}))
            await socket.send(b"stty size; printf '{}\\n'\r")
            messages = await read_until(socket, "33 91")
            assert all(isinstance(message, bytes) for message in messages)
            await socket.send(json.dumps({"type": "resize", "cols": 0, "rows": "x"}))
            while isinstance(message := await socket.recv(), bytes):
                pass
            assert json.loads(message)["type"] == "error"
            await socket.send(json.dumps({"type": "ping"}))
            while isinstance(message := await socket.recv(), bytes):
                pass
            assert json.loads(message) == {"type": "pong"}


async def test_a_second_viewer_sees_the_present_screen_and_both_see_the_end(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        async with attach_client(api, agent["id"]) as first:
            await first.send("echo be''fore\r")
            await read_until(first, "before")
            async with attach_client(api, agent["id"]) as second:
                assert "before" in str(await second.recv())
                await client.delete(f"/agents/{agent['id']}")
                for socket in (first, second):
                    messages = [message async for message in socket]
                    assert json.loads(messages[-1])["type"] == "exit"
                    assert socket.close_code == 1000


async def test_an_unknown_agent_is_refused_before_the_websocket_begins(api: ApiProcess):
    with pytest.raises(InvalidStatus) as caught:
        async with attach_client(api, "01ARZ3NDEKTSV4RRFFQ69G5FAV"):
            pass
    assert caught.value.response.status_code == 404
    assert json.loads(caught.value.response.body or b"")["error"]["code"] == "NOT_FOUND"


async def test_late_events_are_replayed_and_filtered(api: ApiProcess):
    async with api.client() as client:
        first, second = await spawn(client, "echo"), await spawn(client, "echo")
    url = f"ws://127.0.0.1:{api.port}/ws/events?since=0&agentId={second['id']}"
    async with connect(url, additional_headers=api.headers) as socket:
        connected = json.loads(await socket.recv())
        assert (connected["type"], connected["filter"]) == ("connected", {"agentId": second["id"]})
        events: list[Any] = []
        async with asyncio.timeout(20):
            while "agent_ready" not in [event["event"] for event in events]:
                events.append(json.loads(await socket.recv()))
        assert {"event", "data", "timestamp", "seq"} <= events[0].keys()
        assert {event["data"]["agent"]["id"] for event in events} == {second["id"]}
        assert first["id"] not in json.dumps(events)
        await socket.send(json.dumps({"type": "ping"}))
        while (message := json.loads(await socket.recv())).get("type") != "pong":
            assert message["data"]["agent"]["id"] == second["id"]


async def read_size(socket: ClientConnection) -> tuple[int, int]:
    """Return the next size that a viewer is told."""
    async with asyncio.timeout(20):
        while True:
            message = await socket.recv()
            if isinstance(message, str) and (fields := json.loads(message))["type"] == "size":
                return fields["cols"], fields["rows"]


async def test_the_terminal_has_the_size_of_the_viewer_who_typed_last(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")

        async def read_server_size() -> tuple[int, int]:
            screen = (await client.get(f"/agents/{agent['id']}/screen")).json()
            return screen["cols"], screen["lines"]

        async with attach_client(api, agent["id"], "?mode=binary") as large:
            await large.send(json.dumps({"type": "resize", "cols": 140, "rows": 50}))
            async with attach_client(api, agent["id"], "?mode=binary") as small:
                await small.send(json.dumps({"type": "resize", "cols": 71, "rows": 21}))
                assert await read_size(large) == (71, 21), "a viewer who comes counts as one who typed"
                await large.send(b"stty size\r")
                assert await read_size(small) == (140, 50)
                await read_until(large, "50 140")
                # a window that nobody types in does not decide
                await small.send(json.dumps({"type": "resize", "cols": 72, "rows": 22}))
                assert await read_size(small) == (140, 50)
                assert await read_server_size() == (140, 50)
                await small.send(b"stty size\r")
                await read_until(small, "22 72")
            # after the end of a viewer, the one before decides again
            assert await read_size(large) == (72, 22)
            assert await read_size(large) == (140, 50)
