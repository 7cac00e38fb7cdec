"""The events of a prompt that the driver "code" works on: its intent, its place, its plan and the finished items.

They have all that a later process needs to go on where a killed one has stopped (see `projections.code_progress`).
"""

from dataclasses import dataclass

from lsp_harness.events.event_type import SessionEvent, event_type


@event_type("intent.chosen", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class IntentChosen(SessionEvent):
    """The event that a prompt was understood.

    Attributes:
        intent: "edit", "explain", "fix", "generate", "other", "question" if no model answers it, or "undo".
        chooser: "model", or "facts" if something in the prompt left no choice.
        reason: The fact, in words.
    """

    intent: str
    chooser: str
    reason: str = ""


@event_type("place.chosen", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class PlaceChosen(SessionEvent):
    """The event that the code was found that a prompt is about.

    Attributes:
        path: The path of the file in the folder.
        symbol: The qualified name of the declaration, or an empty text.
        kind: The kind of the declaration.
        first: The first line, from 1.
        last: The last line, from 1.
        chooser: Who chose it among the found places: "index" or "model".
        hash: The hash of the text in which it was found.
        others: The next two places that may be meant instead, as `path:first-last`.
    """

    path: str
    symbol: str
    kind: str
    first: int
    last: int
    chooser: str
    hash: str
    others: tuple[str, ...] = ()


@event_type("follow_up.read", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class FollowUpRead(SessionEvent):
    """The event that a prompt goes on with what the session did last.

    Attributes:
        kind: "undo", "undo_all", "correction", "retry", "same" or "go_on" (see `follow_ups.FollowUp`), or "part" of the
            last answer.
        task: The prompt that it means, which says all by itself. Empty for an undo.
    """

    kind: str
    task: str


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One edit of a plan, which changes one symbol.

    Attributes:
        path: The path of the file in the folder.
        symbol: The qualified name of the declaration, or an empty text for code outside of declarations.
        line: The line of its name or of its first use, from 1.
        role: "definition", "override", "caller" or "test".
        reason: Why it may have to change, in words.
        depends_on: The numbers of the items that come before it.
    """

    path: str
    symbol: str
    line: int
    role: str
    reason: str
    depends_on: tuple[int, ...] = ()


@event_type("plan.proposed", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class PlanProposed(SessionEvent):
    """The event that the index proposed edits of single symbols, each after those that it depends on."""

    items: tuple[PlannedItem, ...]


@event_type("plan.item.decided", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class ItemDecided(SessionEvent):
    """The event that an item of the plan was accepted or dropped.

    Attributes:
        item: The number of the item in the proposed plan, from 0.
        is_accepted: Whether it is edited.
        by: "model", "facts" if the words of the prompt left no choice, "index", or "failure" of the model.
        is_swapped: Whether it is edited after the next item of the plan instead of before it.
    """

    item: int
    is_accepted: bool
    by: str
    is_swapped: bool = False


@event_type("plan.skipped", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class PlanSkipped(SessionEvent):
    """The event that an edit needs no plan. `reason` says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class LoggedEdit:
    """A replacement of the bytes from `start` up to `end` of a text."""

    start: int
    end: int
    new: str


@event_type("plan.item.completed", frame=None)  # the states say the same in words
@dataclass(frozen=True, slots=True)
class ItemCompleted(SessionEvent):
    """The event that the edit of one symbol is written, but not yet proposed.

    Attributes:
        item: The number of the item, from 0.
        path: The path of the file in the folder.
        hash: The hash of the text that the edits change, with the edits of earlier items.
        edits: The edits. There are none if the symbol stays as it is.
        reason: How the edit was made, or why there is none.
    """

    item: int
    path: str
    hash: str
    edits: tuple[LoggedEdit, ...]
    reason: str
