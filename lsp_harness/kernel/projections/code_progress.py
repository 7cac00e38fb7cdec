"""The progress of a prompt of the driver "code", so that a process can continue it after another one was killed."""

from dataclasses import dataclass, field

from lsp_harness.events.code_events import EditProposed
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.plan_events import (
    IntentChosen,
    ItemCompleted,
    ItemDecided,
    PlaceChosen,
    PlanProposed,
    PlanSkipped,
)
from lsp_harness.events.session_events import TurnStarted, TurnStopped
from lsp_harness.events.tool_events import PermissionDecided
from lsp_harness.wire.event import Event

KILLED = "process_exited"
"""The detail of the end of a turn whose process was killed."""


@dataclass(slots=True)
class CodeProgress:
    """The knowledge of the log about the last prompt of the driver "code".

    A prompt that repeats one whose process was killed begins with what was known of that one.

    Attributes:
        text: The prompt of the user.
        turn: The number of its turn.
        is_killed: Whether the process was killed before the turn had ended.
        intent: What the prompt asks for.
        place: The code that it is about.
        plan: The items of the proposed plan.
        skipped: Why there is no plan.
        decisions: The number of an item → the decision about it.
        items: The number of an item → its edit.
        proposal: The last proposal.
        proposal_id: The id of its event.
        allowed: The decision that allows it.
    """

    text: str = ""
    turn: int = -1
    is_killed: bool = False
    intent: IntentChosen | None = None
    place: PlaceChosen | None = None
    plan: PlanProposed | None = None
    skipped: PlanSkipped | None = None
    decisions: dict[int, ItemDecided] = field(default_factory=dict[int, ItemDecided])
    items: dict[int, ItemCompleted] = field(default_factory=dict[int, ItemCompleted])
    proposal: EditProposed | None = None
    proposal_id: str = ""
    allowed: PermissionDecided | None = None
    _asked: str = ""

    @property
    def unfinished(self) -> str:
        """The prompt whose process was killed, or an empty text."""
        return self.text if self.is_killed else ""

    def forget_place(self) -> None:
        """Drop the place and all that follows from it, because the text has changed since."""
        self.place = self.plan = self.skipped = None
        self.forget_items()

    def forget_items(self) -> None:
        """Drop the decisions about the plan and its edits."""
        self.decisions, self.items = {}, {}
        self.proposal, self.proposal_id, self.allowed = None, "", None

    def apply(self, event: Event) -> None:
        """Add one event of the session to the progress."""
        if event.type == "invocation.received":
            self._asked = str(event.data.get("text", ""))
        elif event.type == "turn.started":
            self._begin(event)
        elif event.type in LEARNED_TYPES and event.turn == self.turn:
            self._learn(event)

    def _begin(self, event: Event) -> None:
        started = decode_event(event.type, event.data)
        if not isinstance(started, TurnStarted) or started.driver != "code":
            return
        if not (self.is_killed and self.text == self._asked):
            self.text = self._asked
            self.intent = None
            self.forget_place()
        self.turn, self.is_killed = started.number, False

    def _learn(self, event: Event) -> None:
        match decode_event(event.type, event.data):
            case IntentChosen() as intent:
                self.intent = intent
            case PlaceChosen() as place:
                self.forget_place()
                self.place = place
            case PlanProposed() as plan:
                self.forget_items()
                self.plan = plan
            case PlanSkipped() as skipped:
                self.skipped = skipped
            case ItemDecided() as decision:
                self.decisions[decision.item] = decision
            case ItemCompleted() as item:
                self.items[item.item] = item
            case EditProposed() as proposal:
                self.proposal, self.proposal_id, self.allowed = proposal, event.id, None
            case PermissionDecided(tool="edit", decision="allow") as decision:
                self.allowed = decision
            case TurnStopped(detail=detail):
                self.is_killed = detail == KILLED
            case _:
                pass


LEARNED_TYPES = frozenset(
    {"intent.chosen", "place.chosen", "plan.proposed", "plan.skipped", "plan.item.decided", "plan.item.completed"}
    | {"edit.proposed", "permission.decided", "turn.stopped"}
)
"""Types of events that say how far a prompt has come."""
