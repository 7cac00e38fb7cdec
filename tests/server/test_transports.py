"""Pipes, files, sockets and WebSockets: who may connect, and what happens if the client does not read or has ended."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from lsp_harness.errors import UsageError
from lsp_harness.server.transport.tcp import Address, parse_address
from tests.server.conftest import FAKE, Spawn
from tests.support.lsp import Editor, encode_messages

STATUS = {"command": "lspHarness.status"}
HEAVY_MODULES = ("llama_cpp", "httpx", "httpx2", "rich", "tree_sitter", "lsp_harness.coding.fix")
"""Modules that a server must not import before its first request."""


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Awaitable[Editor]]]:
    """Start the process. The test connects to it."""
    editors: list[Editor] = []

    async def start_process(*arguments: str) -> Editor:
        editors.append(await Editor.start(FAKE, *arguments))
        return editors[-1]

    yield start_process
    for editor in editors:
        await editor.kill()


async def test_a_tcp_server_serves_one_client_and_ends_with_it(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--tcp", "127.0.0.1:0")
    await editor.connect()
    await editor.initialize()

    port = await editor.listening("tcp")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)

    assert await editor.leave() == 0
    editor.check_answers()


async def test_a_tcp_client_that_hangs_up_ends_the_server(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--tcp", "127.0.0.1:0")
    await editor.connect()
    await editor.initialize()

    editor.hang_up()

    assert await editor.ended() == 1
    assert "Traceback" not in editor.errors


async def test_a_web_page_cannot_post_messages_to_the_socket(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--tcp", "127.0.0.1:0")
    await editor.connect()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})

    editor.write(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    assert await editor.ended() == 1
    assert editor.received == []


@pytest.mark.parametrize("option", ["--tcp", "--ws"])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "example.com:80", "[::]:0", "127.0.0.1", "127.0.0.1:99999", "x"])
async def test_addresses_of_other_machines_are_refused(
    start: Callable[..., Awaitable[Editor]], option: str, address: str
):
    editor = await start(option, address)

    assert await editor.ended() == 2
    assert editor.errors.startswith("lsp-harness: ")
    assert "Traceback" not in editor.errors


async def test_only_one_transport_can_be_chosen(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--tcp", "1", "--ws", "2")

    assert await editor.ended() == 2
    assert editor.errors == "lsp-harness: --tcp and --ws exclude each other; choose one\n"


async def test_a_port_in_use_is_refused(start: Callable[..., Awaitable[Editor]]):
    first = await start("--tcp", "127.0.0.1:0")
    second = await start("--tcp", f"127.0.0.1:{await first.listening('tcp')}")

    assert await second.ended() == 1
    assert "Traceback" not in second.errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:80", Address("127.0.0.1", 80)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:5", Address("::1", 5)),
        ("5", Address("127.0.0.1", 5)),
        (":5", Address("127.0.0.1", 5)),
        ("192.168.0.1:5", None),
        ("127.0.0.1.evil.com:5", None),
        ("", None),
    ],
)
def test_an_address_is_parsed_or_refused(text: str, expected: Address | None):
    if expected:
        assert parse_address(text) == expected
        return
    with pytest.raises(UsageError):
        parse_address(text)


class ClientSocket:
    """The client's end of a WebSocket."""

    def __init__(self, editor: Editor, connection: ClientConnection) -> None:
        self.editor = editor
        self.connection = connection

    def ask(self, id: int, method: str, params: Any = None) -> Awaitable[None]:
        self.editor.request_ids.append(id)
        return self.connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))

    async def answer(self) -> Any:
        message = await self.connection.recv()
        assert isinstance(message, str)
        return json.loads(message)


