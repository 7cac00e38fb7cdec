"""A session: the log, and the turns that run one after another."""

import asyncio
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from ulid import ULID

from lsp_harness.errors import HarnessError, NoAnswer, StaleDocument, UsageError
from lsp_harness.session.driver import Driver
from lsp_harness.session.events.model_events import ModelCancelled
from lsp_harness.session.events.session_events import (
    AutoInvocation,
    ErrorOccurred,
    InvocationReceived,
    QueueAdded,
    QueueEdited,
    QueueKind,
    QueueRemoved,
    QueueTaken,
    SessionStarted,
    TurnStarted,
    TurnStopped,
)
from lsp_harness.session.events.tool_events import ToolFailed
from lsp_harness.session.limits import Budget, Ending, Limits
from lsp_harness.session.log.session_log import SessionLog
from lsp_harness.session.log.turn import Turn, current_turn
from lsp_harness.session.loop import run_turn
from lsp_harness.session.projections.session_state import SessionState

UNSURPRISING_ERRORS = (NoAnswer, StaleDocument)
"""Errors that say what came of a request. The end of the turn has their message, and no event of its own."""


@dataclass(frozen=True, slots=True)
class Ingress:
    """Something that a user or a program asks of a session.

    Attributes:
        kind: The kind of the request (see `InvocationReceived`).
        text: The request in words.
        path: The path of the document in its workspace.
        source: The surface, or the tool that reported a finding.
        request_id: The id that the client gave the request.
        is_saved: Whether the events of the turn may be written to disk.
        task_id: The task whose end causes the turn, for a turn without a user.
        item_id: The queued text that this request is.
    """

    kind: str
    text: str
    path: str = ""
    source: str | None = None
    request_id: str | None = None
    is_saved: bool = True
    task_id: str = ""
    item_id: str | None = None

    @property
    def event(self) -> InvocationReceived | AutoInvocation:
        """The event that begins the turn."""
        if self.task_id:
            return AutoInvocation(self.task_id, self.text)
        return InvocationReceived(self.kind, self.text, self.path, self.source, self.request_id, self.item_id)


