"""The steps of a conversation, and what a step gives: the output of the model, and the results of its tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lsp_harness.events.model_events import ToolCall
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState

PromptT = TypeVar("PromptT")


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The output of one step.

    Attributes:
        text: The answer in words.
        tool_calls: The tools that the model calls. Without a call the turn ends.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a tool call.

    Attributes:
        call_id: The id of the call.
        is_error: Whether the call failed.
        ends_turn: Whether a person refused to go on.
        output: What the model reads of the result.
    """

    call_id: str
    is_error: bool = False
    ends_turn: bool = False
    output: str = ""


class ConversationSteps(Protocol[PromptT]):
    """The steps of a conversation. `run_turn` calls them in this order, again and again."""

    async def should_compact(self, state: SessionState) -> bool:
        """Return whether the prompt would be too large."""
        ...

    async def compact(self, state: SessionState, turn: Turn) -> None:
        """Append events that make the next prompt smaller.

        Raises:
            NoAnswer: Nothing more can be left out.
        """
        ...

    async def build_prompt(self, state: SessionState, turn: Turn) -> PromptT:
        """Return the input of the model. The same state gives the same prompt."""
        ...

    async def call_model(self, prompt: PromptT, turn: Turn) -> ModelOutput:
        """Ask the model, and record the call.

        Raises:
            HarnessError: The model cannot answer.
        """
        ...

    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        """Run the tools that the model called, and record each result."""
        ...
