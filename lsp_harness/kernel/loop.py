"""The loop of a turn. Everything that differs between turns is in their driver."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from lsp_harness.events.session_events import StepStarted
from lsp_harness.kernel.driver import CallResult, Driver, ModelOutput
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState

PromptT = TypeVar("PromptT")


class SteeredSession(Protocol):
    """A session, as far as the loop needs it."""

    @property
    def state(self) -> SessionState: ...
    @property
    def has_steering(self) -> bool: ...
    def take_steering(self, turn: Turn) -> None: ...


async def run_turn(session: SteeredSession, driver: Driver[PromptT], turn: Turn, budget: Budget) -> Ending:
    """Run the steps of a turn until it ends, or until a limit of its budget is reached.

    Raises:
        HarnessError: The model or the driver failed.
    """
    number = 0
    while True:
        session.take_steering(turn)
        state = session.state
        if await driver.should_compact(state):
            await driver.compact(state, turn)
            continue
        if ending := budget.find_exceeded(number, state):
            return ending
        turn.append(StepStarted(f"{turn.number}.{number}", number))
        prompt = await driver.build_prompt(state, turn)
        output = await driver.call_model(prompt, turn)
        results = await driver.execute_tool_calls(output, turn)
        if ending := find_ending(session, output, results):
            return ending
        number += 1


def find_ending(session: SteeredSession, output: ModelOutput, results: Sequence[CallResult]) -> Ending | None:
    """Return how the turn ends after a step, or None if it goes on."""
    if any(result.ends_turn for result in results):
        return Ending("denied", "denied", output.text)
    if output.is_final:
        return Ending("completed", "pipeline_done", output.text)
    if not output.tool_calls and not session.has_steering:
        return Ending("completed", "no_tool_calls", output.text)
    return None
