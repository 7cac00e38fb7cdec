"""Sessions of a running server and in this process, which speak the same frames as a child process."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import HarnessClient, HarnessError, TurnStop, query
from lsp_harness.sdk import in_process_connection as in_process
from lsp_harness.wire.frame_lines import decode_line, encode_line
from lsp_harness.wire.session_socket import socket_path

READY = {"type": "ready", "session_id": "S", "wire": 1, "version": "0.1.0", "model": "tiny", "cwd": "/"}


class FakeSession:
    """A session that answers each prompt with the options that it was opened with."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self._number = 0

    def answer(self, frame: dict[str, Any]) -> list[dict[str, Any]]:
        self.received.append(frame)
        if frame.get("command") == "open":
            return [READY]
        if "prompt" not in frame:
            return []
        common = {"session_id": "S", "id": frame["id"], "turn": self._number, "turn_number": self._number}
        self._number += 1
        text = f"{frame['prompt']} {sorted(self.received[0]['options'])}"
        return [{"type": "turn_start", **common}, {"type": "turn_stop", "reason": "completed", "text": text, **common}]


@asynccontextmanager
async def open_socket_server(path: Path, session: FakeSession) -> AsyncIterator[None]:
    connections: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        connections.add(task)
        while line := await reader.readline():
            frame = decode_line(line)
            for answer in session.answer(frame):
                writer.write(encode_line(answer))
            if frame.get("command") == "exit" or frame.get("prompt") == "vanish":
                break
        writer.close()

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = await asyncio.start_unix_server(serve, path)
    path.chmod(0o600)
    async with server:
        yield
        await asyncio.wait(connections, timeout=5)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # the path of a socket has at most 107 bytes, and `tmp_path` may be longer
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        monkeypatch.setenv("LSP_HARNESS_HOME", str(folder / "home"))
        monkeypatch.delenv("LSP_HARNESS_SOCKET", raising=False)
        yield folder


async def test_a_client_attaches_to_the_server_of_the_folder(home: Path):
    session = FakeSession()
    async with open_socket_server(socket_path(home), session):
        options = {"cwd": home, "env": {"A": "1"}, "allowed_tools": []}
        async with HarnessClient(attach=True, can_use_tool=lambda context: "allow", **options) as client:  # type: ignore[arg-type]
            assert (client.session_id, client.pid) == ("S", None)
            for number in range(2):
                assert (await (await client.send("hi")).result()).turn_number == number
    opened = session.received[0]
    assert opened == {
        "command": "open",
        "options": {
            "permission_mode": "trust",
            "max_turns": 20,
            "allowed_tools": [],
            "cwd": str(home),
            "ask_permissions": True,
            "env": {"A": "1"},
        },
    }
    assert session.received[-1] == {"command": "exit"}


async def test_the_socket_is_an_option_or_a_variable(home: Path, monkeypatch: pytest.MonkeyPatch):
    path = home / "own" / "s.sock"
    async with open_socket_server(path, FakeSession()):
        assert [event async for event in query("hi", attach=path)]
        monkeypatch.setenv("LSP_HARNESS_SOCKET", str(path))
        assert [event async for event in query("hi", attach=True)]


async def test_a_socket_that_cannot_be_trusted_is_refused(home: Path):
    path = socket_path(home)
    with pytest.raises(HarnessError, match="start `lsp-harness serve`") as failure:
        await anext(query("hi", attach=True, cwd=home))
    assert failure.value.code == "no_server"
    session = FakeSession()
    async with open_socket_server(path, session):
        path.chmod(0o666)
        with pytest.raises(HarnessError, match="mode must be 0600"):
            await anext(query("hi", attach=True, cwd=home))
        path.chmod(0o600)
        # the server waits for one connection
        assert [event async for event in query("hi", attach=True, cwd=home)]
    with pytest.raises(HarnessError, match=r"no server answers|there is no socket"):
        await anext(query("hi", attach=True, cwd=home))


async def test_a_server_that_ends_ends_the_turn(home: Path):
    async with (
        asyncio.timeout(20),
        open_socket_server(socket_path(home), FakeSession()),
        HarnessClient(attach=True, cwd=home) as client,
    ):
        feed = client.events()
        await (await client.send("vanish")).result()
        received = [await anext(feed), await anext(feed)]
        assert isinstance(received[-1], TurnStop)
        with pytest.raises(HarnessError, match="closed the connection"):
            await anext(feed)
        with pytest.raises(HarnessError, match="closed the connection"):
            await client.send("hi")


async def serve_fake(incoming: in_process.FrameQueue, outgoing: in_process.FrameQueue) -> None:
    session = FakeSession()
    while frame := await incoming.get():
        if frame.get("command") == "exit":
            break
        if frame.get("prompt") == "crash":
            raise RuntimeError("a bug")
        for answer in session.answer(dict(frame)):
            await outgoing.put(answer)
    await outgoing.put(None)


@pytest.fixture
def fake_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process, "load_host", lambda: serve_fake)


@pytest.mark.usefixtures("fake_host")
async def test_a_session_runs_in_this_process(tmp_path: Path):
    async with HarnessClient(in_process=True, cwd=tmp_path, model="m") as client:
        stop = await (await client.send("hi")).result()
        assert stop.text == "hi ['cwd', 'env', 'max_turns', 'model', 'permission_mode']"
        assert client.pid is None
    assert len(asyncio.all_tasks()) == 1


@pytest.mark.usefixtures("fake_host")
async def test_a_session_in_this_process_that_fails_ends_the_turn(tmp_path: Path):
    async with asyncio.timeout(20), HarnessClient(in_process=True, cwd=tmp_path) as client:
        turn = await client.send("crash")
        with pytest.raises(HarnessError, match="a bug") as failure:
            await turn.result()
        assert isinstance(failure.value.__cause__, RuntimeError)


async def test_an_installation_without_the_session_host_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(in_process, "SESSION_HOST", "lsp_harness.no_such_module")
    with pytest.raises(HarnessError, match="cannot run a session in this process"):
        await anext(query("hi", in_process=True, cwd=tmp_path))