class Session:
    """The turns of one session.

    Args:
        log: The log.
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
        self._running: dict[int, asyncio.Task[Any]] = {}
        self._interrupted: set[int] = set()
        self._request_ids: dict[int, str | None] = {}
        self._expected: set[str] = set()
        self._withdrawn: set[str] = set()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._claimed_items: set[str] = set()
        self.next_driver: Callable[[], Driver[Any]] | None = None
        """Creates the driver of turns that begin without a caller: follow-ups and ends of background tasks."""

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
        return not self._running and not self._exclusive.locked()

    # -- turns
    async def submit(self, ingress: Ingress, driver: Driver[Any]) -> TurnStopped:
        """Run a turn, after the turns before it if the driver is exclusive.

        Args:
            ingress: The request.
            driver: The driver.

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
        self._start_follow_up()
        return stopped

    def begin_turn(self, ingress: Ingress, driver_name: str = "") -> Turn:
        """Begin a turn: the only place where a request enters the log."""
        if ingress.is_saved:
            self.record_start()
        turn = self.log.turn(is_saved=ingress.is_saved)
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

    def expect(self, request_id: str) -> None:
        """Accept the id of a request whose turn will begin, so that it can be interrupted before that."""
        self._expected.add(request_id)

    def forget(self, request_id: str) -> None:
        """Drop the id of a request whose turn has ended, or never began."""
        self._expected.discard(request_id)
        self._withdrawn.discard(request_id)

    def interrupt(self, request_id: str | None = None) -> bool:
        """Stop the running turns. The session goes on. Return whether there was one.

        Args:
            request_id: Stop only the turn of this request. If it has not begun, it ends when it begins.
        """
        running = {number: task for number, task in self._running.items() if not task.done()}
        if request_id is not None:
            running = {number: task for number, task in running.items() if self._request_ids[number] == request_id}
        self._interrupted.update(running)
        for task in running.values():
            task.cancel()
        if running:
            return True
        # a client may interrupt a prompt in the moment in which it sent it
        waiting = self._expected if request_id is None else self._expected & {request_id}
        self._withdrawn |= waiting
        return bool(waiting)

    async def finish_waiting(self) -> None:
        """Wait until the turns that began without a caller, such as those of queued texts, have ended."""
        while self._waiting:
            await asyncio.gather(*self._waiting, return_exceptions=True)

    async def stop(self) -> None:
        """End the turns that run and wait."""
        self.next_driver = None
        self.interrupt()
        tasks = [*self._running.values(), *self._waiting]
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """Stop everything, and let other processes continue the session."""
        await self.stop()
        self.log.close()

    async def _run(self, ingress: Ingress, driver: Driver[Any]) -> TurnStopped:
        turn = self.begin_turn(ingress, driver.name)
        if ingress.request_id is not None and ingress.request_id in self._withdrawn:
            return self.end_turn(turn, Ending("interrupted", "cancelled"), ingress.request_id)
        budget = Budget(self.limits, self._now_s)
        context = copy_context()
        context.run(current_turn.set, turn)
        task = asyncio.get_running_loop().create_task(run_turn(self, driver, turn, budget), context=context)
        self._running[turn.number] = task
        self._request_ids[turn.number] = ingress.request_id
        ending = Ending("error", "the turn ended unexpectedly")
        try:
            ending = await task
        except asyncio.CancelledError:
            is_interrupt = turn.number in self._interrupted and task.cancelled()
            ending = Ending("interrupted", "cancelled") if is_interrupt else Ending("cancelled", "cancelled")
            if not is_interrupt:
                await _cancel(task)
                raise
        except HarnessError as error:
            ending = Ending("error", error.message)
            if not isinstance(error, UNSURPRISING_ERRORS):
                turn.append(ErrorOccurred(error.message, type(error).__name__, is_recoverable=False))
            raise
        except Exception as error:
            ending = Ending("error", f"{type(error).__name__}: {error}")
            turn.append(ErrorOccurred(ending.detail, type(error).__name__, is_recoverable=False))
            raise
        finally:
            self._running.pop(turn.number, None)
            self._request_ids.pop(turn.number, None)
            if ingress.request_id is not None:
                self._expected.discard(ingress.request_id)
            self._interrupted.discard(turn.number)
            stopped = self.end_turn(turn, ending, ingress.request_id)
            await asyncio.to_thread(self.log.sync)
        return stopped

    # -- texts for later
    @property
    def has_steering(self) -> bool:
        """Return whether a text waits for the next step."""
        return any(item.item_id not in self._claimed_items for item in self.state.queued("steer"))

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
        item_id = str(ULID())
        self.log.append(QueueAdded(item_id, kind, text))
        if self.is_idle:
            self._start_follow_up()
        return item_id

    def edit_queued(self, item_id: str, text: str) -> None:
        """Replace a text that waits. Raise UsageError if it has taken effect already."""
        _require_queued(self.state, item_id)
        self.log.append(QueueEdited(item_id, text))

    def remove_queued(self, item_id: str) -> None:
        """Withdraw a text that waits. Raise UsageError if it has taken effect already."""
        _require_queued(self.state, item_id)
        self.log.append(QueueRemoved(item_id))

    def take_steering(self, turn: Turn) -> None:
        """Make the texts that wait for the next step messages of a turn."""
        for item in self.state.queued("steer"):
            if item.item_id in self._claimed_items:
                continue
            turn.append(QueueTaken(item.item_id, item.text))

    def report_task_end(self, task_id: str, text: str) -> None:
        """Begin a turn about a background task that ended, unless a turn runs, which will see it by itself."""
        if self.is_idle and self.next_driver:
            self._spawn(Ingress("auto", text, task_id=task_id), self.next_driver())

    def _start_follow_up(self) -> None:
        """Begin the next turn with the oldest text that waits. Steering without a turn is such a text, too."""
        items = [item for item in self.state.queue.values() if item.item_id not in self._claimed_items]
        if items and self.next_driver and not self._exclusive.locked():
            # the text leaves the queue with the event that begins the turn, so no crash can lose it in between
            self._claimed_items.add(items[0].item_id)
            self._spawn(Ingress(items[0].kind, items[0].text, item_id=items[0].item_id), self.next_driver())

    def _spawn(self, ingress: Ingress, driver: Driver[Any]) -> None:
        async def run() -> None:
            try:
                await self.submit(ingress, driver)
            except HarnessError:
                # the log has the reason, and nobody waits for this turn
                return

        task = asyncio.ensure_future(run())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)


def _require_queued(state: SessionState, item_id: str) -> None:
    if item_id not in state.queue:
        raise UsageError(f"there is no waiting text {item_id!r}; it has taken effect or was withdrawn")


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
