"""The second, small model: texts → vectors, on a thread of its own, one text at a time.

Between two texts it looks again: a more urgent request goes first, and background ones wait while the language model
has more urgent work. So an answer that somebody waits for meets one text at most, and the system prefers the answer.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Protocol

from lsp_harness.errors import EngineBusy, EngineError, EngineUnavailable, HarnessError
from lsp_harness.inference.embedding_request import EmbeddingRequest
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.request import PRIORITIES

File = tuple[Path, int, int, int]
Vector = tuple[list[float], int]
"""Of length 1, and the tokens that were evaluated for it."""
NICE = 10
"""Added to its thread: where both models want the same core, the language model gets nine tenths of it."""
CLOSE_S = 5.0
LOOK_SECONDS = 0.005
"""How often a background text asks whether the language model is free."""


class Encodes(Protocol):
    """What is needed of an embedding model."""

    dimensions: int

    def tokenize(self, text: str, most: int) -> list[int]: ...
    def encode(self, tokens: list[int]) -> list[float]: ...
    def close(self) -> None: ...


def load(path: Path, pooling: str = "auto", *, silent: bool = False) -> Encodes:
    """The model in one thread: a second one gains nothing for texts this short and takes a core from the answers."""
    from lsp_harness.engine.embed.encoder import Encoder

    return Encoder(path, threads=1, pooling=pooling, silent=silent)


class Job:
    """One request and how far it got."""

    def __init__(self, order: tuple[int, int], request: EmbeddingRequest) -> None:
        self.order = order
        self.request = request
        self.done = 0
        self.loop = asyncio.get_running_loop()
        self.answers: asyncio.Queue[Vector | Exception] = asyncio.Queue()
        self.cancelled = False

    @property
    def left(self) -> int:
        return len(self.request.texts) - self.done

    def tell(self, answer: Vector | Exception) -> None:
        """From the worker thread; a loop that is gone has nobody left to tell."""
        try:
            self.loop.call_soon_threadsafe(self.answers.put_nowait, answer)
        except RuntimeError:
            self.cancelled = True


class Embedder:
    """`name` is a catalogue name or a path, loaded at the first request, and again where its file has become another one;
    `busy` says whether background texts must wait."""

    def __init__(
        self,
        name: str,
        *,
        busy: Callable[[], bool],
        load: Callable[[Path], Encodes] = load,
        limit: int = 8192,
    ) -> None:
        self.name = name
        self._busy = busy
        self._load = load
        self._limit = limit
        self._model: Encodes | None = None
        self._file: File | None = None
        """Which file the model was loaded from."""
        self._arrivals = count()
        self._jobs: list[Job] = []
        self._wake = threading.Condition()
        self._closing = False
        self._began: float | None = None
        """When the text at work was begun."""
        self._thread: threading.Thread | None = None

    @property
    def pending(self) -> int:
        """Texts that wait or are at work."""
        return sum(job.left for job in list(self._jobs))

    @property
    def silent_s(self) -> float:
        """Seconds that the thread has been at one text."""
        began = self._began
        return 0.0 if began is None else monotonic() - began

    @property
    def dimensions(self) -> int:
        """Of the vectors; 0 until the first was made."""
        return self._model.dimensions if self._model else 0

    async def embed(self, request: EmbeddingRequest) -> AsyncGenerator[Vector]:
        """One vector a text, in order. Leaving early drops the rest. Raises ModelError where the model cannot be had."""
        job = Job((PRIORITIES.index(request.priority), next(self._arrivals)), request)
        self._queue(job)
        try:
            for _ in request.texts:
                answer = await job.answers.get()
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        finally:
            job.cancelled = True

    def close(self) -> None:
        """Drop everything, wait for the thread and let go of the model."""
        with self._wake:
            self._closing = True
            for job in self._jobs:
                job.tell(EngineUnavailable("the engine is shutting down; the next request starts another"))
            self._jobs.clear()
            self._wake.notify()
        if self._thread:
            self._thread.join(CLOSE_S)
            if self._thread.is_alive():
                # a process that ends does not wait for a disk; the model is not taken from under its thread
                return
        if self._model:
            self._model.close()
            self._model = None

    def _queue(self, job: Job) -> None:
        with self._wake:
            if self._closing:
                raise EngineUnavailable("the engine is shutting down; the next request starts another")
            if self.pending + job.left > self._limit:
                raise EngineBusy(f"{self.pending} texts are waiting to be embedded already; try again")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="embedder", daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._wake.notify()

    def _work(self) -> None:
        # on Linux this thread's alone, elsewhere the whole process's
        if sys.platform == "linux":
            os.nice(NICE)
        while job := self._next():
            try:
                answer = self._embed(job)
            except HarnessError as error:
                answer = error
            except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
                answer = EngineError(f"the model process failed on this text: {error}")
            job.done += 1
            job.tell(answer)
            if isinstance(answer, Exception):
                job.cancelled = True

    def _next(self) -> Job | None:
        """The most urgent request that may go on now; None at the end."""
        with self._wake:
            while not self._closing:
                self._jobs = [job for job in self._jobs if job.left and not job.cancelled]
                job = min(self._jobs, key=lambda job: job.order, default=None)
                if job is None:
                    self._wake.wait()
                elif job.request.priority == "background" and self._busy():
                    self._wake.wait(LOOK_SECONDS)
                else:
                    return job
        return None

    def _embed(self, job: Job) -> Vector:
        # a file that is replaced while it is mapped would give vectors of neither; all of a request are of one model
        if self._model is None or not job.done:
            self._open(resolve_model(self.name, "embedding"))
        assert self._model is not None
        self._began = monotonic()
        try:
            tokens = self._model.tokenize(job.request.texts[job.done], job.request.max_tokens)
            return self._model.encode(tokens), len(tokens)
        finally:
            self._began = None

    def _open(self, path: Path) -> None:
        info = path.stat()
        file = (path, info.st_ino, info.st_size, info.st_mtime_ns)
        if self._model and file != self._file:
            self._model.close()
            self._model = None
        if self._model is None:
            self._model, self._file = self._load(path), file
