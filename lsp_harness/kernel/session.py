"""A session: the log, and the turns that run one after another."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from lsp_harness.errors import HarnessError, NoAnswer, StaleDocument, UsageError
from lsp_harness.events.model_events import ModelCancelled
from lsp_harness.events.session_events import (
    ErrorOccurred,
    QueueKind,
    SessionStarted,
    TurnStarted,
    TurnStopped,
)
from lsp_harness.events.tool_events import ToolFailed
from lsp_harness.kernel.driver import Driver
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Budget, Ending, Limits
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.turn import Turn, current_turn
from lsp_harness.kernel.projections.session_state import SessionState
from lsp_harness.kernel.turn_queue import TurnQueue
from lsp_harness.kernel.turn_requests import TurnRequests

UNSURPRISING_ERRORS = (NoAnswer, StaleDocument)
"""Errors that say what came of a request. The end of the turn has their message, and no event of its own."""


class Session:
    """The turns of one session.

    Attributes:
        requests: The turns that run, and the requests that they answer.

    Args:
        log: The log of the session.
        start: What the first event says about the session.
        limits: The limits of each turn.
        now_s: Returns the time in seconds, for the limits.
    """

    def __init__(
        self,
        log: SessionLog,
        start: SessionStarted | None = None,
        limits: Limits | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.log = log
        self.limits = limits or Limits()
        self._start = start or SessionStarted()
        self._now_s = now_s
        self._exclusive = asyncio.Lock()
        self.requests = TurnRequests()
        self._waiting: set[asyncio.Task[Any]] = set()
        self.queue = TurnQueue(log)
        self.run_next: Callable[[Ingress], Awaitable[object]] | None = None
        """Runs a turn that begins without a caller: a queued text, or the end of a background task."""

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.log.id

    @property
    def state(self) -> SessionState:
        """The state after all events until now."""
        return self.log.state

    @property
    def is_idle(self) -> bool:
        """Return whether no turn runs or waits."""
        return not self.requests.tasks and not self._waiting and not self._exclusive.locked()

    # -- turns
    async def submit(self, ingress: Ingress, driver: Driver) -> TurnStopped:
        """Run a turn, after the turns before it if the driver is exclusive.

        Args:
            ingress: The request of the user or a program.
            driver: The driver that does the work of the turn.

        Returns:
            The last event of the turn.

        Raises:
            HarnessError: The driver failed. The log has the reason, too.
            asyncio.CancelledError: The caller was cancelled. `interrupt` does not raise it.
        """
        if not driver.is_exclusive:
            return await self._run(ingress, driver)
        async with self._exclusive:
            stopped = await self._run(ingress, driver)
        if stopped.reason == "interrupted":
            # a user who stops a turn does not want the next one to begin by itself
            self.queue.forget_task_ends()
        self._start_next()
        return stopped

    def begin_turn(self, ingress: Ingress, driver_name: str = "") -> Turn:
        """Begin a turn: the only place where a request enters the log."""
        if ingress.is_saved:
            self.record_start()
        turn = self.log.turn(is_saved=ingress.is_saved)
        self.requests.assign(turn.number, ingress.request_id)
        turn.append(ingress.event)
        turn.append(TurnStarted(turn.number, driver_name, ingress.request_id))
        return turn

    def end_turn(self, turn: Turn, ending: Ending, request_id: str | None = None) -> TurnStopped:
        """End a turn: close what it left open, and append its last event."""
        _end_open_calls(turn, self.state)
        stopped = TurnStopped(turn.number, ending.reason, ending.detail, ending.text, request_id)
        turn.append(stopped)
        return stopped

    def record_start(self) -> None:
        """Append the first event of the session, if there is none yet."""
        # the only line of a killed session may have been cut off, and then the first event is that of the repair
        if self.state.started is None and self.state.turn_count == 0:
            self.log.append(self._start)

    async def finish_waiting(self) -> None:
        """Wait until the turns that began without a caller, such as those of queued texts, have ended."""
        while self._waiting:
            await asyncio.gather(*self._waiting, return_exceptions=True)

    async def stop(self) -> None:
        """End the turns that run and wait."""
        self.run_next = None
        self.requests.interrupt()
        tasks = [*self.requests.tasks, *self._waiting]
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """Stop everything, and let other processes continue the session."""
        await self.stop()
        self.log.close()

    async def _run(self, ingress: Ingress, driver: Driver) -> TurnStopped:
        turn = self.begin_turn(ingress, driver.name)
        if self.requests.is_withdrawn(ingress.request_id):
            return self.end_turn(turn, Ending("interrupted", "cancelled"), ingress.request_id)
        budget = Budget(self.limits, self._now_s)
        context = copy_context()
        context.run(current_turn.set, turn)
        task = asyncio.get_running_loop().create_task(
            budget.run_in_time(driver.run(turn, self, budget)), context=context
        )
        self.requests.start(turn.number, task)
        ending = Ending("error", "the turn ended unexpectedly")
        try:
            ending = await task
        except asyncio.CancelledError:
            is_interrupt = self.requests.was_interrupted(turn.number) and task.cancelled()
            ending = Ending("interrupted", "cancelled") if is_interrupt else Ending("cancelled", "cancelled")
            if not is_interrupt:
                await _cancel(task)
                raise
        except HarnessError as error:
            ending = Ending("error", error.message)
            last = self.log.turns[turn.number][-1]
            is_told = last.type == "model.failed" and last.data.get("message") == error.message
            if not (is_told or isinstance(error, UNSURPRISING_ERRORS)):
                turn.append(ErrorOccurred(error.message, type(error).__name__, is_recoverable=False))
            raise
        except Exception as error:
            ending = Ending("error", f"{type(error).__name__}: {error}")
            turn.append(ErrorOccurred(ending.detail, type(error).__name__, is_recoverable=False))
            raise
        finally:
            self.requests.end(turn.number)
            stopped = self.end_turn(turn, ending, ingress.request_id)
            await asyncio.to_thread(self.log.sync)
        return stopped

    # -- later turns
    @property
    def has_steering(self) -> bool:
        """Return whether a text waits for the next step."""
        return self.queue.has_steering

    def take_steering(self, turn: Turn) -> None:
        """Make the texts that wait for the next step messages of a turn."""
        self.queue.take_steering(turn)

    def enqueue(self, kind: QueueKind, text: str) -> str:
        """Keep a text for the next step of the running turn ("steer") or for the next turn ("follow_up").

        Returns:
            The id by which the text can be changed or withdrawn until it takes effect.

        Raises:
            UsageError: The text is empty.
        """
        if not text.strip():
            raise UsageError("the text is empty; write what to do")
        self.record_start()
        item_id = self.queue.add(kind, text)
        self._start_if_idle()
        return item_id

    def report_task_end(self, task_id: str, text: str) -> None:
        """Begin a turn about a background task that ended, unless a later step of the running turn sees it."""
        self.queue.add_task_end(task_id, text)
        self._start_if_idle()

    def _start_if_idle(self) -> None:
        if self.is_idle:
            self._start_next()

    def _start_next(self) -> None:
        if not self.run_next or self._exclusive.locked():
            return
        if ingress := self.queue.take_next():
            task = asyncio.ensure_future(_run_unattended(self.run_next, ingress))
            self._waiting.add(task)
            # a task that is cancelled before its first step runs no code of its own
            task.add_done_callback(self._waiting.discard)


async def _run_unattended(run: Callable[[Ingress], Awaitable[object]], ingress: Ingress) -> None:
    # the log has the reason of an error, and nobody waits for this turn
    with suppress(HarnessError):
        await run(ingress)


def _end_open_calls(turn: Turn, state: SessionState) -> None:
    """Append an end for each call of a turn that has none."""
    if call := state.open_models.get(turn.number):
        turn.append(ModelCancelled(call.name))
    for call_id, call in list(state.open_calls.items()):
        if call.turn == turn.number:
            turn.append(ToolFailed(call_id, call.name, "cancelled", "the turn ended before this call had a result"))


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
