"""Python functions as tools: the decorator, the server and its access check, and the file that points to it."""

import asyncio
import json
import logging
import os
import signal
import stat
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from lsp_harness.sdk import HarnessClient, HarnessError, TextDelta, tool
from lsp_harness.sdk.python_tools import collect_tools
from lsp_harness.sdk.tool_config import ToolConfig
from lsp_harness.sdk.tool_server import ToolServer
from tests.sdk.conftest import FakeProgram


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    The details are for people.
    """
    return a + b


@tool(name="sky", description="Say how the weather is.")
async def get_weather(city: str) -> str:
    return f"sunny in {city}"


def plain(text: str) -> str:
    """Repeat a text."""
    return text * 2


async def plain_async(text: str) -> str:
    raise ValueError(f"no {text}")


@asynccontextmanager
async def open_server(*functions: Any) -> AsyncIterator[ToolServer]:
    server = ToolServer(collect_tools(functions))
    await server.start()
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def connect(server: ToolServer) -> AsyncIterator[Client]:
    entry = server.entry()
    async with (
        httpx2.AsyncClient(headers=entry["headers"]) as http,
        Client(streamable_http_client(entry["url"], http_client=http)) as client,
    ):
        yield client


async def test_decorated_and_plain_functions_are_called():
    async with open_server(add, get_weather, plain, plain_async) as server, connect(server) as client:
        tools = {item.name: item for item in (await client.list_tools()).tools}
        assert {name: item.description for name, item in tools.items()} == {
            "add": "Add two numbers.",
            "sky": "Say how the weather is.",
            "plain": "Repeat a text.",
            "plain_async": "",
        }
        assert tools["add"].input_schema["required"] == ["a"]
        assert tools["add"].input_schema["properties"]["b"]["type"] == "integer"
        added = await client.call_tool("add", {"a": 2})
        assert (added.structured_content, added.is_error) == ({"result": 3}, False)
        texts = [await client.call_tool(name, {key: "a"}) for name, key in (("sky", "city"), ("plain", "text"))]
        assert [result.structured_content for result in texts] == [{"result": "sunny in a"}, {"result": "aa"}]
        assert (await client.call_tool("add", {})).is_error


async def test_an_exception_is_reported_with_its_message_and_without_a_traceback(caplog: pytest.LogCaptureFixture):
    def broken(text: str) -> str:
        raise OSError(f"no disk for {text}")

    async with open_server(plain_async, broken) as server, connect(server) as client:
        for name, message in (("plain_async", "ValueError: no a"), ("broken", "OSError: no disk for a")):
            result = await client.call_tool(name, {"text": "a"})
            assert result.is_error
            assert message in str(result.content)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_decorated_function_stays_a_function():
    assert add(1, 2) == 3
    assert asyncio.run(get_weather("a")) == "sunny in a"


async def test_a_synchronous_tool_does_not_stall_the_events(write_fake_program: FakeProgram):
    write_fake_program()
    is_running, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        is_running.set()
        may_end.wait()
        return "done"

    async with asyncio.timeout(30), open_server(slow) as server, connect(server) as client:
        call = asyncio.create_task(client.call_tool("slow", {}))
        while not is_running.is_set():  # noqa: ASYNC110 - an event of a thread
            await asyncio.sleep(0)
        async with HarnessClient() as harness:
            texts = [event.content async for event in await harness.send("hi") if isinstance(event, TextDelta)]
        assert texts == ["echo ", "hi"]
        assert not call.done()
        may_end.set()
        assert (await call).structured_content == {"result": "done"}


async def test_a_request_needs_a_token_that_no_web_page_has():
    async with open_server(plain) as server, httpx2.AsyncClient() as http:
        entry = server.entry()
        url, allowed = entry["url"], entry["headers"]
        port = server.port
        cases: list[tuple[dict[str, str], int]] = [
            ({}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": allowed["Authorization"].removeprefix("Bearer ")}, 401),
            ({**allowed, "Host": "evil.example"}, 403),
            ({**allowed, "Host": f"evil.example:{port}"}, 403),
            ({**allowed, "Origin": "http://evil.example"}, 403),
            ({**allowed, "Origin": f"http://127.0.0.1:{port}"}, 403),
            ({"Host": "evil.example"}, 403),
        ]
        for headers, status in cases:
            for path in ("", "/", "/other"):
                answer = await http.post(url + path, headers=headers, json={})
                assert answer.status_code == status, headers
        assert (await http.post(url, headers={**allowed, "Accept": "application/json"}, json={})).status_code not in (
            *(401, 403),
        )


async def test_the_server_listens_only_on_this_machine_and_on_a_new_port():
    async with open_server(plain) as first, open_server(plain) as second:
        assert first.port != second.port
        assert first.entry()["headers"] != second.entry()["headers"]
        own = [c for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN]
        listening = {c.laddr.ip for c in own if c.laddr.port in (first.port, second.port)}
        assert listening == {"127.0.0.1"}


async def test_the_server_ends_with_the_client_and_leaves_no_file(write_fake_program: FakeProgram):
    write_fake_program("""
        def show(frame, number):
            start(frame, number)
            path = option("mcp-config")
            modes = [oct(os.stat(name).st_mode & 0o777) for name in (os.path.dirname(path), path)]
            stop(frame, number, text=json.dumps([path, json.load(open(path)), modes]))
        ready()
        serve(show)
    """)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    root_handlers = list(logging.getLogger().handlers)
    async with HarnessClient(tools=[plain]) as client:
        path, config, modes = json.loads((await (await client.send("hi")).result()).text)
        assert modes == ["0o700", "0o600"]
        entry = config["mcpServers"]["sdk"]
        assert (entry["type"], entry["url"].startswith("http://127.0.0.1:")) == ("http", True)
        assert {number: signal.getsignal(number) for number in handlers} == handlers
        assert logging.getLogger().handlers == root_handlers
    assert not Path(path).parent.exists()
    async with httpx2.AsyncClient() as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get(entry["url"])


async def test_a_session_that_does_not_start_leaves_no_server_and_no_file(
    write_fake_program: FakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    write_fake_program("sys.exit(1)")
    tasks = asyncio.all_tasks()
    with pytest.raises(HarnessError):
        async with HarnessClient(tools=[plain]):
            pass
    assert os.listdir(tmp_path / "temporary") == []
    assert asyncio.all_tasks() == tasks


def test_a_function_that_cannot_be_a_tool_is_an_error():
    for functions, message in (
        ([lambda text: text], "needs a name"),
        ([plain, tool(name="plain")(lambda text: text)], "several tools have the name plain"),
        ([tool(name="a b")(lambda text: text)], "needs a name of letters"),
        (["plain"], "is not a function"),
    ):
        with pytest.raises(HarnessError, match=message):
            HarnessClient(tools=functions)  # type: ignore[arg-type]


async def test_the_server_ends_in_the_middle_of_a_call(caplog: pytest.LogCaptureFixture):
    is_running = asyncio.Event()

    async def endless() -> str:
        is_running.set()
        await asyncio.Event().wait()
        return "never"

    tasks = asyncio.all_tasks()
    server = ToolServer(collect_tools([endless]))
    await server.start()
    async with asyncio.timeout(20), connect(server) as client:
        calling = asyncio.create_task(client.call_tool("endless", {}))
        await is_running.wait()
        await server.close()
        with pytest.raises(MCPError):
            await calling
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
    assert asyncio.all_tasks() == tasks


async def test_annotations_may_be_texts_and_models():
    # as in a module with `from __future__ import annotations`
    def describe(values: "list[int]", unit: "Literal['m', 'km']" = "m") -> "dict[str, float]":
        return {unit: float(sum(values))}

    async with open_server(describe) as server, connect(server) as client:
        [listed] = (await client.list_tools()).tools
        properties = listed.input_schema["properties"]
        assert properties["values"]["items"] == {"type": "integer"}
        assert properties["unit"]["enum"] == ["m", "km"]
        result = await client.call_tool("describe", {"values": [1, 2], "unit": "km"})
        assert result.structured_content == {"km": 3.0}
        assert (await client.call_tool("describe", {"values": [1], "unit": "mile"})).is_error


async def test_a_parameter_without_a_schema_is_an_error():
    def strange(_hidden: int) -> int:
        return 1

    with pytest.raises(HarnessError, match="strange cannot be a tool"):
        async with open_server(strange):
            pass


async def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "mcp.server", None)
    with pytest.raises(HarnessError, match=r"pip install 'lsp-harness\[mcp\]'") as failure:
        async with open_server(plain):
            pass
    assert failure.value.code == "missing_extra"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "has no object 'mcpServers'"),
        ('{"mcpServers": []}', "has no object 'mcpServers'"),
        ('{"mcpServers": {"sdk": {}}}', "has a server with the reserved name sdk"),
    ],
)
def test_a_file_of_servers_that_cannot_be_used_is_an_error(text: str, message: str, tmp_path: Path):
    (tmp_path / "servers.json").write_text(text)
    with pytest.raises(HarnessError, match=message):
        ToolConfig({}, tmp_path / "servers.json")


def test_the_file_is_private():
    config = ToolConfig({"url": "x"}, None)
    assert stat.S_IMODE(config.path.stat().st_mode) == 0o600
    config.close()
    config.close()
    assert not config.path.parent.exists()
