"""The authority that decides what agents may do: whether one is started, and the answers to its questions."""

from collections.abc import Callable
from typing import Protocol

from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import AgentState
from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer


class AskingAgent(Protocol):
    """An agent that asks questions."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def spec(self) -> AgentSpec:
        """Its description."""
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
