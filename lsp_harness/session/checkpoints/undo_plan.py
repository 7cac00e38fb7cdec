"""The checkpoints that undo one turn, from the events of the session."""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_harness.errors import UsageError
from lsp_harness.session.events.code_events import EditReverted
from lsp_harness.session.events.event_codec import decode_event
from lsp_harness.session.events.tool_events import CheckpointCreated
from lsp_harness.wire.event import Event


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


def plan_undo(events: Iterable[Event], turn: int | None = None) -> UndoPlan:
    """Return how to undo a turn.

    Args:
        events: The events of the session.
        turn: The number of the turn. None means the last turn with changes that is not undone.

    Raises:
        UsageError: There is nothing to undo.
    """
    made: dict[int, list[CheckpointCreated]] = {}
    undone: set[int] = set()
    for event in events:
        if event.type not in ("checkpoint.created", "edit.reverted"):
            continue
        match decode_event(event.type, event.data):
            case CheckpointCreated() as created if event.turn is not None:
                made.setdefault(event.turn, []).append(created)
            case EditReverted(reverted_turn=int(number)):
                undone.add(number)
            case _:
                pass
    open_turns = [number for number in made if number not in undone]
    if turn is None:
        if not open_turns:
            raise UsageError("there is nothing to undo: no turn of this session changed a file")
        turn = max(open_turns)
    if turn in undone:
        raise UsageError(f"turn {turn} was undone already")
    if turn not in made:
        raise UsageError(f"turn {turn} changed no file, so there is nothing to undo")
    later = tuple(n for n in sorted(open_turns) if n > turn and _overlap(made[turn], made[n]))
    return UndoPlan(turn, tuple(created.checkpoint_id for created in made[turn]), later)


def _overlap(first: Iterable[CheckpointCreated], second: Iterable[CheckpointCreated]) -> bool:
    first_paths, second_paths = _paths(first), _paths(second)
    # a checkpoint without paths is about the whole folder
    return first_paths is None or second_paths is None or not first_paths.isdisjoint(second_paths)


def _paths(checkpoints: Iterable[CheckpointCreated]) -> set[str] | None:
    paths: set[str] = set()
    for created in checkpoints:
        if not created.paths:
            return None
        paths.update(created.paths)
    return paths
