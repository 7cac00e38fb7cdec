"""The interface of a driver: the part of a turn that differs between conversations, edits and foreign agents."""

from typing import Protocol

from lsp_harness.events.session_events import StepStarted
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState


class SteeredSession(Protocol):
    """A session, as far as a driver needs it."""

    @property
    def state(self) -> SessionState:
        """The state after all events until now."""
        ...

    @property
    def has_steering(self) -> bool:
        """Return whether a text of the user waits for the next step."""
        ...

    def take_steering(self, turn: Turn) -> None:
        """Append the texts that the user has sent to the running turn."""
        ...


class Driver(Protocol):
    """The work of a turn.

    Attributes:
        name: The name in the log.
        is_exclusive: Whether turns of this driver wait for each other, as those of a conversation must.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_exclusive(self) -> bool: ...

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        """Do the work, and return how the turn ends.

        Args:
            turn: Gets the events of the work.
            session: The session of the turn.
            budget: The limits of the turn.

        Raises:
            HarnessError: The work failed.
        """
        ...


def begin_step(number: int, turn: Turn, session: SteeredSession, budget: Budget) -> Ending | None:
    """Begin a step of a turn. Return how the turn ends if a limit of its budget is reached, else None."""
    if ending := budget.find_exceeded(number, session.state):
        return ending
    turn.append(StepStarted(f"{turn.number}.{number}", number))
    return None
