"""The requests of the scheduler that wait or are in progress, shared by the event loop and the worker thread."""

import threading
from itertools import count

from lsp_harness.engine.decode.job import Job
from lsp_harness.engine.decode.model_runtime import TokenRequest
from lsp_harness.errors import EngineBusy, EngineUnavailable
from lsp_harness.inference.request import Priority


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
