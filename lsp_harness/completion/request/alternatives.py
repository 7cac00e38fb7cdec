"""Other texts for the same place, for who asks for a choice: drawn warm, all at once, over the prompt that is there."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from ulid import ULID

from lsp_harness.completion.request.answer_cache import Written
from lsp_harness.completion.request.text_generation import finished
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Chunk, Infill

TEMPERATURE = 0.8
"""Warm enough that four draws of a small model are rarely all the same."""


async def others(engine: Engine, request: Infill, ghost: Ghost, max_lines: int, count: int) -> list[Written]:
    """`count` texts for the request's hole, in the order in which they are finished. One that is finished is ended in the
    engine as well; the rest go on."""
    name = str(ULID())
    sampling = replace(request.sampling, n=count, temperature=TEMPERATURE, seed=1)
    request = replace(request, sampling=sampling, owner=replace(request.owner, id=name))
    texts, done, left = [""] * count, list[Written](), set(range(count))
    async with aclosing(cast("Any", engine.stream(request))) as chunks:
        async for chunk in cast("AsyncIterator[Chunk]", chunks):
            index = chunk.index
            if index not in left:
                continue
            texts[index] += chunk.text
            if chunk.stop or finished(ghost, texts[index], max_lines):
                left.discard(index)
                done.append(Written(texts[index], chunk.stop))
                if left and not chunk.stop:
                    await engine.cancel(name, index)
            if not left:
                break
    return done
