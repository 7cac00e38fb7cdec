"""The embedding model, a second and small model: it turns texts into vectors on its own thread, one at a time.

Between two texts a more urgent request goes first, and background requests wait while the language model has more
urgent work. Thus an answer that a user waits for is delayed by one text at most.

Without an engine, the process of a command has the same encoder, so it makes the same vectors. Loading it with the
first text takes a quarter of a second.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import NamedTuple, Protocol

from lsp_harness.config.schema import Index
from lsp_harness.errors import EngineBusy, EngineError, EngineUnavailable, HarnessError
from lsp_harness.inference.embedding_recipe import pooling_or_auto
from lsp_harness.inference.embedding_request import EmbeddingRequest
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.request import PRIORITIES, Priority

FileIdentity = tuple[Path, int, int, int]
"""Path, inode, size and time of the last change of a file."""
THREAD_NICENESS = 10
"""Added to the niceness of the thread. If both models want the same core, the language model gets nine tenths of it."""
CLOSE_TIMEOUT_S = 5.0
BUSY_POLL_S = 0.005
"""Time between two checks whether the language model is free for a background request."""


class EmbeddedText(NamedTuple):
    """The vector of a text, of length 1, and the number of its tokens that were evaluated."""

    vector: list[float]
    tokens: int


class EmbeddingModel(Protocol):
    """The operations of an embedding model."""

    dimensions: int

    def tokenize(self, text: str, max_tokens: int) -> list[int]: ...
    def encode(self, tokens: list[int]) -> list[float]: ...
    def close(self) -> None: ...


def load_encoder(path: Path, pooling: str = "auto", *, silent: bool = False) -> EmbeddingModel:
    """Load a model with one thread.

    A second thread gains nothing with texts this short and takes a core from the language model.

    Args:
        path: The model file.
        pooling: How the vectors of the tokens are combined (see `Encoder`).
        silent: Whether llama.cpp writes no log.
    """
    from lsp_harness.engine.embed.encoder import Encoder

    return Encoder(path, threads=1, pooling=pooling, silent=silent)


class EmbeddingJob:
    """A request and its progress.

    Args:
        order: The sort key of the request: its class, then its arrival.
        request: The request.
    """

    def __init__(self, order: tuple[int, int], request: EmbeddingRequest) -> None:
        self.order = order
        self.request = request
        self.finished_texts = 0
        self.answers: asyncio.Queue[EmbeddedText | Exception] = asyncio.Queue()
        self.is_cancelled = False
        self._loop = asyncio.get_running_loop()

    @property
    def remaining_texts(self) -> int:
        """Number of texts that are not embedded yet."""
        return len(self.request.texts) - self.finished_texts

    def send(self, answer: EmbeddedText | Exception) -> None:
        """Send an answer from the worker thread to the event loop."""
        try:
            self._loop.call_soon_threadsafe(self.answers.put_nowait, answer)
        except RuntimeError:
            # The event loop is closed, so the answer has no reader.
            self.is_cancelled = True


class Embedder:
    """The queue of requests and the thread that runs them on the embedding model.

    The model is loaded at the first request, and again if its file changes.

    Args:
        name: A name in the catalogue, or a path.
        is_busy: Returns whether background requests must wait.
        load: Loads a model file.
        max_texts: Number of texts that may wait.
    """

    def __init__(
        self,
        name: str,
        *,
        is_busy: Callable[[], bool],
        load: Callable[[Path], EmbeddingModel] = load_encoder,
        max_texts: int = 8192,
    ) -> None:
        self.name = name
        self._is_busy = is_busy
        self._load = load
        self._max_texts = max_texts
        self._model: EmbeddingModel | None = None
        self._file: FileIdentity | None = None
        """The file from which the model was loaded."""
        self._arrivals = count()
        self._jobs: list[EmbeddingJob] = []
        self._condition = threading.Condition()
        self._is_closing = False
        self._text_started_s: float | None = None
        """When the text in progress was started."""
        self._thread: threading.Thread | None = None

    @property
    def pending(self) -> int:
        """Number of texts that wait or are in progress."""
        return sum(job.remaining_texts for job in list(self._jobs))

    @property
    def silent_s(self) -> float:
        """Seconds that the thread has worked on the current text."""
        started_s = self._text_started_s
        return 0.0 if started_s is None else monotonic() - started_s

    @property
    def dimensions(self) -> int:
        """Length of the vectors, or 0 before the first one."""
        return self._model.dimensions if self._model else 0

    async def embed(self, request: EmbeddingRequest) -> AsyncGenerator[EmbeddedText]:
        """Yield one vector for each text, in order. Closing the iterator cancels the rest.

        Raises:
            ModelError: The model is not available.
            EngineBusy: Too many texts are waiting.
            EngineUnavailable: The engine is shutting down.
            EngineError: A text could not be embedded.
        """
        job = EmbeddingJob((PRIORITIES.index(request.priority), next(self._arrivals)), request)
        self._add(job)
        try:
            for _ in request.texts:
                answer = await job.answers.get()
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        finally:
            job.is_cancelled = True

    def close(self) -> None:
        """Cancel all requests, wait for the thread and free the model."""
        with self._condition:
            self._is_closing = True
            for job in self._jobs:
                job.send(EngineUnavailable("the engine is shutting down; the next request starts another"))
            self._jobs.clear()
            self._condition.notify()
        if self._thread:
            self._thread.join(CLOSE_TIMEOUT_S)
            if self._thread.is_alive():
                # The thread may wait for a slow disk. The process ends without it, so the model must not be freed.
                return
        if self._model:
            self._model.close()
            self._model = None

    def _add(self, job: EmbeddingJob) -> None:
        with self._condition:
            if self._is_closing:
                raise EngineUnavailable("the engine is shutting down; the next request starts another")
            if self.pending + job.remaining_texts > self._max_texts:
                raise EngineBusy(f"{self.pending} texts are waiting to be embedded already; try again")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_loop, name="embedder", daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._condition.notify()

    def _run_loop(self) -> None:
        # On Linux this changes the niceness of this thread, elsewhere that of the whole process.
        if sys.platform == "linux":
            os.nice(THREAD_NICENESS)
        while job := self._next_job():
            try:
                answer = self._embed_next(job)
            except HarnessError as error:
                answer = error
            except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
                answer = EngineError(f"the model process failed on this text: {error}")
            job.finished_texts += 1
            job.send(answer)
            if isinstance(answer, Exception):
                job.is_cancelled = True

    def _next_job(self) -> EmbeddingJob | None:
        """Wait for a request and return the most urgent one, or None when the engine is shutting down."""
        with self._condition:
            while not self._is_closing:
                self._jobs = [job for job in self._jobs if job.remaining_texts and not job.is_cancelled]
                job = min(self._jobs, key=lambda job: job.order, default=None)
                if job is None:
                    self._condition.wait()
                elif job.request.priority == "background" and self._is_busy():
                    self._condition.wait(BUSY_POLL_S)
                else:
                    return job
        return None

    def _embed_next(self, job: EmbeddingJob) -> EmbeddedText:
        # The file is checked only before the first text of a request, so that one model makes all vectors of a request.
        if self._model is None or not job.finished_texts:
            self._open(resolve_model(self.name, "embedding"))
        assert self._model is not None
        self._text_started_s = monotonic()
        try:
            tokens = self._model.tokenize(job.request.texts[job.finished_texts], job.request.max_tokens)
            return EmbeddedText(self._model.encode(tokens), len(tokens))
        finally:
            self._text_started_s = None

    def _open(self, path: Path) -> None:
        """Load the model, unless it was loaded from this file."""
        info = path.stat()
        file = (path, info.st_ino, info.st_size, info.st_mtime_ns)
        if self._model and file != self._file:
            self._model.close()
            self._model = None
        if self._model is None:
            self._model, self._file = self._load(path), file


class InProcessEmbedder:
    """An embedder without an engine process.

    Args:
        settings: The section `index` of the settings, which names the model.
        library: The setting `engine.library`.

    Raises:
        LibraryError: The library that the setting names cannot be used.
    """

    def __init__(self, settings: Index, library: str = "") -> None:
        if library:
            from lsp_harness.engine.embed.encoder import use_library

            use_library(library)
        load = partial(load_encoder, pooling=pooling_or_auto(settings), silent=True)
        self._embedder = Embedder(settings.embedding_model, is_busy=lambda: False, load=load)

    async def embed(
        self, texts: Sequence[str], *, max_tokens: int = 128, priority: Priority = "background"
    ) -> list[list[float]]:
        """Return one vector for each text.

        Args:
            texts: The texts to embed.
            max_tokens: Number of tokens of a text that are used.
            priority: The class of the request.

        Raises:
            ModelError: The model is not available.
        """
        request = EmbeddingRequest(tuple(texts), max_tokens, priority)
        async with aclosing(self._embedder.embed(request)) as embedded_texts:
            return [embedded.vector async for embedded in embedded_texts]

    def close(self) -> None:
        """Wait for the text in progress and free the model."""
        self._embedder.close()
