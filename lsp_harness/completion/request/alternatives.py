"""Several different answers for one place: for a user who asks for a choice, or in place of one that is wrong."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

from ulid import ULID

from lsp_harness.completion.request.answer_cache import ModelText
from lsp_harness.completion.request.completion_request import CompletionRequest
from lsp_harness.completion.request.text_generation import is_finished, make_presentable_texts
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.errors import EngineError
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Infill

TEMPERATURE = 0.8
"""At this temperature, four samples of a small model are rarely all the same."""


async def generate_alternatives(
    engine: Engine, request: Infill, ghost: Ghost, max_lines: int, count: int, limit_s: float = math.inf
) -> list[ModelText]:
    """Return `count` texts for the hole of a request, in the order in which they are finished.

    All are sampled over one evaluated prompt. A text that is finished is cancelled in the engine; the others continue.
    Those that are not finished after `limit_s` seconds are left out.
    """
    request_id = str(ULID())
    sampling = replace(request.sampling, n=count, temperature=TEMPERATURE, seed=1)
    request = replace(request, sampling=sampling, owner=replace(request.owner, id=request_id))
    texts, finished_texts, running = [""] * count, list[ModelText](), set(range(count))
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(limit_s if limit_s < math.inf else None),
            aclosing(cast("Any", engine.stream(request))) as chunks,
        ):
            async for chunk in cast("AsyncIterator[Chunk]", chunks):
                index = chunk.index
                if index not in running:
                    continue
                texts[index] += chunk.text
                if chunk.stop or is_finished(ghost, texts[index], max_lines):
                    running.discard(index)
                    finished_texts.append(ModelText(texts[index], chunk.stop))
                    if running and not chunk.stop:
                        await engine.cancel(request_id, index)
                if not running:
                    break
    return finished_texts


async def generate_other_texts(
    engine: Engine, request: CompletionRequest, infill: Infill, limit_s: float = math.inf
) -> list[tuple[str, ModelText]]:
    """Return what may be shown of other answers to a request, each with its answer.

    Args:
        engine: The engine.
        request: The request.
        infill: The form in which the engine gets it.
        limit_s: Seconds after which unfinished answers are left out.
    """
    settings, count = request.settings, request.settings.alternatives - 1
    answers = await generate_alternatives(engine, infill, request.ghost, settings.max_lines, count, limit_s)
    texts = await make_presentable_texts(request.cursor, request.ghost, answers, settings)
    return [(text, answer) for text, answer in zip(texts, answers, strict=True) if text]


async def find_other_texts(
    engine: Engine, request: CompletionRequest, start_s: float, *, automatic: bool
) -> list[tuple[str, ModelText]]:
    """Return what may be shown of other answers to a request, if the likeliest one failed the type gate.

    Args:
        engine: The engine.
        request: The request.
        start_s: When it came, as `perf_counter` says.
        automatic: Whether the editor asked without a command of the user. Then the answers and their checks must be
            ready before the user's patience ends.
    """
    settings = request.settings
    checks_ms = settings.alternatives * settings.type_gate_ms
    limit_s = start_s + (settings.patience_ms - checks_ms) / 1000 - perf_counter() if automatic else math.inf
    if settings.alternatives <= 1 or limit_s <= 0:
        return []
    infill = request.urgent_infill("quick" if automatic else "complete")
    try:
        return await generate_other_texts(engine, request, infill, limit_s)
    except EngineError:
        # the start of the first answer may still be shown
        return []
