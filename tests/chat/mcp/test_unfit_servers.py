"""Servers of tools whose messages are not valid, late or missing: calls end at once, and servers stay."""

import json
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lsp_harness.chat.mcp import server_connection
from lsp_harness.chat.mcp.http_body import MendedBody
from lsp_harness.chat.mcp.mcp_servers import McpServers
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.chat.mcp.server_transport import ServerMessageReader, ServerSigns
from lsp_harness.chat.tool import CallContext
from lsp_harness.errors import HarnessError
from tests.support import raw_mcp_server
from tests.support.raw_mcp_server import TOOL, answer, make_text_answer
from tests.test_tidy import ROOT

pytestmark = pytest.mark.process

CONTEXT = CallContext("call-1")
CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'
PROGRAM = str(ROOT / "tests" / "support" / Path(raw_mcp_server.__file__).name)


def make_scripted_server(**script: list[str]) -> ServerSpec:
    """Return a server that answers as a script says. `__` in a name stands for a slash."""
    methods = {name.replace("__", "/"): lines for name, lines in script.items()}
    return ServerSpec("raw", sys.executable, (PROGRAM, json.dumps(methods)), timeout_s=20)


@asynccontextmanager
async def start_servers(spec: ServerSpec, folder: Path) -> AsyncIterator[McpServers]:
    async with McpServers([spec], folder) as servers:
        yield servers


async def call(servers: McpServers, tool: str = "one", /, **input: Any) -> str:
    """Return the text of a call, or the message of its error."""
    try:
        return (await servers.tools()[f"mcp__raw__{tool}"].run(input, CONTEXT)).text
    except HarnessError as error:
        return error.message


def make_error_line(code: Any, message: Any = "boom", **more: Any) -> str:
    error = {"code": code, "message": message, **more}
    return json.dumps({"jsonrpc": "2.0", "id": "ID", "error": error}).replace('"ID"', "ID")


@pytest.mark.parametrize("code", [-32000, -32001, -32603, 0, 7])
async def test_an_error_is_an_answer_and_the_server_stays(tmp_path: Path, code: int):
    async with start_servers(make_scripted_server(tools__call=[make_error_line(code)]), tmp_path) as servers:
        assert [await call(servers) for _ in range(3)] == ["the MCP server raw refused the call: boom"] * 3
        assert servers.status()[0].status == "running"


async def test_the_message_has_an_error_before_the_end_of_the_server(tmp_path: Path):
    async with start_servers(make_scripted_server(tools__call=[make_error_line(-32000), "END"]), tmp_path) as servers:
        assert await call(servers) == "the MCP server raw refused the call: boom"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (make_text_answer("ok \ud83d"), "ok \ufffd"),
        ('{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ud83d"}]}}', "\ufffd\ufffd\ufffd"),
        (make_error_line(-32000, "no \udc00"), "the MCP server raw refused the call: no \ufffd"),
        (answer({"content": [], "structuredContent": {"\ud83d": ["\ude00"]}}), '{"\ufffd": ["\ufffd"]}'),
    ],
    ids=["escape", "bytes", "error", "structure"],
)
async def test_half_a_character_is_replaced(tmp_path: Path, line: str, shown: str):
    async with start_servers(make_scripted_server(tools__call=[line]), tmp_path) as servers:
        assert await call(servers) == shown


async def test_half_a_character_of_an_argument_and_of_a_list_is_replaced(tmp_path: Path):
    listed = answer({"tools": [{**TOOL, "description": "\ud83d", "title": "\ude00"}]})
    async with start_servers(make_scripted_server(tools__list=[listed]), tmp_path) as servers:
        assert servers.tools()["mcp__raw__one"].description == "\ufffd"
        assert json.loads(await call(servers, text="\ud83d", more={"\ude00": ["\ud83d\ude00"]})) == {
            "text": "\ufffd",
            "more": {"\ufffd": ["\U0001f600"]},
        }


INVALID = (
    '{"jsonrpc": "2.0", "id": ID}',
    '{"jsonrpc": "2.0", "id": ID, "result": 5}',
    '{"jsonrpc": "2.0", "id": ID, "result": null}',
    '{"jsonrpc": "2.0", "id": ID, "result": []}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "a"',
    '{"jsonrpc": "1.0", "id": ID, "result": {"content": []}}',
    '{"id": ID, "result": {"content": []}}',
    '{"jsonrpc": "2.0", "id": ID, "error": "boom"}',
    '{"jsonrpc": "2.0", "id": ID, "error": {"code": "x", "message": 5}}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": 5}}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "nope"}]}}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text"}]}}',
    '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": 5}]}}',
)


@pytest.mark.parametrize("line", INVALID)
async def test_an_answer_that_is_not_valid_ends_its_call_at_once(tmp_path: Path, line: str):
    async with start_servers(make_scripted_server(tools__call=[line]), tmp_path) as servers:
        began_s = time.monotonic()
        for _ in range(2):
            message = await call(servers)
            assert "not valid" in message or "refused the call" in message, message
        assert time.monotonic() - began_s < 15
        assert servers.status()[0].status == "running"


