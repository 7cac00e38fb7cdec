"""The open questions of one agent: who answers them, the authority that decides, and whether answers arrive."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from lsp_harness.permission.question_text import describe_call
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import AgentError, InvalidSpec
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import AgentState
from lsp_harness.runtime.connection import AgentQuestion, Connection, QuestionAnswer


class AskingAgent(Protocol):
    """An agent that asks questions."""

    @property
    def id(self) -> str:
        """The id of the agent."""
        ...

    @property
    def spec(self) -> AgentSpec:
        """The description with which the agent was started."""
        ...

    async def wait_until(self, is_wanted: Callable[[AgentState], bool]) -> AgentState:
        """Wait for a state and return it."""
        ...


class QuestionGate(Protocol):
    """The authority that decides what agents may do."""

    async def require_spawn(self, order: LaunchOrder) -> None:
        """Decide whether a program may be started.

        Raises:
            SpawnDenied: It may not.
        """
        ...

    async def decide(self, agent: AskingAgent, question: AgentQuestion) -> QuestionAnswer:
        """Return the answer to a question about a permission or about trust. If nobody decides, it is a denial."""
        ...

    def answer(self, agent_id: str, question_id: str, answer: QuestionAnswer) -> bool:
        """Give the answer of a person to a question that the gate asks. Return whether it asks this one."""
        ...


ACKNOWLEDGE_S = 5.0
"""Time in which an agent must go on after an answer. After it the answer counts as undelivered."""
MAX_OPEN_QUESTIONS = 50
"""Open questions of one agent. Further ones are denied, because its text is not trusted."""
GATE_KINDS = frozenset({"permission", "trust"})
"""Kinds of questions that the gate answers. The others need a person."""
EVENTS: Mapping[str, EventName] = {
    "permission": "permission_request",
    "trust": "permission_request",
    "auth": "login_required",
    "question": "question",
}
"""Kind of a question → its event. Every other question is a `blocking_prompt`."""
Publish = Callable[[EventName, Mapping[str, Any]], object]


def question_fields(question: AgentQuestion) -> dict[str, Any]:
    """Return a question as JSON. `text` is all of it, in a form that hides nothing."""
    return {
        "questionId": question.id,
        "kind": question.kind,
        "question": question.text,
        "tool": question.tool,
        "input": dict(question.input),
        "options": list(question.options),
        "loginUrl": question.url,
        "delivery": question.delivery,
        "text": describe_call(question.text, question.tool, question.input),
    }


class QuestionDesk:
    """The open questions of one agent.

    Args:
        agent: The agent.
        connection: Its connection, through which answers go.
        gate: Answers questions about permissions and about trust.
        publish: Publishes an event of the agent.
    """

    def __init__(self, agent: AskingAgent, connection: Connection, gate: QuestionGate, publish: Publish) -> None:
        self._agent, self._connection, self._gate, self._publish = agent, connection, gate, publish
        self._open: dict[str, AgentQuestion] = {}
        self._withdrawn: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._delivering: set[str] = set()

    @property
    def open_questions(self) -> list[AgentQuestion]:
        """The questions without an answer, the oldest first."""
        return list(self._open.values())

    def receive(self, question: AgentQuestion) -> None:
        """Take a question, publish it, and let the gate answer it if it is about a permission."""
        if question.id in self._open:
            return
        is_flood = len(self._open) >= MAX_OPEN_QUESTIONS
        self._open[question.id] = question
        self._withdrawn[question.id] = asyncio.Event()
        self._publish(EVENTS.get(question.kind, "blocking_prompt"), question_fields(question))
        if question.kind in GATE_KINDS:
            self._tasks[question.id] = asyncio.ensure_future(self._decide(question, is_flood=is_flood))

    def withdraw(self, question_id: str) -> None:
        """Forget a question that the agent does not ask any more."""
        self._open.pop(question_id, None)
        if event := self._withdrawn.pop(question_id, None):
            event.set()
        task = self._tasks.get(question_id)
        if task is not None and task is not asyncio.current_task():
            # the gate need not ask a person any more; a delivery ends by the event
            self._tasks.pop(question_id)
            if question_id not in self._delivering:
                task.cancel()

    def withdraw_shown(self) -> None:
        """Forget the questions that are answered by keys: the screen does not show them any more."""
        for question in self.open_questions:
            if question.delivery == "keys":
                self.withdraw(question.id)

    async def answer(self, question_id: str, answer: QuestionAnswer) -> None:
        """Give the answer of a person to an open question.

        Raises:
            AgentError: There is no such question, or the answer cannot be delivered.
        """
        question = self._open.get(question_id)
        if question is None:
            raise InvalidSpec(f"the agent has no open question {question_id!r}", "list the open questions of the agent")
        if question.kind in GATE_KINDS and question_id in self._tasks:
            if not self._gate.answer(self._agent.id, question_id, answer):
                raise InvalidSpec(
                    f"the question {question_id!r} is answered by rules and not by a person",
                    "the permission gate decides it by its rules; look at permission_decided",
                )
            return
        await self._deliver_answer(question, answer, must_raise=True)

    async def aclose(self) -> None:
        """Forget all questions and stop asking."""
        tasks = list(self._tasks.values())
        for question_id in list(self._open):
            self.withdraw(question_id)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _decide(self, question: AgentQuestion, *, is_flood: bool) -> None:
        try:
            if is_flood:
                answer = QuestionAnswer(is_allowed=False, reason="the agent has too many open questions")
            else:
                answer = await self._ask_gate(question)
            decision = "allow" if answer.is_allowed else "deny"
            fields = {"questionId": question.id, "decision": decision, "reason": answer.reason, "tool": question.tool}
            self._publish("permission_decided", fields)
            with suppress(AgentError):
                await self._deliver_answer(question, answer, must_raise=False)
        finally:
            self._tasks.pop(question.id, None)

    async def _ask_gate(self, question: AgentQuestion) -> QuestionAnswer:
        try:
            return await self._gate.decide(self._agent, question)
        except Exception as error:  # noqa: BLE001 - whatever fails, nothing is allowed
            return QuestionAnswer(is_allowed=False, reason=f"the gate failed: {type(error).__name__}: {error}")

    async def _deliver_answer(self, question: AgentQuestion, answer: QuestionAnswer, *, must_raise: bool) -> None:
        withdrawn = self._withdrawn.get(question.id) or asyncio.Event()
        self._delivering.add(question.id)
        try:
            await self._connection.answer(question, answer)
            async with asyncio.timeout(ACKNOWLEDGE_S):
                await self._wait_for_progress(withdrawn)
        except (AgentError, TimeoutError) as error:
            reason = error.message if isinstance(error, AgentError) else f"the agent waits {ACKNOWLEDGE_S:.0f} s later"
            self._publish("approval_undelivered", {**question_fields(question), "reason": reason})
            if must_raise and isinstance(error, AgentError):
                raise
        else:
            self.withdraw(question.id)
        finally:
            self._delivering.discard(question.id)

    async def _wait_for_progress(self, withdrawn: asyncio.Event) -> None:
        """Wait until the agent does not ask any more: it says so, or it is not blocked."""
        gone = asyncio.ensure_future(withdrawn.wait())
        moved = asyncio.ensure_future(self._agent.wait_until(lambda state: state.status != "blocked"))
        try:
            await asyncio.wait({gone, moved}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            moved.cancel()
