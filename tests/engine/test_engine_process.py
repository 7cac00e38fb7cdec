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
from lsp_harness.engine.main import bind_socket, identify_socket, report_to_parent
from tests.support.engine import EngineProcess


@pytest.fixture
def place(home: Path) -> Path:
    return paths.runtime_folder() / "s"


def test_only_this_user_can_connect(tiny_model: Path, place: Path):
    with EngineProcess.start(tiny_model, place):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (place, place.parent)]

    assert [oct(mode) for mode in modes] == ["0o600", "0o700"]


async def test_told_to_end_it_leaves_nothing_behind(tiny_model: Path, place: Path):
    with EngineProcess.start(tiny_model, place, "--n-ctx", "8192") as engine:
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
        assert not place.exists()


def test_unused_it_ends_by_itself(tiny_model: Path, place: Path):
    with EngineProcess.start(tiny_model, place, "--idle", "0.01") as engine:
        assert engine.process.wait(60) == 0
    assert not place.exists()


def test_an_engine_whose_program_is_removed_ends(tiny_model: Path, place: Path, monkeypatch: pytest.MonkeyPatch):
    folder = place.parent / "environment"
    shutil.copytree(Path(lsp_harness.__file__).parent, folder / "lsp_harness")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    with EngineProcess.start(tiny_model, place) as engine:
        assert "pid" in engine.said
        shutil.rmtree(folder)
        assert engine.process.wait(60) == 0
    assert not place.exists()


@pytest.mark.parametrize("size", [4, 20_000])
def test_a_damaged_model_is_reported_to_the_parent(tiny_model: Path, place: Path, size: int):
    damaged = place.with_name("damaged.gguf")
    damaged.write_bytes(tiny_model.read_bytes()[:size])

    with EngineProcess.start(damaged, place) as engine:
        assert engine.said == {
            "error": "llama.cpp cannot load damaged.gguf: the file is damaged, or its architecture is unknown"
        }
        assert engine.process.wait(60) == 1
        assert engine.said["error"] in engine.log()
    assert not place.exists()


def test_a_parent_that_left_does_not_end_the_engine():
    reader, writer = os.pipe()
    os.close(reader)

    report_to_parent(writer, {"pid": 1})

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(writer)


@pytest.fixture
def short() -> Iterator[Path]:
    folder = Path("/tmp") / f"lh-{os.getpid()}"
    folder.mkdir()
    yield folder / "s"
    shutil.rmtree(folder)


def test_a_socket_a_dead_engine_left_is_taken_over_and_told_apart(short: Path):
    first = bind_socket(short)
    old = identify_socket(short)
    first.close()
    assert short.exists()

    second = bind_socket(short)

    assert identify_socket(short) not in (old, (0, 0))
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(short))
    second.close()
