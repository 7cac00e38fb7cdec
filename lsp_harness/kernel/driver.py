"""The interface of a driver: the part of a turn that differs between conversations, edits and foreign agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from lsp_harness.events.model_events import ToolCall
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState

StepEnd = Literal["", "no_tool_calls", "pipeline_done", "denied"]
"""Why a driver ends its turn after a step; empty if it goes on."""

PromptT = TypeVar("PromptT")


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The output of one step.

    Attributes:
        text: The answer in words, or the summary of an edit.
        tool_calls: The tools that the model calls. Without a call the turn ends.
        is_final: Whether the driver is done, whatever it made.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a tool call.

    Attributes:
        call_id: The id of the call.
        is_error: Whether it failed.
        ends_turn: Whether a person refused to go on.
        output: What the model reads of the result.
    """

    call_id: str
    is_error: bool = False
    ends_turn: bool = False
    output: str = ""


class Driver(Protocol[PromptT]):
    """The steps of a turn. `run_turn` calls them in this order, again and again.

    Attributes:
        name: The name in the log.
        is_exclusive: Whether turns of this driver wait for each other, as those of a conversation must.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_exclusive(self) -> bool: ...

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
