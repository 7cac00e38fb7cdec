"""Fixtures that run llama.cpp with the tiny model in the test process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from lsp_harness.engine.cache.host_cache import HostCache
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.decode.batch import compose_batch
from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.inference.request import Chunk, Owner, Sampling

from .scheduling import EndRecorder, GatedLlama

CURVE = {1: 10.0, 2: 13.0, 4: 16.0, 8: 30.0, 16: 60.0, 32: 80.0}
"""Milliseconds of a step on some imagined CPU."""
PROMPT = "def f(value):\n    return value\n\n"


class Bench:
    """A model with empty caches. It runs requests to their end, one after the other or together."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.forget()

    def forget(self) -> None:
        for seq in range(self.llama.n_seq):
            self.llama.truncate(seq, 0)
        self.kv = KvCache(self.llama, CacheLimits(cells=self.llama.n_ctx, slots=self.llama.n_seq))
        self.host_cache: HostCache | None = None
        self.model = ModelRuntime(self.llama, self.kv, StepCost(CURVE))

    def run(
        self,
        prompt: str | Sequence[int],
        sampling: Sampling | None = None,
        forced: bytes = b"",
        owner: Owner | None = None,
    ) -> tuple[str, Chunk]:
        """Run a request and return its text and its last chunk."""
        tokens = self.llama.vocabulary.tokenize(prompt) if isinstance(prompt, str) else prompt
        [chunks] = self.together(TokenRequest((Prompt(tokens, forced),), sampling or Sampling(), owner or Owner()))
        assert [chunk.stop is None for chunk in chunks] == [True] * (len(chunks) - 1) + [False]
        return "".join(chunk.text for chunk in chunks), chunks[-1]

    def together(
        self, *works: TokenRequest, after: Callable[[int, list[RunningRequest]], None] = lambda _, __: None
    ) -> list[list[Chunk]]:
        """Run requests in the same steps and return the chunks of each. `after` is called after each step."""
        chunks_by_request: list[list[Chunk]] = [[] for _ in works]
        runs = [
            RunningRequest(self.model, work, chunks.append)
            for work, chunks in zip(works, chunks_by_request, strict=True)
        ]
        steps = 0
        while any(not run.is_done for run in runs):
            batch = compose_batch(runs, [], self.model.step_cost, self.llama.n_batch, self.llama.n_batch)
            self.llama.decode(batch.rows)
            batch.deliver()
            after(steps, runs)
            steps += 1
        assert not any(slot.is_busy for slot in self.kv.slots)
        return chunks_by_request


@pytest.fixture(scope="session")
def llama(tiny_model: Path) -> Iterator[Llama]:
    # Repacked weights crash on some machines. The engine probes for that in a child process; a test must not crash.
    model = Llama(tiny_model, n_ctx=1024, n_seq=6, n_batch=32, threads=1, n_gpu_layers=0, repack=False)
    yield model
    model.close()


@pytest.fixture
def machine(llama: Llama) -> Bench:
    return Bench(llama)


@pytest.fixture
async def gated_llama(machine: Bench) -> GatedLlama:
    return GatedLlama(machine.llama)


@pytest.fixture
async def end_recorder() -> EndRecorder:
    return EndRecorder()


@pytest.fixture
async def scheduler(gated_llama: GatedLlama, end_recorder: EndRecorder) -> AsyncIterator[Scheduler]:
    model = ModelRuntime(cast("Llama", gated_llama), gated_llama.kv, StepCost(CURVE))
    scheduler = Scheduler(model, limit=3, observer=end_recorder)
    yield scheduler
    gated_llama.open.set()
    await asyncio.to_thread(scheduler.close)
    assert not any(slot.is_busy for slot in gated_llama.kv.slots)
