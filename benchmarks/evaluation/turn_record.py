"""Collects the events of the turns of one attempt: the time in each state, and all candidates with their texts."""

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from lsp_harness.events.code_events import CandidateGenerated, CandidateRejected, StateEntered
from lsp_harness.events.event_codec import decode_event
from lsp_harness.harness.events import HarnessEvent, TurnReported
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import decode, encode
from lsp_harness.wire.event import Event

LAST_STATES = frozenset({"COMPLETE", "FAILED", "CANCELLED"})


@dataclass(frozen=True, slots=True)
class RecordedCandidate:
    """A candidate of a turn, whether it passed the checks or not.

    Attributes:
        number: Its number in the turn.
        kind: How it was made.
        text: The whole text of the document with it, or an empty text if it was not usable.
        reason: Why it was rejected; empty if it was not.
    """

    number: int
    kind: str
    text: str
    reason: str = ""


class TurnRecord:
    """The events of one attempt. Subscribe `listen` to the events of the harness."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def listen(self, event: HarnessEvent) -> None:
        """Record an event of a turn."""
        if isinstance(event, TurnReported) and event.event.seq is not None:
            self._events.append(event.event)

    @property
    def state(self) -> str:
        """The name of the present state, or an empty text before the first one."""
        names = [str(event.data.get("state", "")) for event in self._events if event.type == "state.entered"]
        return names[-1] if names else ""

    def state_seconds(self) -> dict[str, float]:
        """Return name of a state → the seconds that all turns spent in it."""
        seconds: dict[str, float] = {}
        entered = [(event.ts, decode_event(event.type, event.data), event.turn) for event in self._events]
        states = [(ts, event.state, turn) for ts, event, turn in entered if isinstance(event, StateEntered)]
        for (ts, state, turn), (next_ts, _, next_turn) in pairwise(states):
            if turn == next_turn and state not in LAST_STATES:
                elapsed = (datetime.fromisoformat(next_ts) - datetime.fromisoformat(ts)).total_seconds()
                seconds[state] = round(seconds.get(state, 0.0) + elapsed, 3)
        return seconds

    def candidates(self, source: str) -> list[RecordedCandidate]:
        """Return the candidates of all turns.

        Args:
            source: The text of the document that they edit.
        """
        decoded = [(event.turn, decode_event(event.type, event.data)) for event in self._events]
        reasons = {
            (turn, event.candidate): event.reason for turn, event in decoded if isinstance(event, CandidateRejected)
        }
        return [
            RecordedCandidate(
                event.candidate, event.kind, _apply(source, event), reasons.get((turn, event.candidate), "")
            )
            for turn, event in decoded
            if isinstance(event, CandidateGenerated)
        ]


def _apply(source: str, event: CandidateGenerated) -> str:
    edits = [Edit(edit.start, edit.end, encode(edit.text)) for edit in event.edits]
    return decode(apply(encode(source), edits)) if edits else ""
