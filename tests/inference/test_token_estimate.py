"""Tests of token counts, which are estimated if no engine answers."""

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest

from lsp_harness.errors import EngineError, EngineRefused, EngineUnavailable, ModelMissing
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.request import Continuation
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.inference.token_estimate import EstimatingEngine

TEXTS = ["one two three", ""]
ASK = Continuation("a")


class FailingEngine(ScriptedEngine):
    """An engine whose requests all fail in the same way after `well` successes."""

    def __init__(self, error: Exception, well: int = 0) -> None:
        super().__init__([{"text": "a"}])
        self.error = error
        self.well = well

    async def count(self, texts: Any) -> list[int]:
        if self.well:
            self.well -= 1
            return await super().count(texts)
        raise self.error

    async def stream(self, request: Any):
        raise self.error
        yield


async def read_evaluated_tokens(engine: EstimatingEngine) -> int:
    async with aclosing(cast("Any", engine.stream(ASK))) as chunks:
        return sum([chunk.usage.evaluated async for chunk in chunks])


async def test_counts_of_an_engine_that_answers_are_used():
    engine = EstimatingEngine(ScriptedEngine([{"text": "a b"}]), 100)
    await engine.probe(5)
    assert await engine.count(TEXTS) == [3, 0]
    assert (await engine.props()).n_ctx == 8192
    assert await read_evaluated_tokens(engine) == 1
    assert engine.reason == ""


@pytest.mark.parametrize("error", [EngineUnavailable("it is stuck"), ModelMissing("it is stuck")])
async def test_an_engine_that_fails_is_estimated_from_then_on(error: Exception):
    engine = EstimatingEngine(FailingEngine(error, well=1), 100)
    assert await engine.count(TEXTS) == [3, 0]
    assert await engine.count(TEXTS) == estimate_counts(TEXTS)
    assert engine.reason == "it is stuck"
    assert (await engine.props()).n_ctx == 100
    assert await read_evaluated_tokens(engine) == 0
    assert await engine.chat_prompt([("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"


async def test_an_engine_that_fails_during_an_evaluation_is_estimated():
    engine = EstimatingEngine(FailingEngine(EngineError("it went away"), well=9), 100)
    assert await read_evaluated_tokens(engine) == 0
    assert engine.reason == "it went away"


async def test_a_refused_text_is_an_error_and_no_silence():
    engine = EstimatingEngine(FailingEngine(EngineRefused("too long")), 100)
    with pytest.raises(EngineRefused):
        await engine.count(TEXTS)
    with pytest.raises(EngineRefused):
        await read_evaluated_tokens(engine)


async def test_an_engine_that_never_answers_is_estimated_after_a_time_limit():
    class Silent(ScriptedEngine):
        async def props(self) -> Any:
            await asyncio.Event().wait()

    engine = EstimatingEngine(Silent([]), 100)
    await engine.probe(0.01)
    assert await engine.count(TEXTS) == estimate_counts(TEXTS)
    assert engine.reason == "the engine does not answer within 0.01 s"
