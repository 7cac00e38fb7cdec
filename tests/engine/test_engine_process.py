"""Tests of the process: who may connect, how it ends, and what it reports if it cannot start."""

import os
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

import lsp_harness
from lsp_harness.config import paths
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.engine.main import bind_socket, identify_socket, report_to_parent
from tests.support.engine import EngineProcess


@pytest.fixture
def socket_path(home: Path) -> Path:
    return paths.runtime_folder() / "s"


def test_only_this_user_can_connect(tiny_model: Path, socket_path: Path):
    with EngineProcess.start(tiny_model, socket_path):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (socket_path, socket_path.parent)]

    assert [oct(mode) for mode in modes] == ["0o600", "0o700"]


async def test_a_terminated_engine_leaves_no_file_behind(tiny_model: Path, socket_path: Path):
    with EngineProcess.start(tiny_model, socket_path, "--n-ctx", "8192") as engine:
        async with engine.http() as http:
            body = {"prompt": "def f", "n_predict": 8000, "stream": True}
            async with http.stream("POST", "/completion", json=body) as response:
                lines = response.aiter_lines()
                await anext(lines)
                engine.process.terminate()
                # what was still to come is cut off, unless it is there within the second of grace
                with suppress(httpx2.RemoteProtocolError):
                    async for _ in lines:
                        pass
        assert engine.process.wait(60) == 0
        assert not socket_path.exists()


def test_an_unused_engine_ends_after_a_while(tiny_model: Path, socket_path: Path):
    with EngineProcess.start(tiny_model, socket_path, "--idle", "0.01") as engine:
        assert engine.process.wait(60) == 0
    assert not socket_path.exists()


def test_an_engine_ends_when_its_program_is_removed(
    tiny_model: Path, socket_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = socket_path.parent / "environment"
    shutil.copytree(Path(lsp_harness.__file__).parent, folder / "lsp_harness")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    with EngineProcess.start(tiny_model, socket_path) as engine:
        assert "pid" in engine.said
        shutil.rmtree(folder)
        assert engine.process.wait(60) == 0
    assert not socket_path.exists()


@pytest.mark.parametrize("size", [4, 20_000])
def test_a_damaged_model_is_reported_to_the_parent(tiny_model: Path, socket_path: Path, size: int):
    damaged = socket_path.with_name("damaged.gguf")
    damaged.write_bytes(tiny_model.read_bytes()[:size])

    with EngineProcess.start(damaged, socket_path) as engine:
        assert engine.said == {
            "error": "llama.cpp cannot load damaged.gguf: the file is damaged, or its architecture is unknown"
        }
        assert engine.process.wait(60) == 1
        assert engine.said["error"] in engine.log()
    assert not socket_path.exists()


def test_a_parent_that_left_does_not_end_the_engine():
    reader, writer = os.pipe()
    os.close(reader)

    report_to_parent(writer, {"pid": 1})

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(writer)


@pytest.fixture
def short_socket_path() -> Iterator[Path]:
    folder = Path("/tmp") / f"lh-{os.getpid()}"
    folder.mkdir()
    yield folder / "s"
    shutil.rmtree(folder)


def test_a_socket_of_a_dead_engine_is_replaced_by_another_socket(short_socket_path: Path):
    first = bind_socket(short_socket_path, open_channel(short_socket_path))
    old = identify_socket(short_socket_path)
    first.close()
    assert short_socket_path.exists()

    second = bind_socket(short_socket_path, open_channel(short_socket_path))

    assert identify_socket(short_socket_path) not in (old, (0, 0))
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(short_socket_path))
    second.close()