NOISE = (
    "listening on port 80",
    "[]",
    "5",
    "{",
    "null",
    '{"jsonrpc": "2.0", "id": 4711, "result": {}}',
    '{"jsonrpc": "2.0", "id": null, "error": {"code": 5, "message": "x"}}',
    '{"jsonrpc": "2.0", "id": [], "result": {}}',
    '{"jsonrpc": "2.0", "method": 5}',
    '{"jsonrpc": "2.0", "method": "notifications/none", "params": 5}',
    '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": [], "data": 5}}',
    '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": ID, "progress": "x"}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ID}}',
    '{"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}',
    '{"jsonrpc": "2.0", "id": "x", "method": "roots/list"}',
    "\x00\x01",
    "[" * 20_000,
    "",
)


async def test_lines_that_are_no_messages_are_left_out(tmp_path: Path):
    lines = [*NOISE, make_text_answer("fine"), make_text_answer("twice")]
    async with start_servers(
        make_scripted_server(tools__call=lines, tools__list=[*NOISE, answer({"tools": [TOOL]})]), tmp_path
    ) as servers:
        assert [await call(servers) for _ in range(3)] == ["fine"] * 3


async def test_half_a_line_at_the_end_is_the_end(tmp_path: Path):
    async with start_servers(
        make_scripted_server(tools__call=['{"jsonrpc": "2.0", "id": ID, "resNOEND', "END"]), tmp_path
    ) as servers:
        assert (await call(servers)).startswith("the MCP server raw ended during the call")


async def test_a_line_that_is_too_long_ends_the_calls_that_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.wire.message_lines.MessageLines.__init__.__defaults__", (1_000,))
    async with start_servers(make_scripted_server(tools__call=[make_text_answer("x" * 2_000)]), tmp_path) as servers:
        assert await call(servers) == "the MCP server raw refused the call: a line has more than 1,000 bytes"
        assert servers.status()[0].status == "running"


@pytest.mark.parametrize("method", ["initialize", "tools__list"])
async def test_a_server_that_is_silent_at_its_start_is_a_problem(tmp_path: Path, method: str):
    for lines in ([], ["noise"], ["END"], ['{"jsonrpc": "2.0", "id": ID, "result": 5}']):
        async with McpServers([make_scripted_server(**{method: lines})], tmp_path, start_s=3.0) as servers:
            assert list(servers.problems) == ["raw"]
            assert servers.tools() == {}


async def test_a_server_with_an_older_protocol_may_ignore_the_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lsp_harness.chat.mcp.server_transport.DISCOVER_S", 0.2)
    async with start_servers(make_scripted_server(server__discover=[]), tmp_path) as servers:
        assert servers.problems == {}
        assert await call(servers, a=1) == '{"a": 1}'


async def test_a_list_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server_connection, "MAX_PAGES", 5)
    page = answer({"tools": [], "nextCursor": "again"})
    async with start_servers(make_scripted_server(tools__list=[page]), tmp_path) as servers:
        assert servers.problems == {}


async def test_a_list_that_has_changed_is_read_again(tmp_path: Path):
    async with start_servers(
        make_scripted_server(tools__call=["OTHER", CHANGED, make_text_answer("ok")]), tmp_path
    ) as servers:
        assert not await servers.refresh()
        await call(servers)
        assert await servers.refresh()
        assert list(servers.tools()) == ["mcp__raw__one", "mcp__raw__two"]
        assert await call(servers, "two") == "ok"
        # it says again that it has changed, and has not
        assert not await servers.refresh()


async def test_a_list_that_cannot_be_read_again_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server_connection, "RELIST_S", 0.3)
    async with start_servers(
        make_scripted_server(tools__call=[CHANGED, make_text_answer("ok"), "WAIT"]), tmp_path
    ) as servers:
        assert await call(servers) == "ok"
        assert not await servers.refresh()
        assert list(servers.tools()) == ["mcp__raw__one"]


def test_each_random_line_becomes_a_message_or_is_dropped():
    choose = random.Random(20_261_130)
    values: list[Any] = [
        None,
        True,
        0,
        -1,
        1.5,
        "",
        "x",
        "\ud83d",
        [],
        {},
        [1],
        {"a": {}},
        {"code": -32000, "message": "m"},
    ]
    keys = ["jsonrpc", "id", "method", "params", "result", "error"]
    for _ in range(3_000):
        reader = ServerMessageReader(ServerSigns())
        message = {key: choose.choice(values) for key in choose.sample(keys, choose.randint(0, 6))}
        if choose.random() < 0.7:
            message["jsonrpc"] = "2.0"
        line = json.dumps(message).encode()
        if choose.random() < 0.3:
            place = choose.randrange(len(line))
            line = line[:place] + bytes([choose.randrange(256)]) + line[place + choose.randint(0, 3) :]
        read = reader.read(line)
        assert read is None or "\ud83d" not in repr(read)


async def test_half_a_character_over_http_is_replaced_even_between_two_parts():
    whole = b'data: {"a": "\\ud83d\\ude00 \\ud83d"}\r\n\r\ndata: "\\ude00"'

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(whole), 3):
            yield whole[start : start + 3]

    read = b"".join([part async for part in MendedBody(parts(), is_stream=True)])
    assert read.decode() == 'data: {"a": "\\ud83d\\ude00 \ufffd"}\r\n\r\ndata: "\ufffd"'


async def test_an_answer_over_http_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.chat.mcp.http_body.MAX_LINE_BYTES", 100)

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 50 + b"\n"

    with pytest.raises(httpx2.StreamError):
        [part async for part in MendedBody(parts(), is_stream=False)]
    assert len([part async for part in MendedBody(parts(), is_stream=True)]) == 3
