"""The loop of a conversation: the model is asked, and its tools are run, until the turn ends."""

from collections.abc import Sequence
from typing import TypeVar

from lsp_harness.chat.conversation_steps import CallResult, ConversationSteps, ModelOutput
from lsp_harness.kernel.driver import SteeredSession, begin_step
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn

PromptT = TypeVar("PromptT")


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
