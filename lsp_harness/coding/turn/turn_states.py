"""The states of a turn and the table of what may follow each of them."""

from typing import Literal

from lsp_harness.session.events.code_events import StateEntered
from lsp_harness.session.log.turn import Turn

State = Literal["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE", "FAILED", "CANCELLED"]

NEXT_STATES: dict[State, frozenset[State]] = {
    "UNDERSTAND": frozenset({"LOCATE", "VERIFY", "FAILED", "CANCELLED"}),
    "LOCATE": frozenset({"GENERATE", "FAILED", "CANCELLED"}),
    "GENERATE": frozenset({"VERIFY", "FAILED", "CANCELLED"}),
    "VERIFY": frozenset({"GENERATE", "COMPLETE", "FAILED", "CANCELLED"}),
    "COMPLETE": frozenset(),
    "FAILED": frozenset(),
    "CANCELLED": frozenset(),
}


class TurnStates:
    """The state of one turn, such as GENERATE or VERIFY, which only changes as `NEXT_STATES` allows.

    Each change is an event of the turn.

    Attributes:
        current: The present state, or None before the first one.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.current: State | None = None

    def enter(self, state: State, *, round: int | None = None, reason: str | None = None) -> None:
        """Enter a state that `NEXT_STATES` allows. A turn that has ended cannot be cancelled any more.

        Args:
            state: The next state.
            round: The number of the round of candidates, from 0.
            reason: Why the turn failed, or what was found.
        """
        if self.current and state not in NEXT_STATES[self.current]:
            if state == "CANCELLED":
                return
            raise AssertionError(f"{self.current} → {state} is not in the table")
        self.current = state
        self._turn.append(StateEntered(state, round, reason))

    def enter_verify(self, round: int) -> None:
        """Enter VERIFY when the first candidates of a round are complete."""
        if self.current == "GENERATE":
            self.enter("VERIFY", round=round)
