"""The verifications of one client that wait or run: the most urgent first, and only a few at once."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)

MAX_PARALLEL = 2
"""Verifications that run at once. With one, tests that take long would delay the syntax check of another document."""


@dataclass(eq=False, slots=True)
class Verification:
    """The verification of one version of one document.

    Attributes:
        key: The text before, the text after and the settings. A second request with this key needs no other run.
        run: Runs the checks.
        urgency: Returns the present urgency. The largest runs first.
        task: The run. None while it waits.
    """

    key: object
    run: Callable[[], Coroutine[Any, Any, None]]
    urgency: Callable[[], tuple[bool, ...]]
    task: "asyncio.Task[None] | None" = None

    @property
    def is_over(self) -> bool:
        """Return whether the run has ended or was cancelled."""
        return self.task is not None and (self.task.done() or self.task.cancelling() > 0)


class VerificationQueue:
    """The verifications that wait or run.

    Args:
        limit: How many run at once. One that was cancelled counts until its tool has ended.
    """

    def __init__(self, limit: int = MAX_PARALLEL) -> None:
        self._limit = limit
        self._waiting: list[Verification] = []
        self._running: set[asyncio.Task[None]] = set()

    def add(self, verification: Verification) -> None:
        """Run a verification as soon as none that is more urgent waits."""
        self._waiting.append(verification)
        self._start_next()

    def cancel(self, verification: Verification) -> None:
        """Drop a verification. If it runs, it ends only when its tool has ended."""
        if verification in self._waiting:
            self._waiting.remove(verification)
        elif verification.task and not verification.task.done():
            verification.task.cancel()

    async def wait_until_idle(self) -> None:
        """Wait until nothing waits or runs."""
        while self._running:
            await asyncio.wait(self._running)

    async def aclose(self) -> None:
        """Cancel everything and wait until no tool runs: an event loop that is closed before would hang."""
        self._waiting.clear()
        for task in self._running:
            # a second cancellation would end the wait for a tool
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start_next(self) -> None:
        while self._waiting and len(self._running) < self._limit:
            verification = max(self._waiting, key=lambda waiting: waiting.urgency())
            self._waiting.remove(verification)
            verification.task = asyncio.ensure_future(verification.run())
            self._running.add(verification.task)
            verification.task.add_done_callback(self._finish)

    def _finish(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a verification failed", exc_info=error)
        self._start_next()
