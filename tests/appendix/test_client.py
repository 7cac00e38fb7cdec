"""Tests of the documented words of the client, and of the variables that choose the program."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import HarnessClient, HarnessError, TextDelta, TurnStop, query
from tests.appendix.bench import Bench, select_events
from tests.appendix.names import require_complete_table

ClientTest = Callable[[Bench], Awaitable[None]]


def make_client(bench: Bench, *replies: Any, **options: Any) -> HarnessClient:
    return HarnessClient(provider=bench.script(*replies), cwd=bench.folder, in_process=True, **options)


async def check_send(bench: Bench) -> None:
    async with make_client(bench, "one", {"text": "two", "expect": "one"}) as client:
        texts = [(await (await client.send(prompt)).result()).text for prompt in ("first", "second")]
    assert texts == ["one", "two"]


async def check_close(bench: Bench) -> None:
    async with make_client(bench, "one") as client:
        await (await client.send("hi")).result()
        await client.close()
        with pytest.raises(HarnessError) as failure:
            await client.send("hi")
        assert failure.value.code == "closed"
    assert [event.type for event in bench.log()][-1] == "session.closed"


async def check_session_id(bench: Bench) -> None:
    async with make_client(bench) as client:
        assert client.session_id == bench.log()[0].session_id


async def check_context_manager(bench: Bench) -> None:
    client = make_client(bench)
    with pytest.raises(HarnessError, match="async with"):
        await client.send("hi")
    async with client as entered:
        assert entered is client
    # the log is closed, so another process may continue the session
    async with HarnessClient(provider=bench.script(), cwd=bench.folder, in_process=True, resume=client.session_id):
        pass


async def check_serialised_send(bench: Bench) -> None:
    async with make_client(bench, "one", "two", "three") as client:

        async def ask(prompt: str) -> list[Any]:
            return [event async for event in await client.send(prompt)]

        turns = await asyncio.gather(*map(ask, "abc"))
    assert [select_events(TurnStop, events)[0].text for events in turns] == ["one", "two", "three"]
    assert [select_events(TurnStop, events)[0].turn_number for events in turns] == [0, 1, 2]
    for events in turns:
        assert len({event.prompt_id for event in events}) == 1


async def check_interrupt(bench: Bench) -> None:
    async with make_client(bench, {"text": "half", "hang": True}, "whole") as client:
        turn = await client.send("wait")
        async for event in turn:
            if isinstance(event, TextDelta):
                await client.interrupt()
        assert turn.stop
        assert turn.stop.reason == "interrupted"
        # the session goes on, and an interrupt without a turn does nothing
        await client.interrupt()
        assert (await (await client.send("go on")).result()).text == "whole"


CLIENT: Mapping[str, ClientTest] = {
    "send": check_send,
    "close": check_close,
    "session_id": check_session_id,
    "async context manager": check_context_manager,
    "serialised send": check_serialised_send,
    "interrupt (wheel only)": check_interrupt,
}


@pytest.mark.parametrize("word", require_complete_table("sdk", "client", CLIENT))
async def test_each_documented_word_of_the_client_works(word: str, session_bench: Bench):
    async with asyncio.timeout(90):
        await CLIENT[word](session_bench)


def write_program(folder: Path) -> Path:
    """Write a program that is the real one, and that notes that it was run."""
    program = folder / "own-program"
    program.write_text(f'#!/bin/sh\necho "$1" > {folder}/was-run\nexec {sys.executable} -m lsp_harness "$@"\n')
    program.chmod(0o755)
    return program


async def check_binary(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_BINARY", str(write_program(bench.scripts)))
    stop = await bench.stop("hello", in_process=False)
    assert stop.text == "hello"
    assert (bench.scripts / "was-run").read_text() == "session\n"


ENVIRONMENT = {"OH_BINARY": check_binary}


@pytest.mark.parametrize("name", require_complete_table("sdk", "env", ENVIRONMENT))
async def test_each_documented_variable_of_the_sdk_works(
    name: str, session_bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    await ENVIRONMENT[name](session_bench, monkeypatch)


@pytest.mark.parametrize("in_process", [True, False])
async def test_an_interrupt_right_after_the_prompt_stops_the_turn(in_process: bool, session_bench: Bench):
    provider = session_bench.script(*[{"hang": True}] * 3)
    options: dict[str, Any] = {"provider": provider, "cwd": session_bench.folder, "in_process": in_process}
    async with asyncio.timeout(20), HarnessClient(**options) as client:
        for _ in range(3):
            turn = await client.send("hi")
            await client.interrupt()
            assert (await turn.result()).reason == "interrupted"


async def test_an_iterator_that_is_left_early_ends_the_session(session_bench: Bench):
    events = query("hi", provider=session_bench.script({"text": "half", "hang": True}), cwd=session_bench.folder)
    async with asyncio.timeout(15):
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
    assert [event.data["reason"] for event in session_bench.log() if event.type == "turn.stopped"] == ["cancelled"]
    assert session_bench.log()[-1].type == "session.closed"
