"""Tests of the scripted engine."""

import asyncio
import json
from pathlib import Path

import pytest

from lsp_harness.errors import ConfigError, EngineError
from lsp_harness.inference.request import Continuation, Infill, InfillContext, ModelRequest, Sampling
from lsp_harness.inference.scripted_engine import ScriptedEngine


async def read_text(engine: ScriptedEngine, request: ModelRequest) -> str:
    return "".join([chunk.text async for chunk in engine.stream(request)])


async def test_replies_come_in_order(tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "one"}, {"text": "two;three"}]))
    engine = ScriptedEngine(script)
    requests = [Continuation("a"), Infill(InfillContext("b", "c"), sampling=Sampling(stop=(";",)))]

    assert [await read_text(engine, request) for request in requests] == ["one", "two"]
    assert engine.foreground_requests == requests
    await engine.aclose()


async def test_the_last_chunk_has_the_reason_of_the_end():
    *_, last = [chunk async for chunk in ScriptedEngine([{"text": "a b"}]).stream(Continuation("x y z"))]

    assert (last.stop, last.usage.evaluated, last.usage.generated) == ("eos", 3, 2)


@pytest.mark.parametrize(
    ("request_", "expect"),
    [
        (Continuation("fix this"), "fix this"),
        (Infill(InfillContext("fix ", "this")), "fix \0this"),
        (Infill(InfillContext("a", "fix this")), "fix this"),
    ],
)
async def test_a_reply_may_demand_a_text_in_the_prompt(request_: ModelRequest, expect: str):
    engine = ScriptedEngine([{"text": "a", "expect": expect}, {"text": "b", "expect": "something else"}])

    assert await read_text(engine, request_) == "a"
    with pytest.raises(EngineError, match="reply 2 expects 'something else'"):
        await read_text(engine, request_)


async def test_running_out_of_replies_is_an_error():
    engine = ScriptedEngine([{"text": "a"}])
    await read_text(engine, Continuation("a"))

    with pytest.raises(EngineError, match="has 1 reply"):
        await read_text(engine, Continuation("b"))


async def test_replies_left_over_are_an_error():
    engine = ScriptedEngine([{"text": "a"}, {"text": "b"}])
    await read_text(engine, Continuation("a"))

    with pytest.raises(EngineError, match="1 of 2"):
        await engine.aclose()


async def test_a_reply_that_hangs_can_be_cancelled():
    engine = ScriptedEngine([{"hang": True}, {"text": "next"}])
    task = asyncio.create_task(read_text(engine, Continuation("a")))
    while not engine.foreground_requests:  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()
    assert await read_text(engine, Continuation("b")) == "next"


async def test_a_reply_may_be_a_failure():
    with pytest.raises(EngineError, match="out of memory"):
        await read_text(ScriptedEngine([{"error": "out of memory"}]), Continuation("a"))


async def test_a_scripted_engine_has_the_other_methods_of_an_engine():
    engine = ScriptedEngine([])

    assert await engine.count(["", "a b"]) == [0, 2]
    assert await engine.chat_prompt([("user", "a")]) == "user: a\n"
    assert (await engine.props()).model == "scripted"
    assert [name for name, has in (await engine.props()).features.items() if has] == ["priority"]
    assert not await engine.cancel("a")


async def test_scripted_embeddings_are_near_when_texts_share_words():
    result, same, outcome, far, none = await ScriptedEngine([]).embed(
        ["read file", "read file", "read line", "x y", ""]
    )

    def product(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert result == same
    assert product(result, result) == pytest.approx(1)
    assert product(result, outcome) > product(result, far)
    assert product(none, none) == 0
    assert await ScriptedEngine([]).embed(["a b"], max_tokens=1) == await ScriptedEngine([]).embed(["a"])


@pytest.mark.parametrize("content", [None, "{"])
def test_a_script_that_cannot_be_read(tmp_path: Path, content: str | None):
    script = tmp_path / "script.json"
    if content:
        script.write_text(content)

    with pytest.raises(ConfigError, match=r"engine\.script"):
        ScriptedEngine(script)


async def test_several_candidates_take_a_reply_each():
    engine = ScriptedEngine([{"text": "one"}, {"text": "two", "stop": "limit", "rung": 2}])
    chunks = [chunk async for chunk in engine.stream(Continuation("a", Sampling(n=2)))]

    assert [(chunk.index, chunk.text) for chunk in chunks if chunk.text] == [(0, "one"), (1, "two")]
    assert [(chunk.index, chunk.stop, chunk.usage.rung) for chunk in chunks if chunk.stop] == [
        (0, "eos", 0),
        (1, "limit", 2),
    ]
    await engine.aclose()


async def test_background_requests_get_only_replies_for_the_background():
    engine = ScriptedEngine([{"text": "one"}, {"text": "two", "background": True}])
    later = Continuation("b", priority="background")

    assert await read_text(engine, later) == ""
    assert await read_text(engine, Continuation("a")) == "one"
    assert await read_text(engine, Continuation("b", Sampling(n_predict=0), "background")) == ""
    assert await read_text(engine, later) == "two"
    assert (len(engine.foreground_requests), len(engine.background_requests)) == (1, 3)
    await engine.aclose()


async def test_a_test_can_extend_the_properties_of_the_engine():
    engine = ScriptedEngine([])
    engine.extra_props = {"curve": {"candidates": 3}}

    assert (await engine.props()).raw == {"scripted": True, "curve": {"candidates": 3}}
