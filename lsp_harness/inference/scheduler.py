"""Who may use the model now. One thread owns it; more urgent requests go between the steps of less urgent ones."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from typing import Protocol

from lsp_harness.errors import EngineBusy, EngineError, EngineUnavailable, HarnessError
from lsp_harness.inference.generate import Work
from lsp_harness.inference.request import PRIORITIES, Chunk, Priority

Steps = Iterator[None]
Run = Callable[[Work, Callable[[Chunk], None], Callable[[], bool]], Steps]


class Model(Protocol):
    """What the scheduler needs of the model: to be told when to abort a running decode."""

    should_abort: Callable[[], bool]


class Job:
    """One request in the queue or at work."""

    def __init__(self, order: tuple[int, int], work: Work) -> None:
        self.order = order
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.chunks: asyncio.Queue[Chunk | Exception] = asyncio.Queue()
        self.cancelled = threading.Event()
        self.steps: Steps | None = None

    def tell(self, item: Chunk | Exception) -> None:
        """From the worker thread; a loop that is gone has nobody left to tell."""
        try:
            self.loop.call_soon_threadsafe(self.chunks.put_nowait, item)
        except RuntimeError:
            self.cancelled.set()


class Scheduler:
    """`run` makes the steps of one request; `limit` requests may wait."""

    def __init__(self, model: Model, run: Run, *, limit: int = 64) -> None:
        self._model = model
        self._run = run
        self._limit = limit
        self._arrivals = count()
        self._jobs: list[Job] = []
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="llama", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        return len(self._jobs)

    async def submit(self, work: Work, priority: Priority) -> AsyncIterator[Chunk]:
        """Chunks as they come. Leaving the iterator early cancels the work at its next token."""
        job = Job((PRIORITIES.index(priority), next(self._arrivals)), work)
        with self._wake:
            if self._closing:
                raise EngineUnavailable("the engine is shutting down; the next request starts another")
            if len(self._jobs) >= self._limit:
                raise EngineBusy(f"{self._limit} requests are waiting already; try again")
            self._jobs.append(job)
            self._wake.notify()
        try:
            while True:
                item = await job.chunks.get()
                if isinstance(item, Exception):
                    raise item
                yield item
                if item.stop:
                    return
        finally:
            job.cancelled.set()

    def cancel(self, client: str, name: str, index: int | None) -> bool:
        """Stop the request `client` calls `name`, or one candidate of it. False when there is none."""
        raise NotImplementedError

    def close(self) -> None:
        """Cancel everything and wait for the thread to let go of the model."""
        with self._wake:
            self._closing = True
            for job in self._jobs:
                job.cancelled.set()
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._closing:
                    self._wake.wait()
                if not self._jobs:
                    return
                job = min(self._jobs, key=lambda j: j.order)
            if self._step(job):
                with self._wake:
                    self._jobs.remove(job)

    def _step(self, job: Job) -> bool:
        """One llama.cpp call for `job`; true when the job is over."""
        if job.steps is None and job.cancelled.is_set():
            job.tell(Chunk("", "cancelled"))
            return True
        self._model.should_abort = job.cancelled.is_set
        try:
            if job.steps is None:
                job.steps = self._run(job.work, job.tell, job.cancelled.is_set)
            next(job.steps)
        except StopIteration:
            return True
        except HarnessError as error:
            job.tell(error)
            return True
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
            job.tell(EngineError(f"the model process failed on this request: {error}"))
            return True
        return False
