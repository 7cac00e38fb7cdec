"""The checkpoints that undo a turn."""

from typing import Any

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.events.code_events import EditReverted
from lsp_harness.events.event_codec import encode_event
from lsp_harness.events.tool_events import CheckpointCreated, TaskStarted
from lsp_harness.kernel.checkpoints.undo_plan import CUT_OFF, UndoPlan, plan_redo, plan_undo
from lsp_harness.wire.event import Event


def log(*contents: tuple[int | None, Any]) -> list[Event]:
    events: list[Event] = []
    for seq, (turn, content) in enumerate(contents):
        type, data = encode_event(content)
        events.append(Event(f"e{seq}", seq, "", "s", turn, None, None, type, data))
    return events


LOG = (
    (0, CheckpointCreated("c0", "git", ("a",))),
    (0, TaskStarted("t", "shell")),
    (1, CheckpointCreated("c1", "git", ("a", "b"))),
    (1, CheckpointCreated("c2", "git", ("c",))),
    (2, CheckpointCreated("c3", "copies", ("c",))),
    (None, CheckpointCreated("c4", "git", ("a",))),
)


def test_the_last_turn_is_undone_first():
    assert plan_undo(log(*LOG)) == UndoPlan(2, ("c3",))
    undone = (None, EditReverted("c3", ("c",), 2))
    assert plan_undo(log(*LOG, undone)) == UndoPlan(1, ("c1", "c2"))


def test_later_turns_with_the_same_files_are_named():
    assert plan_undo(log(*LOG), 0) == UndoPlan(0, ("c0",), (1,))
    assert plan_undo(log(*LOG), 1) == UndoPlan(1, ("c1", "c2"), (2,))
    whole = (3, CheckpointCreated("c5", "git"))
    assert plan_undo(log(*LOG, whole), 0).later_turns == (1, 3)
    assert plan_undo(log(*LOG, (None, EditReverted("c1", (), 1))), 0).later_turns == ()


@pytest.mark.parametrize(
    ("contents", "turn", "reason"),
    [
        ((), None, "there is nothing to undo"),
        (LOG, 7, "turn 7 changed no file"),
        ((*LOG, (None, EditReverted("c3", (), 2))), 2, "turn 2 was undone already"),
    ],
)
def test_an_undo_without_a_checkpoint_is_refused(contents: Any, turn: int | None, reason: str):
    with pytest.raises(UsageError, match=reason):
        plan_undo(log(*contents), turn)


def test_a_turn_that_was_undone_in_part_can_be_undone_again():
    kept = (None, EditReverted("c3", (), 2, "b1", ("c",)))
    assert plan_undo(log(*LOG, kept)) == UndoPlan(1, ("c1", "c2"))
    assert plan_undo(log(*LOG, kept), takes_rest=True) == UndoPlan(2, ("c3",))
    assert plan_undo(log(*LOG, kept), 2) == UndoPlan(2, ("c3",))


def test_the_last_undo_can_be_undone_and_repeated():
    backup = (None, CheckpointCreated("b1", "git", ("c",)))
    undone = (None, EditReverted("c3", ("c",), 2, "b1"))
    redone = (None, EditReverted("b1", ("c",), 2, "b2", (), is_redo=True))
    assert plan_redo(log(*LOG[:5], backup, undone)) == UndoPlan(2, ("b1",))
    again = log(*LOG[:5], backup, undone, (None, CheckpointCreated("b2", "git", ("c",))), redone)
    assert plan_undo(again) == UndoPlan(2, ("c3",))
    with pytest.raises(UsageError, match="no undo"):
        plan_redo(again)


def test_an_interrupted_undo_can_be_undone():
    assert plan_redo(log(*LOG)) == UndoPlan(CUT_OFF, ("c4",))
