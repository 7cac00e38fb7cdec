"""The socket on which a language server serves sessions to other programs."""

import asyncio
import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import HarnessClient, HarnessError
from lsp_harness.wire.session_socket import socket_path
from tests.server.sessions.conftest import Serve, run_command
from tests.support.lsp import Editor


async def say(client: HarnessClient, prompt: str) -> str:
    """Send a prompt, and return the answer."""
    return (await (await client.send(prompt)).result()).text


async def wait_for_socket(editor: Editor, root: Path, other_than: int = 0) -> Path:
    """Wait until a server serves its socket, and return the path."""
    path = socket_path(root)
    async with asyncio.timeout(20):
        while not path.exists() or path.lstat().st_ctime_ns == other_than:
            await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    return path


async def test_a_program_attaches_to_the_server_and_uses_its_model(serve: Serve, root: Path):
    editor = await serve({"text": "for the program", "expect": "hello"}, "for the editor")
    path = await wait_for_socket(editor, root)

    async with HarnessClient(attach=True, cwd=root) as client:
        answer = await say(client, "hello")
        assert client.pid is None

    assert answer == "for the program"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    # the replies are those of one engine
    assert (await run_command(editor, "agent.run", prompt="hi"))["text"] == "for the editor"
    saved = {row["id"]: row["isOpen"] for row in await run_command(editor, "session.list")}
    assert saved[client.session_id] is False
    await editor.leave()
    assert not path.exists()


async def test_a_session_of_the_editor_is_continued_by_a_program(serve: Serve, root: Path):
    editor = await serve("one", {"text": "two", "expect": "one"})
    await wait_for_socket(editor, root)
    session = (await run_command(editor, "agent.run", prompt="count"))["sessionId"]

    with pytest.raises(HarnessError, match="is open in"):
        async with HarnessClient(attach=True, cwd=root, resume=session):
            pass
    await run_command(editor, "session.close", sessionId=session)
    async with HarnessClient(attach=True, cwd=root, resume=session) as client:
        assert await say(client, "go on") == "two"


async def test_a_folder_that_is_not_of_this_workspace_is_refused(serve: Serve, root: Path, tmp_path: Path):
    path = await wait_for_socket(await serve(), root)
    (tmp_path / "other").mkdir()

    with pytest.raises(HarnessError, match="this server serves"):
        async with HarnessClient(attach=path, cwd=tmp_path / "other"):
            pass


async def test_the_socket_of_a_killed_server_is_replaced(serve: Serve, root: Path):
    first = await serve()
    path = await wait_for_socket(first, root)
    first.process.send_signal(signal.SIGKILL)
    await first.process.wait()
    assert path.exists()
    before = path.lstat().st_ctime_ns

    second = await serve("hello")
    await wait_for_socket(second, root, before)
    async with HarnessClient(attach=True, cwd=root) as client:
        assert await say(client, "hi") == "hello"


async def test_a_second_server_of_the_folder_does_not_take_the_socket(serve: Serve, root: Path):
    path = await wait_for_socket(await serve("from the first"), root)
    inode = path.lstat().st_ino
    second = await serve("from the second")
    assert (await run_command(second, "agent.run", prompt="hi"))["text"] == "from the second"
    await second.leave()

    assert path.lstat().st_ino == inode
    async with HarnessClient(attach=True, cwd=root) as client:
        assert await say(client, "hi") == "from the first"


@pytest.mark.parametrize("options", [{"trusted": False}, {"sessions": {"listen": False}}])
async def test_no_socket_is_opened_without_trust_or_against_the_settings(
    serve: Serve, root: Path, options: dict[str, object]
):
    editor = await serve("hi", **options)
    await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert not os.path.lexists(socket_path(root))


async def test_invalid_frames_are_refused_and_a_lost_program_ends_its_session(serve: Serve, root: Path):
    editor = await serve({"hang": True})
    path = await wait_for_socket(editor, root)
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(b'{"command": "open"}\nnonsense\n{"id": "1", "prompt": "think"}\n')
    frames: list[dict[str, Any]] = []
    while not any(frame["type"] == "turn_start" for frame in frames):
        frames.append(json.loads(await reader.readline()))
    assert "no JSON object" in next(frame for frame in frames if frame["type"] == "response")["error"]["message"]

    writer.close()
    session = frames[0]["session_id"]

    async def is_closed() -> bool:
        events = await run_command(editor, "events.since", sessionId=session)
        return any(frame.get("status") == "closed" for frame in events["events"])

    async with asyncio.timeout(60):
        while not await is_closed():
            pass
