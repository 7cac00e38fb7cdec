"""One agent: its state, its messages, its questions and its end."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lsp_harness.runtime.adapter import Adapter, LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, SpawnFailed
from lsp_harness.runtime.agent_events import AgentEventFeed, EventName
from lsp_harness.runtime.agent_state import ENDED, AgentState
from lsp_harness.runtime.connection import (
    AgentEnded,
    AgentQuestion,
    AnswerReceived,
    ClaimWithdrawn,
    FilesTouched,
    Observation,
    QuestionAnswer,
    QuestionWithdrawn,
    ScreenRead,
    StateClaimed,
)
from lsp_harness.runtime.mailbox import AgentReply, Mailbox
from lsp_harness.runtime.question_desk import QuestionDesk, QuestionGate
from lsp_harness.runtime.states.state_ladder import StateLadder

if TYPE_CHECKING:
    from lsp_harness.runtime.terminal.terminal import Terminal

DEFAULT_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
MAX_EXCERPT_LINES = 20
"""Lines of the output in the error about a program that ended before it was ready."""


@dataclass(frozen=True, slots=True)
class AgentContext:
    """The parts of a pool that its agents share.

    Attributes:
        feed: Receives the events of all agents.
        gate: Answers questions about permissions.
        default_timeout_s: The time for a message without a time of its own.
    """

    feed: AgentEventFeed
    gate: QuestionGate
    default_timeout_s: float = DEFAULT_TIMEOUT_S


def describe_order(order: LaunchOrder) -> dict[str, Any]:
    """Return what a client asked for, as JSON."""
    spec = order.spec
    return {
        "id": order.agent_id,
        "name": spec.shown_name,
        "type": spec.type,
        "workdir": str(spec.workdir),
        "transport": order.transport,
        "runner": spec.runner,
        "network": spec.network,
        "isolation": spec.isolation,
        "model": spec.model,
        "cols": spec.columns,
        "rows": spec.rows,
    }


class Agent:
    """A foreign agent that runs, or ran. All methods must be called in one event loop.

    Attributes:
        id: The id of the agent.
        spec: The description with which the agent was started.
        failure: The error that ended the agent.

    Args:
        order: The order to start it.
        adapter: The kind of the agent.
        context: The event feed, the gate and the time limit that the agents of a pool share.
    """

    def __init__(self, order: LaunchOrder, adapter: Adapter, context: AgentContext) -> None:
        self.id, self.spec, self._order, self._context = order.agent_id, order.spec, order, context
        self._ladder = StateLadder()
        self._connection = adapter.connect(order, self._observe)
        self._mailbox = Mailbox(self._connection, self._ladder, self.publish, self._refresh)
        self._desk = QuestionDesk(self, self._connection, context.gate, self.publish)
        self._shown = self._ladder.state
        self._created = datetime.now(UTC).isoformat()
        self._active_at = time.monotonic()
        self._stopping, self._changed = asyncio.Lock(), asyncio.Event()
        self._stop_reason, self._was_ready = "", False
        self._exit_code: int | None = None
        self.failure: AgentError | None = None
        self._looks: tuple[str, str] = ("", "")
        self._closing: set[asyncio.Task[None]] = set()

    # -- what it is
    @property
    def state(self) -> AgentState:
        """The present state."""
        return self._ladder.state

    @property
    def terminal(self) -> "Terminal | None":
        """The terminal, or None if the transport has none. An agent that ended keeps its screen."""
        return self._connection.terminal

    @property
    def has_ended(self) -> bool:
        """Return whether the agent has ended."""
        return self.state.status in ENDED

    @property
    def open_questions(self) -> list[AgentQuestion]:
        """The questions that wait for an answer."""
        return self._desk.open_questions

    def fields(self) -> dict[str, Any]:
        """Return the agent as JSON. It has no variables of the environment and no arguments, which may be secret."""
        return {
            **describe_order(self._order),
            "status": self.state.status,
            "state": self.state.fields,
            "createdAt": self._created,
            "hasTerminal": self.terminal is not None,
            "openQuestions": len(self.open_questions),
            "queue": self._mailbox.waiting,
            "exitCode": self._exit_code,
        }

    def explain(self) -> dict[str, Any]:
        """Return how the state is known: the claims of the sources, and the rules that were tried last."""
        return {
            "state": self.state.fields,
            "claims": self._ladder.explain(),
            "rules": self._connection.explain(),
            "isWorkingOnMessage": self._mailbox.is_working,
        }

    def read_lines(self, count: int, *, raw: bool = False) -> list[str]:
        """Return the last lines of the output. `raw` keeps escape sequences."""
        return self._connection.read_lines(count, raw=raw)

    # -- what it does
    async def start(self) -> None:
        """Start the program.

        Raises:
            AgentError: It could not be started. The agent is in the state `error` then.
        """
        self._ladder.start()
        self._refresh()
        try:
            await self._connection.start()
        except BaseException as error:  # noqa: BLE001 - whatever ends the start, the agent has failed
            failure = error if isinstance(error, AgentError) else SpawnFailed(f"{type(error).__name__}: {error}")
            self._fail(failure)
            with suppress(AgentError):
                await self._connection.stop(force=True, timeout_s=1.0)
            raise (failure if isinstance(error, OSError) else error) from None
        self.publish("agent_started", {})

    async def send(
        self, message: str, *, timeout_s: float | None = None, queue: bool = False, force: bool = False
    ) -> AgentReply:
        """Give the agent a message and return its answer. See `Mailbox.send`.

        Raises:
            AgentError: The agent is not ready, ended, or took too long.
        """
        self._active_at = time.monotonic()
        limit_s = self._context.default_timeout_s if timeout_s is None else timeout_s
        return await self._mailbox.send(message, limit_s, queue=queue, force=force)

    def press(self, keys: bytes) -> None:
        """Give the agent keys as they are, as a person types them in its terminal."""
        self._active_at = time.monotonic()
        if not self.has_ended:
            self._connection.press(keys)

    async def answer(self, question_id: str, answer: QuestionAnswer) -> None:
        """Give the answer of a person to an open question.

        Raises:
            AgentError: There is no such question, or the answer cannot be delivered.
        """
        self._active_at = time.monotonic()
        await self._desk.answer(question_id, answer)

    async def interrupt(self) -> None:
        """Stop the work on the present message. Its sender gets what there is of the answer."""
        if not self.has_ended:
            await self._connection.interrupt()

    async def stop(
        self, *, force: bool = False, timeout_s: float = STOP_TIMEOUT_S, reason: str = "it was stopped"
    ) -> list[int]:
        """End the program and all processes that it started. An agent that has ended stays as it is.

        Args:
            force: Do not ask the program to end by itself.
            timeout_s: Time for it to end before it is killed.
            reason: The reason in the event.

        Returns:
            The numbers of processes that still run. It is nearly always empty.
        """
        async with self._stopping:
            if self.has_ended:
                return []
            self._stop_reason = reason
            self._ladder.stop()
            self._refresh()
            try:
                left = await self._connection.stop(force=force, timeout_s=timeout_s)
            finally:
                self._end(self._exit_code, reason)
            await self._close_parts()
            return left

    async def wait_until(self, is_wanted: Callable[[AgentState], bool]) -> AgentState:
        """Wait until the agent has one of some states, and return its state."""
        while not is_wanted(self.state):
            await self._changed.wait()
        return self.state

    async def aclose(self) -> None:
        """Forget the messages and questions of an agent that has ended, and free its screen."""
        await self._close_parts()
        await asyncio.gather(*self._closing, return_exceptions=True)
        if self.terminal:
            self.terminal.close()

    def tick(self) -> None:
        """Look at the time: an agent may be stalled, or idle for too long."""
        self._ladder.decide()
        self._refresh()
        limit, idle = self.spec.idle_timeout_s, time.monotonic() - self._active_at
        if limit > 0 and idle >= limit and not self._mailbox.is_working and not self.has_ended:
            self._run(self.stop(reason=f"it was idle for {limit:g} s"))

    def publish(self, event: EventName, data: Mapping[str, Any]) -> None:
        """Publish an event of this agent."""
        self._context.feed.publish(event, self.id, {"agent": self.fields(), **data})

    # -- what is seen of it
    def _observe(self, observation: Observation) -> None:
        if self.has_ended:
            return
        match observation:
            case StateClaimed(claim):
                self._ladder.claim(claim)
            case ClaimWithdrawn(source):
                self._ladder.withdraw(source)
            case ScreenRead(reading):
                if reading.looks != self._looks:
                    self._looks, self._active_at = reading.looks, time.monotonic()
                self._ladder.observe(reading)
            case AnswerReceived():
                self._active_at = time.monotonic()
                self._mailbox.take_answer(observation)
            case AgentQuestion():
                self._desk.receive(observation)
            case QuestionWithdrawn(question_id):
                self._desk.withdraw(question_id)
            case FilesTouched(paths):
                self.publish("files_changed", {"paths": list(paths)})
            case AgentEnded(exit_code, reason):
                self._exit_code = exit_code
                if self.state.status != "stopping":
                    self._end(exit_code, reason or f"the program ended with {exit_code}")
                    self._run(self._close_parts())
        self._refresh()

    def _refresh(self) -> None:
        """Tell everybody about a state that has changed."""
        state, before = self._ladder.state, self._shown
        if (state.status, state.kind, state.rule) == (before.status, before.kind, before.rule):
            return
        self._shown = state
        if state.status != before.status:
            self.publish("status", {"status": state.status, "previous": before.status})
            if state.status in ("ready", "busy"):
                self._desk.withdraw_shown()
            if state.status == "ready" and not self._was_ready:
                self._was_ready = True
                self.publish("agent_ready", {})
        self._changed.set()
        self._changed = asyncio.Event()
        self._mailbox.follow(state)

    def _end(self, exit_code: int | None, reason: str) -> None:
        if self.has_ended:
            return
        if not self._stop_reason and not self._was_ready and exit_code != 0:
            excerpt = "\n".join(line for line in self.read_lines(MAX_EXCERPT_LINES) if line.strip())
            self._fail(SpawnFailed(f"{reason} before it was ready: {excerpt}".strip(": "), "look at its log"))
        else:
            self._ladder.end(reason)
            self._refresh()
            self.publish("agent_stopped", {"reason": reason})

    def _fail(self, error: AgentError) -> None:
        self.failure = error
        self._ladder.end(error.message, is_error=True)
        self._refresh()
        self.publish("agent_error", {"error": error.fields})

    async def _close_parts(self) -> None:
        await self._desk.aclose()
        await self._mailbox.aclose()

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
