"""The checkpoints that undo one turn, from the events of the session."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lsp_harness.errors import UsageError
from lsp_harness.events.code_events import EditReverted
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.wire.event import Event

CUT_OFF = -1
"""Stands for the turn of an undo whose process was killed: the log does not say which one it was."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The way to undo a turn.

    Attributes:
        turn: The number of the turn.
        checkpoints: The ids of its checkpoints, in the order of their creation.
        later_turns: The later turns that made checkpoints of the same files and are not undone.
    """

    turn: int
    checkpoints: tuple[str, ...]
    later_turns: tuple[int, ...] = ()


def plan_undo(events: Iterable[Event], turn: int | None = None, *, takes_rest: bool = False) -> UndoPlan:
    """Return how to undo a turn.

    Args:
        events: The events of the session.
        turn: The number of the turn. None means the last turn with changes that is not undone.
        takes_rest: Whether a turn counts as not undone if an undo kept some of its files.

    Raises:
        UsageError: There is nothing to undo.
    """
    history = _read(events)
    made, undone, kept = history.made, history.undone, history.kept
    open_turns = [number for number in made if number not in undone or (takes_rest and number in kept)]
    if turn is None:
        if not open_turns:
            raise UsageError("there is nothing to undo: no turn of this session changed a file")
        turn = max(open_turns)
    if turn in undone and turn not in kept:
        raise UsageError(f"turn {turn} was undone already")
    if turn not in made:
        raise UsageError(f"turn {turn} changed no file, so there is nothing to undo")
    later = tuple(n for n in sorted(open_turns) if n > turn and _are_overlapping(made[turn], made[n]))
    return UndoPlan(turn, tuple(created.checkpoint_id for created in made[turn]), later)


def plan_redo(events: Iterable[Event]) -> UndoPlan:
    """Return how to take the last undo back: its checkpoint has the texts before it. An undo that was cut off counts.

    Raises:
        UsageError: There is no undo that could be taken back.
    """
    undos = _read(events).undos
    if not undos:
        raise UsageError("this session has no undo that could be taken back")
    turn, backup = undos[-1]
    return UndoPlan(turn, (backup,))


@dataclass(slots=True)
class _History:
    """The turns that changed files, and what became of them.

    Attributes:
        made: The number of a turn → its checkpoints.
        undone: The turns that were undone, perhaps without some files.
        kept: Those of them of which files were kept.
        undos: The turn and the backup of each undo that was not taken back, the last one last. An undo that was cut off
            has the turn -1.
    """

    made: dict[int, list[CheckpointCreated]] = field(default_factory=dict[int, list[CheckpointCreated]])
    undone: set[int] = field(default_factory=set[int])
    kept: set[int] = field(default_factory=set[int])
    undos: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def _read(events: Iterable[Event]) -> _History:
    history, begun = _History(), ""
    for event in events:
        if event.type not in ("checkpoint.created", "edit.reverted"):
            continue
        match decode_event(event.type, event.data):
            case CheckpointCreated() as created if event.turn is not None:
                history.made.setdefault(event.turn, []).append(created)
            case CheckpointCreated(checkpoint_id):
                if begun:
                    history.undos.append((CUT_OFF, begun))
                begun = checkpoint_id
            case EditReverted() as reverted:
                begun = "" if begun == reverted.backup else begun
                _add_undo(history, reverted)
            case _:
                pass
    if begun:
        history.undos.append((CUT_OFF, begun))
    return history


def _add_undo(history: _History, reverted: EditReverted) -> None:
    number = reverted.reverted_turn
    if reverted.is_redo:
        history.undos = [undo for undo in history.undos if undo[1] != reverted.checkpoint]
    elif reverted.backup and reverted.paths:
        history.undos.append((CUT_OFF if number is None else number, reverted.backup))
    if number is None or number == CUT_OFF:
        return
    changed = history.undone.discard if reverted.is_redo else history.undone.add
    changed(number)
    (history.kept.add if reverted.kept and not reverted.is_redo else history.kept.discard)(number)


def _are_overlapping(first: Iterable[CheckpointCreated], second: Iterable[CheckpointCreated]) -> bool:
    first_paths, second_paths = _list_paths(first), _list_paths(second)
    # a checkpoint without paths is about the whole folder
    return first_paths is None or second_paths is None or not first_paths.isdisjoint(second_paths)


def _list_paths(checkpoints: Iterable[CheckpointCreated]) -> set[str] | None:
    paths: set[str] = set()
    for created in checkpoints:
        if not created.paths:
            return None
        paths.update(created.paths)
    return paths
