"""The progress of a prompt of the driver "code", so that a process can continue it after another one was killed."""

from dataclasses import dataclass, field, replace

from lsp_harness.events.code_events import EditApplied, EditProposed
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.plan_events import (
    FollowUpRead,
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


@dataclass(frozen=True, slots=True)
class LastWork:
    """The last prompt of the driver "code" that was about code, for follow-ups such as “and who calls it?”.

    Attributes:
        task: The prompt, or the one that a follow-up meant.
        intent: What it asked for.
        path: The file that it was about. It may be empty.
        symbol: The qualified name of the declaration, or an empty text.
        first: The first line, from 1, or 0.
        last: The last line, or 0.
        others: The places that might have been meant instead, as `path:first-last`.
        is_applied: Whether its edit was applied and not undone.
    """

    task: str = ""
    intent: str = ""
    path: str = ""
    symbol: str = ""
    first: int = 0
    last: int = 0
    others: tuple[str, ...] = ()
    is_applied: bool = False


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
        meant: The prompt that a follow-up means, or an empty text.
        last: The work on the prompt before.
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
    meant: str = ""
    last: LastWork = LastWork()
    _is_applied: bool = False
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
            self.last = self._remember()
            self.text, self.meant, self._is_applied = self._asked, "", False
            self.intent = None
            self.forget_place()
        self.turn, self.is_killed = started.number, False

    def _remember(self) -> LastWork:
        """Return the work on the prompt that has ended. One that was about no code keeps the work before."""
        intent, place = self.intent.intent if self.intent else "", self.place
        if intent == "undo":
            return replace(self.last, is_applied=False)
        if intent in ("", "other") or not (place or intent != "question"):
            return self.last
        work = LastWork(self.meant or self.text, intent, is_applied=self._is_applied)
        if place is None:
            return work
        return replace(
            work, path=place.path, symbol=place.symbol, first=place.first, last=place.last, others=place.others
        )

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
            case FollowUpRead(task=task):
                self.meant = task
            case EditApplied():
                self._is_applied = True
            case PermissionDecided(tool="edit", decision="allow") as decision:
                self.allowed = decision
            case TurnStopped(detail=detail):
                self.is_killed = detail == KILLED
            case _:
                pass


LEARNED_TYPES = frozenset(
    {"intent.chosen", "place.chosen", "plan.proposed", "plan.skipped", "plan.item.decided", "plan.item.completed"}
    | {"follow_up.read", "edit.proposed", "edit.applied", "permission.decided", "turn.stopped"}
)
"""Types of events that say how far a prompt has come."""
