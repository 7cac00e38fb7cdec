"""The permission gate of foreign agents: it decides whether one is started, and what it may do."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lsp_harness.agents.foreign_tools import make_question_action, make_spawn_action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate, Record
from lsp_harness.permission.person import Answer, PermissionQuestion, RequestingUser
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import SpawnDenied
from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer
from lsp_harness.runtime.question_desk import AskingAgent

PERSON_WAIT_S = 300.0
"""Time for a person to answer. After it nobody is there, and the agent is denied."""
UNTRUSTED = "this workspace is not trusted, so no agent runs in it"


@dataclass(frozen=True, slots=True)
class GateParts:
    """The parts from which the gate of each agent is made.

    Attributes:
        read_policy: Returns the present policy for an agent in a folder.
        create_hooks: Creates the hooks.
        record: Receives the events of the checks.
        is_trusted: Returns whether the user trusts the workspace.
        wait_s: The time for a person to answer.
    """

    read_policy: Callable[[Path], GatePolicy]
    create_hooks: Callable[[], Hooks]
    record: Record
    is_trusted: Callable[[], bool]
    wait_s: float = PERSON_WAIT_S


@dataclass(eq=False, slots=True)
class _Desk:
    """The questions of one agent to a person."""

    wait_s: float
    has_person: Callable[[], bool]
    waiting: dict[str, asyncio.Future[QuestionAnswer]] = field(
        default_factory=dict[str, "asyncio.Future[QuestionAnswer]"]
    )

    async def ask(self, question: PermissionQuestion) -> Answer | None:
        """Return the answer of the person, or None if nobody is there."""
        if not self.has_person():
            return None
        future: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
        self.waiting[question.action.call_id] = future
        try:
            async with asyncio.timeout(self.wait_s):
                answer = await future
        except TimeoutError:
            return None
        finally:
            self.waiting.pop(question.action.call_id, None)
        return Answer("once" if answer.is_allowed else "reject", answer.reason)


class AgentGate:
    """The permission gate of foreign agents. Each agent has a gate of its own, because its questions may wait.

    Attributes:
        has_person: Whether a surface shows the questions to a person. Otherwise what must be asked is denied.

    Args:
        parts: The parts from which the gates are made.
    """

    def __init__(self, parts: GateParts) -> None:
        self._parts = parts
        self._gates: dict[str, PermissionGate] = {}
        self._desks: dict[str, _Desk] = {}
        self.has_person = False

    def require_trust(self) -> None:
        """Raise SpawnDenied if the user does not trust the workspace."""
        if not self._parts.is_trusted():
            raise SpawnDenied(UNTRUSTED, "trust the workspace in the editor, and try again")

    async def require_spawn(self, order: LaunchOrder) -> None:
        """Decide whether an agent may be started. The request of the user is the answer of the person.

        Raises:
            SpawnDenied: The workspace is not trusted, or the settings do not allow it.
        """
        self.require_trust()
        policy = self._parts.read_policy(order.spec.workdir)
        person = RequestingUser("the user asked for this agent")
        gate = PermissionGate(policy, self._parts.record, self._parts.create_hooks(), person=person)
        decision = await gate.check(make_spawn_action(order.spec))
        if not decision.is_allowed:
            raise SpawnDenied(f"the agent is not started: {decision.reason}", "change the rules in your settings")

    async def decide(self, agent: AskingAgent, question: AgentQuestion) -> QuestionAnswer:
        """Return the decision about what an agent asks for. Whatever fails denies."""
        if not self._parts.is_trusted():
            return QuestionAnswer(is_allowed=False, reason=UNTRUSTED)
        gate = self._find_gate(agent)
        gate.policy = self._parts.read_policy(agent.spec.workdir)
        decision = await gate.check(make_question_action(agent.spec, question, agent.id))
        if decision.is_allowed and decision.updated_input is not None:
            # no agent takes another input with the answer
            return QuestionAnswer(is_allowed=False, reason="a hook changed the input, which the agent cannot take")
        return QuestionAnswer(decision.is_allowed, decision.reason)

    def answer(self, agent_id: str, question_id: str, answer: QuestionAnswer) -> bool:
        """Give the answer of a person to a question that the gate asks. Return whether it asks this one."""
        desk = self._desks.get(agent_id)
        future = desk.waiting.get(question_id) if desk else None
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    def forget(self, agent_id: str) -> None:
        """Forget the gate of an agent that has ended."""
        self._gates.pop(agent_id, None)
        self._desks.pop(agent_id, None)

    def _find_gate(self, agent: AskingAgent) -> PermissionGate:
        if agent.id not in self._gates:
            desk = self._desks[agent.id] = _Desk(self._parts.wait_s, lambda: self.has_person)
            policy, record = self._parts.read_policy(agent.spec.workdir), self._parts.record
            self._gates[agent.id] = PermissionGate(policy, record, self._parts.create_hooks(), person=desk)
        return self._gates[agent.id]
