"""The states of a turn and the table of what may follow each of them."""

from time import perf_counter
from typing import Literal

from lsp_harness.events.code_events import StateEntered, StateExited
from lsp_harness.kernel.log.turn import Turn

State = Literal["UNDERSTAND", "LOCATE", "PLAN", "GENERATE", "VERIFY", "ANSWER", "COMPLETE", "FAILED", "CANCELLED"]

NEXT_STATES: dict[State, frozenset[State]] = {
    # an edit of a linter needs no candidates, and a prompt that asks for no work is only answered
    "UNDERSTAND": frozenset({"LOCATE", "VERIFY", "ANSWER", "FAILED", "CANCELLED"}),
    "LOCATE": frozenset({"PLAN", "GENERATE", "VERIFY", "ANSWER", "FAILED", "CANCELLED"}),
    "PLAN": frozenset({"GENERATE", "FAILED", "CANCELLED"}),
    # an item of a plan without a usable prompt is left out, and the next one begins
    "GENERATE": frozenset({"GENERATE", "VERIFY", "FAILED", "CANCELLED"}),
    "VERIFY": frozenset({"GENERATE", "COMPLETE", "FAILED", "CANCELLED"}),
    # a text for the user, which changes nothing
    "ANSWER": frozenset({"COMPLETE", "FAILED", "CANCELLED"}),
    "COMPLETE": frozenset(),
    "FAILED": frozenset(),
    "CANCELLED": frozenset(),
}


class TurnStates:
    """The state of one turn, such as GENERATE or VERIFY, which only changes as `NEXT_STATES` allows.

    Each change is an event of the turn, and so is the end of each state with what was found there.

    Attributes:
        current: The present state, or None before the first one.
        outcome: What was found or decided in the present state, in words.
        last_candidate: The highest number of a candidate of the turn. The next task of the turn goes on from there.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._entered_s = 0.0
        self.current: State | None = None
        self.outcome = ""
        self.last_candidate = 0

    @property
    def has_ended(self) -> bool:
        """Return whether nothing may follow."""
        return self.current is not None and not NEXT_STATES[self.current]

    def enter(self, state: State, *, round: int | None = None, reason: str | None = None) -> None:
        """Enter a state that `NEXT_STATES` allows. A turn that has ended cannot be cancelled any more.

        Args:
            state: The next state.
            round: The number of the round of candidates, from 0.
            reason: Why the turn failed, or what it does in the state.
        """
        if self.current and state not in NEXT_STATES[self.current]:
            if state == "CANCELLED":
                return
            raise AssertionError(f"a turn cannot go from {self.current} to {state}")
        now_s = perf_counter()
        if self.current:
            self._turn.append(StateExited(self.current, to_whole_ms(now_s - self._entered_s), self.outcome))
        self.current, self.outcome, self._entered_s = state, "", now_s
        self._turn.append(StateEntered(state, round, reason))

    def reserve(self, count: int) -> int:
        """Reserve a number of candidates for a task beside which others run. Return the number before the first one."""
        first = self.last_candidate
        self.last_candidate += count
        return first

    def enter_verify(self, round: int) -> None:
        """Enter VERIFY when the first candidates of a round are complete."""
        if self.current == "GENERATE":
            self.enter("VERIFY", round=round)


def to_whole_ms(seconds: float) -> int:
    """Return a time in whole milliseconds."""
    return round(1000 * seconds)
