"""Tests of the client and the supervisor: all clients share one engine, and its end costs one request."""

import asyncio
import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from lsp_harness.config import paths
from lsp_harness.config.schema import Config, ModelSettings
from lsp_harness.errors import (
    EngineBusy,
    EngineError,
    EngineFailed,
    EngineRefused,
    EngineUnavailable,
    ModelError,
    ModelMissing,
)
from lsp_harness.inference import supervisor
from lsp_harness.inference.backends.endpoint import status_error
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import Chunk, Continuation, Infill, InfillContext, ModelRequest, Owner, Sampling
from lsp_harness.inference.supervisor import EngineSupervisor, engine_address, engine_identity
from lsp_harness.process import detached_process

SHORT = Continuation("def f", Sampling(n_predict=8))
LONG = Continuation("def f", Sampling(n_predict=30_000))


@pytest.fixture
async def client(home: Path, config: Config):
    async with aclosing(EngineClient(config)) as client:
        yield client


async def answer(client: EngineClient, request: ModelRequest = SHORT) -> list[Chunk]:
    return [chunk async for chunk in client.stream(request)]


def kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    process.wait(30)


async def test_the_first_request_starts_the_engine(client: EngineClient):
    chunks = await answer(client)
    props = await client.props()

    assert chunks[-1].stop == "limit"
    assert "".join(chunk.text for chunk in chunks)
    assert (props.model, props.n_ctx) == ("tiny", 32768)
    assert await client.count(["", "a b", "a b"]) == [0, 3, 3]
    assert await client.chat_prompt([("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    filled = await answer(client, Infill(InfillContext("def f():\n    ", "\n"), sampling=Sampling(n_predict=4)))
    assert filled[-1].stop == "limit"
    # an OpenMP pool that spins would stop a busy machine dead
    environment = Path(f"/proc/{props.pid}/environ").read_bytes().split(b"\0")
    assert b"OMP_WAIT_POLICY=passive" in environment
    assert any(entry.startswith(b"GOMP_SPINCOUNT=") for entry in environment)


async def test_two_clients_at_once_start_one_engine(home: Path, config: Config):
    clients = [EngineClient(config), EngineClient(config), EngineClient(config)]

    pids = {props.pid for props in await asyncio.gather(*(client.props() for client in clients))}
    for client in clients:
        await client.aclose()

    assert len(pids) == 1
    assert len(list(paths.runtime_folder().glob("*.sock"))) == 1


async def test_leaving_early_stops_the_engine(client: EngineClient):
    async with aclosing(cast("Any", client.stream(LONG))) as chunks:
        await anext(chunks)
    while (props := await client.props()).raw["pending"]:
        pass

    assert props.raw["tokens_generated_total"] < 30_000


async def test_a_candidate_is_stopped_by_its_number_and_the_others_go_on(client: EngineClient):
    request = Continuation("def f", Sampling(n_predict=300, n=2, temperature=1.0), owner=Owner(id="r"))
    stops: dict[int, str] = {}
    async with aclosing(cast("Any", client.stream(request))) as chunks:
        async for chunk in chunks:
            if chunk.stop:
                stops[chunk.index] = chunk.stop
            elif not stops and await client.cancel("r", 1):
                stops[1] = "asked"

    assert stops == {0: "limit", 1: "cancelled"}
    assert not await client.cancel("r")


async def test_a_dead_engine_costs_one_request_each_time(client: EngineClient):
    pids: set[int] = set()
    for _ in range(20):
        pid = (await client.props()).pid
        pids.add(pid)
        chunks = client.stream(LONG)
        await anext(chunks)
        kill(pid)
        with pytest.raises(EngineUnavailable, match="the next request starts it again"):
            _ = [chunk async for chunk in chunks]
        assert (await answer(client))[-1].stop == "limit"

    assert len(pids) == 20


async def test_an_engine_that_is_killed_between_requests_is_replaced(client: EngineClient):
    first = (await client.props()).pid
    kill(first)

    assert (await client.props()).pid != first


async def test_a_request_cancelled_while_the_engine_starts_does_not_stop_the_start(
    client: EngineClient, monkeypatch: pytest.MonkeyPatch
):
    starts = 0
    begun = asyncio.Event()
    start = detached_process.start_detached

    async def counted(*arguments: Any) -> dict[str, object]:
        nonlocal starts
        starts += 1
        begun.set()
        return await start(*arguments)

    monkeypatch.setattr(detached_process, "start_detached", counted)
    typing = asyncio.create_task(answer(client))
    await begun.wait()
    typing.cancel()
    await asyncio.wait({typing})

    assert typing.cancelled()
    assert (await client.props()).pid
    assert starts == 1


async def test_a_refused_request_is_an_error_and_the_connection_continues(client: EngineClient):
    with pytest.raises(EngineRefused, match="grammar"):
        await answer(client, Continuation("a", Sampling(grammar="root ::= (")))
    with pytest.raises(EngineRefused, match="context_length"):
        await answer(client, Continuation("a", Sampling(n_predict=100_000)))
    assert (await answer(client))[-1].stop == "limit"


@pytest.mark.parametrize(
    ("status", "content", "kind", "message"),
    [
        (400, b'{"error": {"message": "wrong"}}', EngineRefused, "wrong"),
        (503, b'{"error": {"message": "later"}}', EngineBusy, "later"),
        (500, b"<html>", EngineFailed, "the server answered with HTTP status 500"),
        (404, b"[]", EngineRefused, "the server answered with HTTP status 404"),
    ],
)
def test_an_invalid_answer_becomes_an_error(status: int, content: bytes, kind: type[EngineError], message: str):
    error = status_error(status, content)

    assert (type(error), error.message) == (kind, message)


async def test_a_model_that_cannot_load_is_not_tried_again_at_once(
    home: Path, config: Config, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
):
    damaged = home / "damaged.gguf"
    damaged.write_bytes(tiny_model.read_bytes()[:20_000])
    clock, starts, start = [1000.0], [0], detached_process.start_detached

    async def counted(*arguments: Any) -> dict[str, object]:
        starts[0] += 1
        return await start(*arguments)

    monkeypatch.setattr(supervisor, "monotonic", lambda: clock[0])
    monkeypatch.setattr(detached_process, "start_detached", counted)
    engine = EngineSupervisor(replace(config, model=ModelSettings(str(damaged))))

    async def refused() -> str:
        with pytest.raises(EngineUnavailable) as caught:
            await engine.ensure_running()
        return caught.value.message

    assert "cannot load damaged.gguf" in await refused()
    assert starts == [1]
    for wait in (0.5, 1.0):
        clock[0] += wait - 0.01
        result = await refused()
        assert "cannot load damaged.gguf" in result
        assert "the next attempt is possible in" in result
        tried = starts[0]
        clock[0] += 0.02
        await refused()
        assert starts[0] == tried + 1
    assert not list(paths.runtime_folder().glob("*.sock"))


async def test_a_working_model_starts_after_a_failure_and_resets_the_wait(
    home: Path, config: Config, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
):
    clock = [1000.0]
    monkeypatch.setattr(supervisor, "monotonic", lambda: clock[0])
    answers: list[dict[str, object]] = [{"error": "no"}, {"error": "no"}, {"pid": 1}, {"error": "no"}]

    async def scripted(*_: object) -> dict[str, object]:
        return answers.pop(0)

    monkeypatch.setattr(detached_process, "start_detached", scripted)
    engine = EngineSupervisor(config)
    for expected in ("no", "no", None, "no"):
        clock[0] += 100
        if expected:
            with pytest.raises(EngineUnavailable, match="does not start: no"):
                await engine.ensure_running()
        else:
            await engine.ensure_running()
    with pytest.raises(EngineUnavailable, match="the next attempt is possible in 1 s"):
        await engine.ensure_running()


async def test_all_waiting_callers_get_the_reason_why_the_engine_does_not_start(
    home: Path, config: Config, monkeypatch: pytest.MonkeyPatch
):
    async def fails(*_: object) -> dict[str, object]:
        return {"error": "no"}

    monkeypatch.setattr(detached_process, "start_detached", fails)
    engine = EngineSupervisor(config)

    results = await asyncio.gather(*(engine.ensure_running() for _ in range(3)), return_exceptions=True)

    assert [type(result) for result in results] == [EngineUnavailable] * 3


async def test_an_engine_started_elsewhere_is_only_used(home: Path, config: Config):
    engine = EngineSupervisor(replace(config, engine=replace(config.engine, url="/somewhere/s")))

    assert await engine.ensure_running() == Path("/somewhere/s")
    with pytest.raises(EngineUnavailable):
        await EngineClient(replace(config, engine=replace(config.engine, url="/somewhere/s"))).props()


async def test_a_missing_model_file_is_an_error(home: Path, config: Config, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(home / "models"))

    with pytest.raises(ModelMissing, match="no model file"):
        await EngineSupervisor(Config(model=ModelSettings(str(home / "none.gguf")))).ensure_running()
    with pytest.raises(ModelMissing, match="lsp-harness model pull"):
        await EngineSupervisor(Config()).ensure_running()
    (home / "text.gguf").write_text("no model")
    with pytest.raises(ModelError, match="not a GGUF file"):
        await EngineSupervisor(Config(model=ModelSettings(str(home / "text.gguf")))).ensure_running()


async def test_a_path_that_is_too_long_for_a_socket_is_refused(
    tmp_path: Path, config: Config, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / ("long" * 25)))

    with pytest.raises(EngineUnavailable, match="too long for a socket; set XDG_RUNTIME_DIR or LSP_HARNESS_HOME"):
        await EngineSupervisor(config).ensure_running()


def test_the_identity_of_an_engine_depends_on_its_model_and_options(home: Path, config: Config, tiny_model: Path):
    copy = home / "tiny.gguf"
    copy.write_bytes(tiny_model.read_bytes())
    os.utime(copy, ns=(1, 1))
    first = engine_identity(copy, config)
    others = [
        engine_identity(copy, replace(config, model=replace(config.model, context_length=2048))),
        engine_identity(copy, replace(config, model=replace(config.model, n_gpu_layers=0))),
        engine_identity(copy, replace(config, model=replace(config.model, fim_order="suffix-first"))),
        engine_identity(tiny_model, config),
    ]
    os.utime(copy, ns=(2, 2))
    others.append(engine_identity(copy, config))

    assert len({first, *others}) == 6
    assert engine_identity(tiny_model, replace(config, engine=replace(config.engine, threads=7))) == others[3]
    where = engine_address(tiny_model, config)
    assert where.socket == home / "run" / f"engine-{others[3]}.sock"
    assert where.log == home / "state" / f"engine-{others[3]}.log"


@pytest.mark.parametrize("ending", [".sock", ".lock"])
async def test_a_folder_where_a_file_of_the_engine_must_be_is_named(
    home: Path, config: Config, tiny_model: Path, ending: str
):
    folder = engine_address(tiny_model, config).socket.with_suffix(ending)
    folder.mkdir()
    with pytest.raises(EngineUnavailable, match=f"{folder} is a folder, where a file must be; remove it"):
        await EngineSupervisor(config).ensure_running()
