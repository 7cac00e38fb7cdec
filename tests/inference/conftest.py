"""llama.cpp in this very process, with the tiny model."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config, Engine, Model
from lsp_harness.inference.generate import Work, generate
from lsp_harness.inference.kv import Kv
from lsp_harness.inference.llama import Llama
from lsp_harness.inference.request import Chunk, Sampling


class Machine:
    """A model with nothing resident, and requests run to their end one after the other."""

    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.forget()

    def forget(self) -> None:
        for seq in range(self.llama.n_seq):
            self.llama.cut(seq, 0)
        self.kv = Kv(self.llama, cells=self.llama.n_ctx, slots=self.llama.n_seq)

    def run(
        self, prompt: str | Sequence[int], sampling: Sampling | None = None, forced: bytes = b""
    ) -> tuple[str, Chunk]:
        """The text, and the last chunk."""
        tokens = self.llama.tokenize(prompt) if isinstance(prompt, str) else prompt
        chunks: list[Chunk] = []
        for _ in generate(
            self.llama, self.kv, Work(tokens, sampling or Sampling(), forced), chunks.append, lambda: False
        ):
            pass
        assert [chunk.stop is None for chunk in chunks] == [True] * (len(chunks) - 1) + [False]
        assert not any(slot.busy for slot in self.kv.slots)
        return "".join(chunk.text for chunk in chunks), chunks[-1]


@pytest.fixture(scope="session")
def llama(tiny_model: Path) -> Iterator[Llama]:
    # repacked weights crash on some machines; the engine's probe finds out, a test must not
    model = Llama(
        tiny_model, n_ctx=1024, n_seq=4, n_batch=32, threads=1, decode_threads=1, n_gpu_layers=0, repack=False
    )
    yield model
    model.close()


@pytest.fixture
def machine(llama: Llama) -> Machine:
    return Machine(llama)


@pytest.fixture
def config(tiny_model: Path) -> Config:
    """Settings under which an engine of the tiny model is started."""
    return Config(model=Model(str(tiny_model), context_length=32768), engine=Engine(threads=1, idle_seconds=60))
