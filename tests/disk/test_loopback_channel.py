"""The local channel of systems without Unix sockets: it runs here, too."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from lsp_harness.disk.channel_form import HttpAccess
from lsp_harness.disk.loopback_channel import LOOPBACK_ADDRESS, LoopbackChannel

LINE_BYTES = 1000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "engine.sock"


async def test_only_a_program_that_knows_the_token_is_admitted(path: Path):
    channel = LoopbackChannel(path)
    answers: asyncio.Queue[bool] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers.put_nowait(await channel.admits(reader))
        writer.close()

    async with await asyncio.start_server(accept, sock=channel.listen()):
        for greeting, expected in ((LoopbackChannel(path).greeting(), True), (b"guess\n", False), (b"\n", False)):
            _, writer = await LoopbackChannel(path).connect(LINE_BYTES)
            writer.write(greeting)
            assert await answers.get() is expected
            writer.close()


def test_the_file_names_the_port_to_this_user_only(path: Path):
    channel = LoopbackChannel(path)
    assert (channel.probe(), channel.find_peer()) == ("nobody", None)
    assert "there is no channel" in channel.problem()
    with channel.listen() as listener:
        other = LoopbackChannel(path)
        assert listener.getsockname()[0] == LOOPBACK_ADDRESS
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert (other.probe(), other.find_peer(), other.problem()) == ("connected", os.getpid(), "")
        base = f"http://{LOOPBACK_ADDRESS}:{other.port()}"
        assert other.http_access() == HttpAccess(None, base, {"Authorization": f"Bearer {channel.token}"})
        path.chmod(0o644)
        assert "can be read by other users" in other.problem()
    path.chmod(0o600)
    assert LoopbackChannel(path).probe() == "nobody"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"port": 0, "token": "a", "pid": 1}', '{"port": 1, "token": ""}'])
def test_a_file_without_a_port_and_a_token_opens_nothing(path: Path, content: str):
    path.write_text(content)
    with pytest.raises(FileNotFoundError):
        LoopbackChannel(path).greeting()
    assert LoopbackChannel(path).probe() == "nobody"
