"""The requests of the scheduler that wait or are in progress, and how their ends are reported."""

import asyncio
import threading
from contextlib import suppress
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import Protocol

from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.model_runtime import TokenRequest
from lsp_harness.errors import EngineBusy, EngineUnavailable
from lsp_harness.inference.request import PRIORITIES, Chunk, Priority, Usage


class RequestObserver(Protocol):
    """An observer that is told about the end of every request."""

    def record_request(
        self,
        priority: Priority,
        outcome: str,
        usage: Usage,
        waited_ms: float,
        first_token_ms: float | None,
        total_ms: float,
    ) -> None:
        """Record a request that has ended.

        Args:
            priority: The class of the request.
            outcome: Why its last candidate ended, or `refused` or `failed`.
            usage: The usage of all candidates together.
            waited_ms: Time from its arrival to its first step.
            first_token_ms: Time from its arrival to its first token, None if there was no token.
            total_ms: Time from its arrival to its end.
        """
        ...


MIN_CHUNK_TOKENS = 16
"""Size of a part of a prompt, however often steps are aborted."""


class Job:
    """A request that waits or is in progress.

    It belongs to the worker thread, except that the event loop reads `chunks` and sets `is_cancelled` and `cancelled`.

    Args:
        priority: The class of the request.
        arrival: Number of the request in the order of arrival.
        request: The request.
    """

    def __init__(self, priority: Priority, arrival: int, request: TokenRequest) -> None:
        self.priority: Priority = priority
        self.level = PRIORITIES.index(priority)
        """0 is the most urgent class."""
        self.request = request
        self.chunks: asyncio.Queue[Chunk | Exception] = asyncio.Queue()
        self.is_cancelled = threading.Event()
        self.cancelled: set[int] = set()
        """Numbers of the candidates that were cancelled."""
        self.generation: RunningRequest | None = None
        """The request in progress. None while it waits for its first step."""
        self.turn = arrival
        """Order among the requests of a client. It grows with each part of the prompt that is read."""
        self.chunk_tokens = 0
        """Size of the next part of the prompt. It is halved each time a step is aborted for a more urgent request."""
        self.last_read_s = 0.0
        """When the last part of the prompt was read."""
        self.no_room_at_change = -1
        """The count of changes of the queue (`JobQueue.changes`) for which there was no room."""
        self.shared_part: tuple[object, bool] = (None, False)
        """A prompt up to the part that is evaluated now, and whether the prompt of this request begins with it."""
        self.arrived_s = perf_counter()
        self.started_s: float | None = None
        self.final_chunk: Chunk | None = None
        self._loop = asyncio.get_running_loop()
        self._first_token_s: float | None = None
        self._last_chunks: dict[int, Chunk] = {}
        """The last chunk of each candidate, in the order in which they were sent."""
        self._open_candidates = request.sampling.n

    def record_part(self, turn: int, max_chunk_tokens: int) -> None:
        """Record that a part of the prompt was read, and let the next part be larger again."""
        self.turn = turn
        self.chunk_tokens = min(2 * self.chunk_tokens, max_chunk_tokens)
        self.last_read_s = perf_counter()

    def halve_chunk(self) -> None:
        """Let the next part of the prompt be smaller, because the step was aborted."""
        self.chunk_tokens = max(MIN_CHUNK_TOKENS, self.chunk_tokens // 2)

    def send(self, item: Chunk | Exception) -> None:
        """Send a chunk or an error to the event loop. The final chunk is held back until `send_final_chunk`."""
        if isinstance(item, Chunk):
            # The entry is removed first so that the dict keeps the order of sending.
            self._last_chunks.pop(item.index, None)
            self._last_chunks[item.index] = item
            if self._first_token_s is None and item.usage.generated:
                self._first_token_s = perf_counter()
            self._open_candidates -= item.stop is not None
            if not self._open_candidates:
                self.final_chunk = item
                return
        self._send(item)

    def send_final_chunk(self) -> None:
        """Send the final chunk, if there is one.

        This comes after the request was recorded and has left the queue, because the client may ask for the counts or
        send another request as soon as it has the answer.
        """
        if self.final_chunk:
            self._send(self.final_chunk)

    def report(self, observer: RequestObserver, outcome: str = "") -> None:
        """Tell `observer` how the request ended. Without `outcome` it is that of the candidate that ended last."""
        now_s = perf_counter()
        started_s = self.started_s or now_s
        # A value that cannot be recorded must not end the worker thread.
        with suppress(ValueError):
            observer.record_request(
                self.priority,
                outcome or self._last_stop(),
                self._sum_usage(),
                (started_s - self.arrived_s) * 1000,
                None if self._first_token_s is None else (self._first_token_s - self.arrived_s) * 1000,
                (now_s - self.arrived_s) * 1000,
            )

    def _sum_usage(self) -> Usage:
        """Return the usage of the prompt once and that of all candidates."""
        usages = [chunk.usage for chunk in self._last_chunks.values()]
        if not usages:
            return Usage()
        spelled = sum(usage.spelled for usage in usages)
        return replace(
            usages[-1],
            evaluated=usages[-1].evaluated - usages[-1].spelled + spelled,
            spelled=spelled,
            generated=sum(usage.generated for usage in usages),
            drafted=sum(usage.drafted for usage in usages),
            accepted=sum(usage.accepted for usage in usages),
        )

    def _last_stop(self) -> str:
        return str(next((chunk.stop for chunk in reversed(self._last_chunks.values()) if chunk.stop), None))

    def _send(self, item: Chunk | Exception) -> None:
        try:
            self._loop.call_soon_threadsafe(self.chunks.put_nowait, item)
        except RuntimeError:
            # The event loop is closed, so the answer has no reader.
            self.is_cancelled.set()


class JobQueue:
    """The requests in the order of their arrival.

    Args:
        limit: Number of requests of a class and of more urgent classes. Less urgent requests never keep others out.
    """

    def __init__(self, limit: int) -> None:
        self.jobs: list[Job] = []
        self.changes = 0
        """Number of requests that came or left."""
        self.has_news = False
        """Whether a request came or was cancelled since the worker thread last took the requests."""
        self._limit = limit
        self._turns = count()
        self._condition = threading.Condition()
        self._is_closing = False

    def next_turn(self) -> int:
        """Return a number larger than all before."""
        return next(self._turns)

    def submit(self, request: TokenRequest, priority: Priority) -> Job:
        """Add a request and wake the worker thread.

        Raises:
            EngineUnavailable: The engine is shutting down.
            EngineBusy: Too many requests are waiting.
        """
        job = Job(priority, self.next_turn(), request)
        with self._condition:
            if self._is_closing:
                raise EngineUnavailable("the engine is shutting down; the next request starts another")
            if sum(other.level <= job.level for other in self.jobs) >= self._limit:
                raise EngineBusy(f"{self._limit} requests are waiting already; try again")
            self.jobs.append(job)
            self.has_news = True
            self.changes += 1
            self._condition.notify()
        return job

    def leave(self, job: Job) -> None:
        """Cancel a request whose answer nobody reads any more."""
        job.is_cancelled.set()
        self.has_news = True

    def cancel(self, client: str, name: str, index: int | None) -> bool:
        """Cancel a request or one of its candidates (see `Scheduler.cancel`)."""
        with self._condition:
            matching = [
                job
                for job in self.jobs
                if (job.request.owner.client, job.request.owner.id) == (client, name)
                and (index is None or 0 <= index < job.request.sampling.n)
            ]
            for job in matching:
                candidates = job.request.sampling.n
                job.cancelled |= set(range(candidates)) if index is None else {index}
                if len(job.cancelled) >= candidates:
                    # A step that serves no other request is aborted.
                    job.is_cancelled.set()
                    self.has_news = True
            self._condition.notify()
        return bool(matching)

    def close(self) -> None:
        """Cancel all requests and refuse new ones."""
        with self._condition:
            self._is_closing = True
            for job in self.jobs:
                job.is_cancelled.set()
            self.has_news = True
            self._condition.notify()

    def wait(self, timeout_s: float) -> tuple[list[Job], int] | None:
        """Wait until there is a request or the time is over. Called by the worker thread.

        Returns:
            The requests and the count of changes, or None if the queue is closed and empty.
        """
        with self._condition:
            while not self.jobs and not self._is_closing:
                if not self._condition.wait(timeout=timeout_s):
                    break
            self.has_news = False
            if not self.jobs and self._is_closing:
                return None
            return list(self.jobs), self.changes

    def remove(self, job: Job) -> bool:
        """Remove a request. Return False if it was removed before."""
        with self._condition:
            if job not in self.jobs:
                return False
            self.jobs.remove(job)
            self.changes += 1
            return True
