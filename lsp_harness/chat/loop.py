"""The loop of a conversation: the model is asked, and its tools are run, until the turn ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lsp_harness.events.model_events import ToolCall
from lsp_harness.kernel.driver import SteeredSession, begin_step
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState

PromptT = TypeVar("PromptT")


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """The output of one step.

    Attributes:
        text: The answer in words, or the summary of an edit.
        tool_calls: The tools that the model calls. Without a call the turn ends.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


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


async def run_turn(steps: ConversationSteps[PromptT], turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
    """Run the steps of a turn until it ends, or until a limit of its budget is reached.

    Raises:
        HarnessError: The model or a step failed.
    """
    number = 0
    while True:
        session.take_steering(turn)
        state = session.state
        if await steps.should_compact(state):
            await steps.compact(state, turn)
            continue
        if ending := begin_step(number, turn, session, budget):
            return ending
        prompt = await steps.build_prompt(state, turn)
        output = await steps.call_model(prompt, turn)
        results = await steps.execute_tool_calls(output, turn)
        if ending := find_ending(session, output, results):
            return ending
        number += 1


def find_ending(session: SteeredSession, output: ModelOutput, results: Sequence[CallResult]) -> Ending | None:
    """Return how the turn ends after a step, or None if it goes on."""
    if any(result.ends_turn for result in results):
        return Ending("denied", "denied", output.text)
    if not output.tool_calls and not session.has_steering:
        return Ending("completed", "no_tool_calls", output.text)
    return None
