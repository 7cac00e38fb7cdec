"""Tests of the order of texts to embed and of how the work ends. The model is a double that waits for the test."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_harness.config.schema import Index
from lsp_harness.engine.embed import embedder
from lsp_harness.engine.embed.embedder import Embedder, EmbeddingModel, InProcessEmbedder
from lsp_harness.errors import (
    EngineBusy,
    EngineError,
    EngineRefused,
    EngineUnavailable,
    LibraryError,
    ModelError,
    ModelMissing,
)
from lsp_harness.inference.embedding_request import EmbeddingRequest


class WaitingEncoder:
    """An encoder that encodes a text when the test allows it. A token is the number of a character."""

    dimensions = 1

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go = threading.Semaphore(0)
        self.started = threading.Semaphore(0)
        self.closed = False
        self.niceness = 0

    def tokenize(self, text: str, max_tokens: int) -> list[int]:
        return [ord(c) for c in text[:max_tokens]]

    def encode(self, tokens: list[int]) -> list[float]:
        self.begun.append("".join(map(chr, tokens)))
        self.niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        self.started.release()
        self.go.acquire()
        match self.begun[-1]:
            case "refuse":
                raise EngineRefused("not this one")
            case "fail":
                raise ZeroDivisionError("inside")
            case _:
                return [float(len(tokens))]

    def close(self) -> None:
        self.closed = True


class EmbedderBench:
    """An embedder with one model, and whether the language model is busy."""

    def __init__(self, path: Path, limit: int = 100) -> None:
        self.model = WaitingEncoder()
        self.is_busy = False
        self.asked = threading.Semaphore(0)
        self.loaded: list[Path] = []
        self.embedder = Embedder(str(path), is_busy=self._busy, load=self._load, max_texts=limit)

    def _busy(self) -> bool:
        self.asked.release()
        return self.is_busy

    def _load(self, path: Path) -> EmbeddingModel:
        self.loaded.append(path)
        return self.model

    async def embed(self, *texts: str, urgent: bool = False, most: int = 100) -> list[tuple[list[float], int]]:
        request = EmbeddingRequest(texts, most, "interactive" if urgent else "background")
        return [vector async for vector in self.embedder.embed(request)]

    async def until_begun(self) -> None:
        await asyncio.to_thread(self.model.started.acquire)


@pytest.fixture
def embedder_bench(tmp_path: Path) -> Iterator[EmbedderBench]:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    stage = EmbedderBench(path)
    yield stage
    stage.model.go.release(1000)
    stage.embedder.close()


async def test_a_changed_model_file_is_loaded_again_with_the_next_request(
    embedder_bench: EmbedderBench, tmp_path: Path
):
    embedder_bench.model.go.release(9)
    await embedder_bench.embed("a", "b")
    await embedder_bench.embed("c")
    assert len(embedder_bench.loaded) == 1
    assert not embedder_bench.model.closed
    (tmp_path / "new").write_bytes(b"GGUF, longer")
    (tmp_path / "new").replace(tmp_path / "m.gguf")
    await embedder_bench.embed("d", "e")
    assert len(embedder_bench.loaded) == 2
    assert embedder_bench.model.closed


async def test_each_text_has_its_vector_and_its_tokens(embedder_bench: EmbedderBench, tmp_path: Path):
    embedder_bench.model.go.release(4)
    assert embedder_bench.embedder.dimensions == 0
    assert await embedder_bench.embed("abc", "", "e", most=2) == [([2.0], 2), ([0.0], 0), ([1.0], 1)]
    assert await embedder_bench.embed("abc") == [([3.0], 3)]
    assert embedder_bench.loaded == [tmp_path / "m.gguf"]
    assert embedder_bench.embedder.dimensions == 1


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a niceness of their own on Linux only")
async def test_the_thread_of_the_embedder_has_a_lower_priority(embedder_bench: EmbedderBench):
    embedder_bench.model.go.release()
    ours = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    await embedder_bench.embed("a")
    assert embedder_bench.model.niceness > ours or ours == 19
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == ours


async def test_urgent_texts_are_embedded_between_background_texts(embedder_bench: EmbedderBench):
    long = asyncio.create_task(embedder_bench.embed("a", "b", "c"))
    await embedder_bench.until_begun()
    urgent = asyncio.create_task(embedder_bench.embed("now", urgent=True))
    await asyncio.sleep(0)
    assert embedder_bench.embedder.pending == 4
    embedder_bench.model.go.release(4)
    await asyncio.gather(long, urgent)
    assert embedder_bench.model.begun == ["a", "now", "b", "c"]
    assert embedder_bench.embedder.pending == 0


async def test_only_background_texts_wait_for_a_busy_language_model(embedder_bench: EmbedderBench):
    embedder_bench.model.go.release(10)
    embedder_bench.is_busy = True
    waiting = asyncio.create_task(embedder_bench.embed("later"))
    for _ in range(3):
        await asyncio.to_thread(embedder_bench.asked.acquire)
    assert await embedder_bench.embed("now", urgent=True) == [([3.0], 3)]
    assert embedder_bench.model.begun == ["now"]
    embedder_bench.is_busy = False
    assert await waiting == [([5.0], 5)]


async def test_a_request_that_leaves_early_has_the_rest_dropped(embedder_bench: EmbedderBench):
    embedder_bench.model.go.release(1)
    async with aclosing(embedder_bench.embedder.embed(EmbeddingRequest(("a", *"bcdef")))) as vectors:
        await anext(vectors)
    embedder_bench.model.go.release(2)
    assert await embedder_bench.embed("next") == [([4.0], 4)]
    # one more may have been at work already
    assert embedder_bench.model.begun in (["a", "next"], ["a", "b", "next"])


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [("refuse", EngineRefused, "not this one"), ("fail", EngineError, "failed on this text: inside")],
)
async def test_a_failing_text_ends_only_its_own_request(
    embedder_bench: EmbedderBench, text: str, error: type[Exception], said: str
):
    embedder_bench.model.go.release(10)
    with pytest.raises(error, match=said):
        await embedder_bench.embed("a", text, "never")
    assert await embedder_bench.embed("b") == [([1.0], 1)]
    assert embedder_bench.model.begun == ["a", text, "b"]


async def test_too_many_texts_are_refused_at_once(tmp_path: Path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    stage = EmbedderBench(path, limit=3)
    first = asyncio.create_task(stage.embed("a", "b"))
    await stage.until_begun()
    with pytest.raises(EngineBusy, match="2 texts are waiting"):
        await stage.embed("c", "d")
    stage.model.go.release(10)
    await first
    assert await stage.embed("c", "d") == [([1.0], 1)] * 2
    stage.embedder.close()


async def test_a_model_that_is_pulled_later_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path))
    model = WaitingEncoder()
    model.go.release(10)
    embedder = Embedder("all-minilm-l6-v2", is_busy=lambda: False, load=lambda _: model)
    with pytest.raises(ModelMissing, match="lsp-harness model pull all-minilm-l6-v2"):
        await anext(embedder.embed(EmbeddingRequest(("a",))))
    with open(tmp_path / "all-minilm-l6-v2-q8_0.gguf", "wb") as file:
        file.write(b"GGUF")
        file.truncate(25_282_144)
    assert await anext(embedder.embed(EmbeddingRequest(("a",)))) == ([1.0], 1)
    embedder.close()


async def test_a_generating_model_is_refused_by_its_name():
    embedder = Embedder("qwen2.5-coder-0.5b-instruct", is_busy=lambda: False, load=lambda _: WaitingEncoder())
    with pytest.raises(ModelError, match="is a model for completion"):
        await anext(embedder.embed(EmbeddingRequest(("a",))))
    embedder.close()


async def test_closing_ends_waiting_requests_and_frees_the_model(embedder_bench: EmbedderBench):
    first = asyncio.create_task(embedder_bench.embed("a", "b"))
    await embedder_bench.until_begun()
    second = asyncio.create_task(embedder_bench.embed("c"))
    await asyncio.sleep(0)
    assert embedder_bench.embedder.pending == 3
    closing = asyncio.create_task(asyncio.to_thread(embedder_bench.embedder.close))
    with pytest.raises(EngineUnavailable, match="shutting down"):
        await second
    embedder_bench.model.go.release(10)
    with pytest.raises(EngineUnavailable):
        await first
    await closing
    assert embedder_bench.model.closed
    with pytest.raises(EngineUnavailable):
        await embedder_bench.embed("d")


def test_without_a_request_no_model_is_loaded_and_no_thread_is_started(tmp_path: Path):
    before = threading.active_count()
    Embedder(str(tmp_path / "absent.gguf"), is_busy=lambda: False).close()
    assert threading.active_count() == before


async def test_the_time_spent_on_one_text_is_reported(embedder_bench: EmbedderBench):
    assert embedder_bench.embedder.silent_s == 0
    embedding = asyncio.create_task(embedder_bench.embed("a"))
    await embedder_bench.until_begun()
    first = embedder_bench.embedder.silent_s
    assert 0 < first < embedder_bench.embedder.silent_s
    embedder_bench.model.go.release()
    await embedding
    assert embedder_bench.embedder.silent_s == 0


async def test_a_text_that_never_ends_does_not_keep_the_process(
    embedder_bench: EmbedderBench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(embedder, "CLOSE_TIMEOUT_S", 0.01)
    embedding = asyncio.create_task(embedder_bench.embed("a"))
    await embedder_bench.until_begun()

    embedder_bench.embedder.close()

    # it is not taken away from under its thread
    assert not embedder_bench.model.closed
    with pytest.raises(EngineUnavailable):
        await embedding


def test_the_library_of_the_settings_is_the_one_that_embeds(tmp_path: Path):
    with pytest.raises(LibraryError, match=r"engine\.library: .* is no folder"):
        InProcessEmbedder(Index(), f"{tmp_path}/missing")
