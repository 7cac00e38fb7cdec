"""Tests of the tools of other programs, with real servers over stdio and HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_harness.chat.mcp.mcp_servers import McpServers
from lsp_harness.chat.mcp.mcp_tool import convert_result, tool_name
from lsp_harness.chat.mcp.server_connection import ServerConnection
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.chat.tool import CallContext, Tool, ToolResult
from lsp_harness.chat.tool_grammar import build_tool_grammar
from lsp_harness.errors import HarnessError
from tests.test_tidy import ROOT

pytestmark = pytest.mark.process

CONTEXT = CallContext("call-1")


def make_demo_server(*flaws: str, **options: Any) -> ServerSpec:
    environment = {"PYTHONPATH": str(ROOT), "SECRET": "$MCP_TEST_SECRET"} | options.pop("env", {})
    return ServerSpec("demo", sys.executable, ("-m", "tests.support.mcp_server", *flaws), environment, **options)


async def run(tools: Mapping[str, Tool], name: str, /, **input: Any) -> ToolResult:
    return await tools[f"mcp__demo__{name}"].run(input, CONTEXT)


async def call_and_read_error(tools: Mapping[str, Tool], name: str, /, **input: Any) -> str:
    with pytest.raises(HarnessError) as error:
        await run(tools, name, **input)
    return error.value.message


def convert_to_text(result: Any) -> str:
    return convert_result(result).text


@pytest.fixture(autouse=True)
def secret_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MCP_TEST_SECRET", "s3cret")


async def test_tools_of_a_program_are_listed_and_called(tmp_path: Path):
    async with McpServers([make_demo_server()], tmp_path) as servers:
        tools = servers.tools()
        assert servers.problems == {}
        assert list(tools)[:3] == ["mcp__demo__add", "mcp__demo__fail", "mcp__demo__slow"]
        assert tools["mcp__demo__add"].description == "Add two numbers."
        assert tools["mcp__demo__add"].action({"a": 1}).kind == "execute"
        assert build_tool_grammar(tools.values()).warnings == ()
        assert await run(tools, "add", a=1, b=2) == ToolResult("3", data={"result": 3})
        assert (await run(tools, "fail", reason="x")).is_error
        assert (await run(tools, "add", a="one")).is_error
        # it has the key that the settings give it, and nobody else sees it
        assert await run(tools, "environment", name="SECRET") == ToolResult("…", data={"result": "…"})
        # a server does not see the keys in our environment
        assert (await run(tools, "environment", name="MCP_TEST_SECRET")).text == "not set"
        assert await run(tools, "token") == ToolResult("…", data={"result": "…"})
        results = await asyncio.gather(*(run(tools, "add", a=n, b=n) for n in range(20)))
        assert [result.text for result in results] == [str(2 * n) for n in range(20)]
        pid = int((await run(tools, "process")).text)
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


async def test_only_the_allowed_tools_of_enabled_servers_are_offered(tmp_path: Path):
    off = ServerSpec("off", "/no/such/program", is_enabled=False)
    async with McpServers([make_demo_server(tools=frozenset({"add", "multiply"})), off], tmp_path) as servers:
        assert list(servers.tools()) == ["mcp__demo__add"]
        assert servers.problems == {"demo": "the MCP server demo has no tool multiply; correct the list tools"}


async def test_a_call_that_takes_too_long_is_an_error_and_the_server_stays(tmp_path: Path):
    async with McpServers([make_demo_server(timeout_s=0.5)], tmp_path) as servers:
        tools = servers.tools()
        assert await call_and_read_error(tools, "slow") == (
            "slow of the MCP server demo did not answer within 0.5 s; mcp.servers.demo.timeout_s sets the limit"
        )
        assert (await run(tools, "add", a=1, b=2)).text == "3"


async def test_a_server_that_ends_is_started_again_once(tmp_path: Path):
    async with McpServers([make_demo_server()], tmp_path) as servers:
        tools = servers.tools()
        first = (await run(tools, "process")).text
        assert await call_and_read_error(tools, "die") == (
            "the MCP server demo ended during the call; it is started again for the next call"
        )
        assert (await run(tools, "process")).text != first
        assert await call_and_read_error(tools, "die") == "the MCP server demo ended during the call; it stays off"
        assert (await call_and_read_error(tools, "add", a=1, b=2)).startswith(
            "the MCP server demo has ended and was started again once before"
        )


async def test_a_server_that_ends_between_two_calls_is_started_again_before_the_next_one(tmp_path: Path):
    connection = ServerConnection(make_demo_server(), tmp_path, 20)
    await connection.start()
    process = psutil.Process(int(convert_to_text(await connection.call("process", {}, print))))
    process.kill()
    async with asyncio.timeout(10):
        await connection.signs.is_over.wait()
    assert convert_to_text(await connection.call("add", {"a": 1, "b": 2}, print)) == "3"
    await connection.stop()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            ServerSpec("demo", "/no/such/program"),
            "the program /no/such/program of the MCP server demo cannot be started: no such file or directory",
        ),
        (make_demo_server("dead"), "the MCP server demo ended while it was started. It wrote: no licence"),
        (
            make_demo_server(env={"A": "$MCP_TEST_ABSENT"}),
            "env.A of the MCP server demo refers to $MCP_TEST_ABSENT, which is not set; set it in the environment",
        ),
        (
            ServerSpec("demo", url="http://127.0.0.1:9/mcp"),
            "the MCP server demo at http://127.0.0.1:9/mcp cannot be used: All connection attempts failed",
        ),
        (make_demo_server(cwd=Path("absent")), "there is no folder "),
    ],
    ids=["absent", "dead", "variable", "refused", "folder"],
)  # fmt: skip
async def test_a_server_that_cannot_be_started_is_a_problem_and_no_error(
    tmp_path: Path, spec: ServerSpec, message: str
):
    async with McpServers([spec], tmp_path) as servers:
        assert servers.problems["demo"].startswith(message)
        assert servers.tools() == {}


async def test_a_server_that_does_not_answer_is_ended(tmp_path: Path):
    children = len(psutil.Process().children())
    async with McpServers([make_demo_server("silent")], tmp_path, start_s=1.0) as servers:
        assert servers.problems == {"demo": "the MCP server demo did not answer within 1 s"}
    assert len(psutil.Process().children()) == children


async def test_a_server_may_write_a_lot_to_its_standard_error(tmp_path: Path):
    async with McpServers([make_demo_server("noisy")], tmp_path) as servers:
        assert (await run(servers.tools(), "add", a=1, b=2)).text == "3"


def test_the_library_is_not_imported_without_a_server():
    program = "import sys, lsp_harness.chat.mcp.mcp_servers; print({'mcp', 'httpx2', 'anyio'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "set()\n"


async def test_without_the_library_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    async with McpServers([make_demo_server()], tmp_path) as servers:
        assert servers.problems == {"demo": "this needs the package mcp; run: pip install 'lsp-harness[mcp]'"}
    async with McpServers([]) as servers:
        assert servers.problems == {}


@asynccontextmanager
async def serve_tools_over_http(seen: list[Mapping[str, str]]) -> AsyncIterator[str]:
    """Serve the tools on a socket that was bound before, and yield the address."""
    import uvicorn

    from tests.support.mcp_server import server

    app = server.streamable_http_app()

    async def recording(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append({key.decode(): value.decode() for key, value in scope["headers"]})
        await app(scope, receive, send)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # connections wait until the server is up
        listener.listen()
        web = uvicorn.Server(uvicorn.Config(recording, log_level="critical", lifespan="on"))
        serving = asyncio.create_task(web.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            web.should_exit = True
            await serving


async def test_tools_of_an_address_are_called_with_the_headers():
    seen: list[Mapping[str, str]] = []
    async with serve_tools_over_http(seen) as url:
        spec = ServerSpec("demo", url=url, headers={"Authorization": "Bearer ${MCP_TEST_SECRET}"})
        async with McpServers([spec]) as servers:
            tools = servers.tools()
            assert servers.problems == {}
            assert tools["mcp__demo__add"].action({}).kind == "network"
            assert await run(tools, "add", a=1, b=2) == ToolResult("3", data={"result": 3})
    assert {headers.get("authorization") for headers in seen} == {"Bearer s3cret"}


async def test_calls_to_an_address_that_no_longer_answers_are_errors():
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(AsyncExitStack())
        url = await web.enter_async_context(serve_tools_over_http([]))
        servers = await stack.enter_async_context(McpServers([ServerSpec("demo", url=url)]))
        await web.aclose()
        first, second = [await call_and_read_error(servers.tools(), "add", a=1, b=2) for _ in range(2)]
    assert first == "the MCP server demo ended during the call; it is started again for the next call"
    assert second == f"the MCP server demo at {url} cannot be used: All connection attempts failed"


async def test_an_address_that_is_no_mcp_server_is_a_problem():
    async with serve_tools_over_http([]) as url, McpServers([ServerSpec("demo", url=f"{url}/other")]) as servers:
        assert servers.problems["demo"].startswith(f"the MCP server demo at {url}/other cannot be used: ")


def test_names_of_tools_have_characters_that_all_providers_allow():
    assert tool_name("s", "a.b/c d") == "mcp__s__a_b_c_d"
    assert len(tool_name("s", "x" * 100)) == 64
    assert os.sep not in tool_name("s", "../..")