async def test_the_server_speaks_over_a_websocket(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--ws", "127.0.0.1:0")
    url = f"ws://127.0.0.1:{await editor.listening('ws')}"
    async with connect(url, max_size=None, proxy=None) as connection:
        socket = ClientSocket(editor, connection)
        await socket.ask(1, "initialize", {"processId": None, "capabilities": {}})
        assert (await socket.answer())["result"]["serverInfo"]["name"] == "lsp-harness"
        item = {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": "x" * 5 * 2**20}
        opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}
        await connection.send(json.dumps(opened))
        await socket.ask(2, "workspace/executeCommand", STATUS)
        published, status = await socket.answer(), await socket.answer()
        if "method" in status:
            published, status = status, published
        assert status["result"]["documents"] == [{"uri": "file:///a.py", "version": 1, "bytes": 5 * 2**20}]
        await connection.send("{")
        assert (await socket.answer())["error"]["code"] == -32700
        await socket.ask(3, "shutdown")
        assert (await socket.answer())["result"] is None
        await connection.send(json.dumps({"jsonrpc": "2.0", "method": "exit"}))
        await connection.wait_closed()
    assert await editor.ended() == 0
    assert "Traceback" not in editor.errors


async def test_a_websocket_that_is_dropped_ends_the_server(start: Callable[..., Awaitable[Editor]]):
    editor = await start("--ws", "127.0.0.1:0")
    async with connect(f"ws://127.0.0.1:{await editor.listening('ws')}", proxy=None) as connection:
        connection.transport.abort()

    assert await editor.ended() == 1
    assert "Traceback" not in editor.errors


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://localhost.evil.example"}, False),
        ({"Host": "evil.example:80"}, False),
        ({"Origin": "http://localhost:3000"}, True),
        ({"Origin": "http://127.0.0.1:3000"}, True),
    ],
)
async def test_pages_from_elsewhere_may_not_connect(
    start: Callable[..., Awaitable[Editor]], headers: dict[str, str], allowed: bool
):
    editor = await start("--ws", "127.0.0.1:0")
    port = await editor.listening("ws")
    host = headers.pop("Host", f"127.0.0.1:{port}")
    connection_options: dict[str, Any] = {"host": "127.0.0.1", "port": port, "proxy": None}

    if allowed:
        async with connect(f"ws://{host}", additional_headers=headers, **connection_options):
            return
    with pytest.raises(InvalidStatus, match="403"):
        await connect(f"ws://{host}", additional_headers=headers, **connection_options)


async def test_a_missing_extra_is_named():
    block_import = "import sys; sys.modules['websockets'] = None; import runpy; sys.argv = sys.argv[1:]; "
    run_file = "runpy.run_path(sys.argv[0], run_name='__main__')"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", block_import + run_file, FAKE, "--ws", "127.0.0.1:0", stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()

    assert process.returncode == 2
    assert errors.decode() == "lsp-harness: this needs the package websockets; run: pip install 'lsp-harness[api]'\n"


async def test_standard_streams_may_be_regular_files(tmp_path: Path):
    """asyncio cannot poll regular files, so one thread reads and another writes.

    This server does not come from a fork server, so that the modules that it imported are known, too.
    """
    (tmp_path / "in").write_bytes(
        encode_messages(
            {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
            {"id": 2, "method": "shutdown"},
            {"method": "exit"},
        )
    )
    command = [sys.executable, FAKE, "--refused-modules", ",".join(HEAVY_MODULES)]
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        process = await asyncio.create_subprocess_exec(*command, stdin=source, stdout=target)
        assert await process.wait() == 0

    assert (tmp_path / "out").read_bytes().endswith(b'{"jsonrpc":"2.0","id":2,"result":null}')


async def test_a_client_that_reads_late_gets_all_answers(spawn: Spawn):
    """The answers to 2,000 requests fill the pipe many times before the client reads the first one."""
    editor = await spawn("plain")
    stream = editor.process.stdout
    transport = getattr(stream, "_transport")  # noqa: B009
    transport.pause_reading()
    uris = [f"file:///{'long' * 50}/{n}.py" for n in range(20)]
    for uri in uris:
        editor.open(uri, "")

    ids = [editor.ask("workspace/executeCommand", STATUS) for _ in range(2000)]
    await getattr(editor, "_writer").drain()  # noqa: B009
    transport.resume_reading()

    for id in ids:
        assert len((await editor.answer(id))["documents"]) == 20


async def test_the_server_ends_when_the_editor_is_gone(spawn: Spawn):
    """The pipe stays open, so the server must notice the end of the process."""
    fake_editor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    editor = await spawn("plain", processId=fake_editor.pid)
    assert (await editor.request("workspace/executeCommand", STATUS))["version"]

    fake_editor.kill()
    await fake_editor.wait()

    assert await editor.ended() == 1
    assert f"the editor (process {fake_editor.pid}) has ended" in editor.errors


async def test_an_editor_in_another_pid_namespace_is_not_missed(spawn: Spawn):
    editor = await spawn("plain", processId=2**22 + 1)

    assert (await editor.request("workspace/executeCommand", STATUS))["version"]
