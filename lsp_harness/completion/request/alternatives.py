"""Several different answers for one place, for a user who asks for a choice."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from ulid import ULID

from lsp_harness.completion.request.answer_cache import ModelText
from lsp_harness.completion.request.text_generation import is_finished
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Infill

TEMPERATURE = 0.8
"""At this temperature, four samples of a small model are rarely all the same."""


async def generate_alternatives(
    engine: Engine, request: Infill, ghost: Ghost, max_lines: int, count: int
) -> list[ModelText]:
    """Return `count` texts for the hole of a request, in the order in which they are finished.

    All are sampled over one evaluated prompt. A text that is finished is cancelled in the engine; the others continue.
    """
    request_id = str(ULID())
    sampling = replace(request.sampling, n=count, temperature=TEMPERATURE, seed=1)
    request = replace(request, sampling=sampling, owner=replace(request.owner, id=request_id))
    texts, finished_texts, running = [""] * count, list[ModelText](), set(range(count))
    async with aclosing(cast("Any", engine.stream(request))) as chunks:
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
