"""llama.cpp in this very process, with the tiny model."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from lsp_harness.engine.decode.batch import compose
from lsp_harness.engine.decode.generation import Model, Prompt, Run, Work
from lsp_harness.engine.decode.host_cache import Lot
from lsp_harness.engine.decode.kv_cache import Kv
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.scheduler import Scheduler
from lsp_harness.engine.decode.step_cost import Machine
from lsp_harness.inference.request import Chunk, Owner, Sampling

from .scheduling import Book, Gate

CURVE = {1: 10.0, 2: 13.0, 4: 16.0, 8: 30.0, 16: 60.0, 32: 80.0}
"""Milliseconds of a step on some imagined CPU."""
PROMPT = "def f(value):\n    return value\n\n"


class Bench:
    """A model with nothing resident, and requests run to their end, one after the other or together."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.forget()

    def forget(self) -> None:
        for seq in range(self.llama.n_seq):
            self.llama.cut(seq, 0)
        self.kv = Kv(self.llama, cells=self.llama.n_ctx, slots=self.llama.n_seq)
        self.lot: Lot | None = None
        self.model = Model(self.llama, self.kv, Machine(CURVE))

    def run(
        self,
        prompt: str | Sequence[int],
        sampling: Sampling | None = None,
        forced: bytes = b"",
        owner: Owner | None = None,
    ) -> tuple[str, Chunk]:
        """The text, and the last chunk."""
        tokens = self.llama.tokenize(prompt) if isinstance(prompt, str) else prompt
        [chunks] = self.together(Work((Prompt(tokens, forced),), sampling or Sampling(), owner or Owner()))
        assert [chunk.stop is None for chunk in chunks] == [True] * (len(chunks) - 1) + [False]
        return "".join(chunk.text for chunk in chunks), chunks[-1]

    def together(self, *works: Work, after: Callable[[int, list[Run]], None] = lambda _, __: None) -> list[list[Chunk]]:
        """The chunks of each request, all in the same steps; `after` each step something else may be done."""
        said: list[list[Chunk]] = [[] for _ in works]
        runs = [Run(self.model, work, chunks.append) for work, chunks in zip(works, said, strict=True)]
        steps = 0
        while any(not run.done for run in runs):
            batch = compose(runs, [], self.model.machine, self.llama.n_batch, self.llama.n_batch)
            self.llama.decode(batch.rows)
            batch.deliver()
            after(steps, runs)
            steps += 1
        assert not any(slot.busy for slot in self.kv.slots)
        return said


@pytest.fixture(scope="session")
def llama(tiny_model: Path) -> Iterator[Llama]:
    # repacked weights crash on some machines; the engine's probe finds out, a test must not
    model = Llama(
        tiny_model, n_ctx=1024, n_seq=6, n_batch=32, threads=1, decode_threads=1, n_gpu_layers=0, repack=False
    )
    yield model
    model.close()


@pytest.fixture
def machine(llama: Llama) -> Bench:
    return Bench(llama)


@pytest.fixture
async def gate(machine: Bench) -> Gate:
    return Gate(machine.llama)


@pytest.fixture
async def book() -> Book:
    return Book()


@pytest.fixture
async def scheduler(gate: Gate, book: Book) -> AsyncIterator[Scheduler]:
    model = Model(cast("Llama", gate), gate.kv, Machine(CURVE))
    scheduler = Scheduler(model, limit=3, observer=book)
    yield scheduler
    gate.open.set()
    await asyncio.to_thread(scheduler.close)
    assert not any(slot.busy for slot in gate.kv.slots)
