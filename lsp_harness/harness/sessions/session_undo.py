"""Undoing the edits of a saved session that no process has open."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.errors import UsageError
from lsp_harness.session.checkpoints.checkpoints import Checkpoints
from lsp_harness.session.checkpoints.undo_plan import UndoPlan, plan_undo
from lsp_harness.session.log.log_reader import read_history
from lsp_harness.session.log.session_store import SessionStore


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The files that an undo restored.

    Attributes:
        turn: The number of the turn.
        paths: The restored files, relative to the folder of the session.
        skipped: Path → why the file is not restored.
    """

    turn: int
    paths: tuple[str, ...]
    skipped: Mapping[str, str]


async def undo_saved(store: SessionStore, id: str, turn: int | None = None, *, force: bool = False) -> UndoResult:
    """Give the files of a turn the texts that they had before it, and record it in the session.

    Args:
        store: The folder of all sessions.
        id: The whole id of the session.
        turn: The number of the turn. None means the last one that changed files.
        force: Restore files that somebody changed after the turn, too.

    Raises:
        UsageError: There is nothing to undo, or another process has the session open.
        StaleDocument: Somebody changed a file after the turn.
    """
    history = list(read_history(store.folder, id))
    root = next((str(event.data.get("root", "")) for event in history if event.type == "session.started"), "")
    if not root or not Path(root).is_dir():
        raise UsageError(f"the folder of the session {id} does not exist: {root or 'it names none'}")
    # the plan is checked before this process becomes the writer, so that a wrong turn changes nothing
    plan = plan_undo(history, turn)
    log = store.open(id).log
    try:
        checkpoints = Checkpoints(Path(root), paths.state_folder() / "checkpoints", log.append)
        return await restore_turn(checkpoints, plan, force=force)
    finally:
        log.close()


async def restore_turn(checkpoints: Checkpoints, plan: UndoPlan, *, force: bool) -> UndoResult:
    """Restore the files of a plan, and record it. Raise StaleDocument if somebody changed one and not `force`."""
    restoration = await checkpoints.restore(plan.checkpoints, turn=plan.turn, force=force)
    return UndoResult(plan.turn, tuple(restoration.event.paths), dict(restoration.skipped))
