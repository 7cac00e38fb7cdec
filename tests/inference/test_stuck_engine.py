"""Tests of an engine that gives no sign of life: requests fail, its process is ended, and the next request starts
another."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineStuck, HarnessError
from lsp_harness.harness.engines import ObservedEngine
from lsp_harness.inference import running_engines
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.running_engines import end_engine_at, is_alive, is_listening, peer_pid, pid_file
from lsp_harness.inference.supervisor import EngineSupervisor, engine_address
from lsp_harness.process.termination import OpenProcess, start_time
from tests.support.stuck import has_ended, start_listener, stop


@pytest.fixture
def impatient_config(config: Config) -> Config:
    return replace(config, engine=replace(config.engine, silence_s=0.5))


@pytest.fixture
def engine_socket(home: Path, impatient_config: Config) -> Path:
    """Return the socket of the engine of these settings."""
    return engine_address(Path(impatient_config.model.path), impatient_config).socket


@pytest.fixture
async def client(home: Path, impatient_config: Config) -> AsyncIterator[EngineClient]:
    async with aclosing(EngineClient(impatient_config)) as client:
        yield client


async def test_a_stopped_engine_costs_one_request_and_is_replaced(home: Path, config: Config):
    # a limit that a live engine on a busy machine keeps
    config = replace(config, engine=replace(config.engine, silence_s=2.0))
    async with aclosing(EngineClient(config)) as client:
        first = (await client.props()).pid
        stop(first)

        with pytest.raises(EngineStuck) as failed:
            await client.count(["a"])

        assert failed.value.message == (
            f"the engine (process {first}) gave no sign of life for 2 s (stopped by a signal); it was killed, as it did"
            " not end when it was asked to, and the next request starts another"
        )
        assert has_ended(first)
        assert (await client.props()).pid not in (0, first)


async def test_an_engine_that_ignores_sigterm_is_killed(
    engine_socket: Path, client: EngineClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lsp_harness.inference.backends.local_engine.STUCK_GRACE_S", 0.01)
    with start_listener(engine_socket, deaf=True) as process:
        with pytest.raises(EngineStuck, match="it was killed, as it did not end when it was asked to"):
            await client.count(["a"])
        assert has_ended(process.pid)


async def test_all_waiting_requests_fail_and_the_user_is_told_once(engine_socket: Path, impatient_config: Config):
    items: list[str] = []
    engine = ObservedEngine(EngineClient(impatient_config), lambda: None, items.append)
    async with aclosing(engine):
        with start_listener(engine_socket, stopped=True):
            answers = await asyncio.gather(*(engine.count([str(n)]) for n in range(5)), return_exceptions=True)

        messages = {answer.message for answer in answers if isinstance(answer, EngineStuck)}
        assert [type(answer) for answer in answers] == [EngineStuck] * 5
        assert messages == set(items)
        assert len(items) == 1
        assert engine.state == "failed"


@pytest.mark.parametrize("silence_s", [0.0, -1.0])
async def test_no_setting_ends_an_engine_that_answers(home: Path, config: Config, silence_s: float):
    async with aclosing(EngineClient(replace(config, engine=replace(config.engine, silence_s=silence_s)))) as client:
        pid = (await client.props()).pid
        await client.count(["a"])
        assert (await client.props()).pid == pid


async def test_a_stuck_engine_is_detected_although_every_request_is_cancelled(
    engine_socket: Path, client: EngineClient, caplog: pytest.LogCaptureFixture
):
    with start_listener(engine_socket, stopped=True) as process:
        while not has_ended(process.pid):
            # each key gives up the request of the one before
            with suppress(TimeoutError, HarnessError):
                async with asyncio.timeout(0.05):
                    await client.count(["a"])
    assert (await client.props()).pid != process.pid


async def test_a_stuck_engine_with_a_full_queue_is_replaced(engine_socket: Path, client: EngineClient):
    with start_listener(engine_socket, calls=0) as process, ExitStack() as calls:
        pid_file(engine_socket).write_text(f"{process.pid} {start_time(process.pid)}\n")
        while True:
            call = calls.enter_context(socket.socket(socket.AF_UNIX))
            call.setblocking(False)
            try:
                call.connect(str(engine_socket))
            except BlockingIOError:
                break
        assert (is_listening(engine_socket), peer_pid(engine_socket)) == (True, process.pid)

        ended = await end_engine_at(engine_socket, grace_s=5)

        assert ended
        assert ended.ending == "terminated"
        assert has_ended(process.pid)
    assert (await client.props()).pid != process.pid


async def test_a_start_replaces_a_stuck_engine(engine_socket: Path, impatient_config: Config):
    with start_listener(engine_socket, stopped=True) as process:
        supervisor = EngineSupervisor(impatient_config)
        # a request has failed: what listens is not believed to answer
        supervisor.suspect_engine()
        assert await supervisor.ensure_running() == engine_socket
        assert has_ended(process.pid)
        assert peer_pid(engine_socket) not in (None, process.pid)


async def test_an_engine_that_took_the_place_of_another_is_left_alone(engine_socket: Path):
    with start_listener(engine_socket) as process:
        assert await end_engine_at(engine_socket, grace_s=0, pid=process.pid + 1) is None
        assert process.is_running()


@pytest.mark.parametrize("written", ["", "x", "{pid}", "{pid} 0", "0 {started}"])
def test_a_record_of_another_process_is_ignored(home: Path, written: str):
    place = paths.runtime_folder() / "engine-0.sock"
    own = psutil.Process().pid
    pid_file(place).write_text(written.format(pid=own, started=start_time(own)))

    assert running_engines._read_pid_file(place) is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.process
async def test_a_signal_reaches_no_later_process_of_the_same_number(tmp_path: Path):
    with start_listener(tmp_path / "s") as process:
        opened = OpenProcess(process.pid)
        process.kill()
        process.wait(30)

        assert await opened.terminate(grace_s=5) == "terminated"
        opened.close()
        with pytest.raises(ProcessLookupError):
            OpenProcess(process.pid)


@pytest.mark.parametrize(("said", "lives"), [({}, True), ({"silent_s": 2.9}, True), ({"silent_s": 3.1}, False)])
async def test_a_model_that_is_stuck_is_no_engine_that_lives(
    said: dict[str, float], lives: bool, monkeypatch: pytest.MonkeyPatch
):
    async def health(*_: object) -> dict[str, float]:
        return said

    monkeypatch.setattr(running_engines, "query_health", health)
    assert await is_alive(Path("s"), 1.0, silence_s=1.0) is lives
