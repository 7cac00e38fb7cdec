"""Undoing the edits of a turn of a session, and taking such an undo back.

Without more words, an undo is about the files that tools of the turn wrote and nobody changed since. A file that
changed while a command ran may be the work of the user, so it is taken back only if that is wanted.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.errors import UsageError
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints, Restoration, RestorationGuard
from lsp_harness.kernel.checkpoints.undo_plan import UndoPlan, plan_redo, plan_undo
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.permission.person import RequestingUser
from lsp_harness.sessions.edit_copies import FOLDER_LIMIT_S
from lsp_harness.wire.event import Event

TEXTS_FOLDER = "undo"
"""The folder of a session with the texts of files that an undo kept."""
REQUESTING_USER = RequestingUser("the user asked for this undo")


@dataclass(frozen=True, slots=True)
class UndoWish:
    """The wish of a user to undo a turn, or to take such an undo back.

    Attributes:
        turn: The number of the turn. None means the last one that changed files and is not undone.
        paths: Only these files, relative to the folder. None means all.
        with_commands: Also files that changed while commands and subagents of the turn ran.
        force: Also files that somebody changed after the turn.
        is_redo: Whether the last undo is taken back instead.
        is_preview: Whether nothing is changed, and only the result is wanted.
    """

    turn: int | None = None
    paths: tuple[str, ...] | None = None
    with_commands: bool = False
    force: bool = False
    is_redo: bool = False
    is_preview: bool = False


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The files that an undo restored, or would restore.

    Attributes:
        turn: The number of the turn.
        paths: The restored files, relative to the folder of the session.
        skipped: Path → why the file is not restored.
        removed: Those of the restored files that were removed.
        commands: Those of the others that changed while a command or a subagent ran.
        texts: Path → `before` and `after` → the file with this text of a file that is not restored.
        is_preview: Whether nothing was changed.
    """

    turn: int
    paths: tuple[str, ...]
    skipped: Mapping[str, str]
    removed: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    is_preview: bool = False


Confirm = Callable[[UndoResult], Awaitable[UndoWish | None]]
"""Shows to a person what an undo would do, and returns what is wanted then, or None for nothing."""


async def undo_saved(store: SessionStore, id: str, wish: UndoWish, confirm: Confirm | None = None) -> UndoResult:
    """Undo a turn of a saved session that no process has open, and record it in the session.

    Args:
        store: The folder of all sessions.
        id: The whole id of the session.
        wish: What is to be undone.
        confirm: Asks a person. What happens then is what was shown, or less.

    Raises:
        UsageError: There is nothing to undo, it is not allowed, or another process has the session open.
        StaleDocument: Somebody changed all files of the turn.
    """
    history = list(read_history(store.folder, id))
    root = next((str(event.data.get("root", "")) for event in history if event.type == "session.started"), "")
    if not root or not Path(root).is_dir():
        raise UsageError(f"the folder of the session {id} does not exist: {root or 'it names none'}")
    state = paths.state_folder() / "checkpoints"
    texts = store.folder / id / TEXTS_FOLDER
    reading = Checkpoints(Path(root), state, _drop, create_guard(Path(root), _drop), limit_s=FOLDER_LIMIT_S)
    # a wrong turn changes nothing, because this process becomes the writer of the session only after the preview
    if wish.is_preview or confirm:
        seen = await run_undo(reading, history, replace(wish, is_preview=True), texts)
        chosen = await confirm(seen) if confirm and not wish.is_preview else None
        if chosen is None:
            return seen
        wish = chosen
    else:
        _plan(history, wish)
    log = store.open(id).log
    try:
        guard = create_guard(Path(root), log.append)
        checkpoints = Checkpoints(Path(root), state, log.append, guard, limit_s=FOLDER_LIMIT_S)
        return await run_undo(checkpoints, history, wish, texts)
    finally:
        log.close()


async def run_undo(checkpoints: Checkpoints, events: Iterable[Event], wish: UndoWish, texts: Path) -> UndoResult:
    """Undo a turn, or say what would happen.

    Args:
        checkpoints: The checkpoints of the folder.
        events: The events of the session.
        wish: What is to be undone.
        texts: The folder for the texts of files that are kept.

    Raises:
        UsageError: There is nothing to undo, or it is not allowed.
        StaleDocument: Somebody changed all files of the turn.
    """
    plan = _plan(events, wish)
    ids, options = plan.checkpoints, {"force": wish.force, "with_commands": wish.with_commands}
    if wish.is_preview:
        found = await checkpoints.preview(ids, wish.paths, **options)
    else:
        found = await checkpoints.restore(
            ids, wish.paths, turn=plan.turn, is_partial=True, is_redo=wish.is_redo, **options
        )
    result = _make_result(plan, found)
    kept: dict[str, dict[str, str]] = {}
    if found.skipped and not wish.is_redo:
        written = await checkpoints.texts(ids, list(found.skipped), texts / f"turn-{plan.turn}")
        kept = {path: {name: str(file) for name, file in files.items()} for path, files in written.items()}
    return replace(result, texts=kept, is_preview=wish.is_preview)


async def restore_turn(checkpoints: Checkpoints, plan: UndoPlan, *, force: bool) -> UndoResult:
    """Restore all files of a plan, and record it. Raise StaleDocument if somebody changed one and not `force`."""
    return _make_result(plan, await checkpoints.restore(plan.checkpoints, turn=plan.turn, force=force))


def create_guard(root: Path, record: Callable[[SessionEvent], object]) -> RestorationGuard:
    """Return what decides about an undo that a person asks for outside of a session: the settings of the folder."""
    # the gate and its grammars take a fifth of the time of a command that only lists sessions
    from lsp_harness.permission.gate_policy import make_hooks, make_policy
    from lsp_harness.permission.hooks import Hooks
    from lsp_harness.permission.permission_gate import PermissionGate

    config = load(root)[0]
    policy, _ = make_policy(config, [root])
    hooks, _ = make_hooks(config)
    gate = PermissionGate(policy, record, Hooks(hooks, record, root), person=REQUESTING_USER)
    return RestorationGuard(gate.check, policy.protected.edit_problem)


def describe_undo(result: UndoResult) -> list[str]:
    """Return lines for a person: what an undo did, or what it would do."""
    restored, removed = ("would restore", "would remove") if result.is_preview else ("restored", "removed")
    lines = [f"{removed if path in result.removed else restored} {path}" for path in result.paths]
    for path, reason in result.skipped.items():
        lines.append(f"{path} {'would be kept' if result.is_preview else 'is kept'}: {reason}")
        lines += [f"    {name} the turn: {file}" for name, file in result.texts.get(path, {}).items()]
    if not result.paths:
        lines.append(f"no file {'would be' if result.is_preview else 'was'} restored")
    return lines


def undo_fields(result: UndoResult) -> dict[str, Any]:
    """Return a result for programs. What is empty or false is left out, but for the first members."""
    fields: dict[str, Any] = {"turn": result.turn, "paths": list(result.paths), "skipped": dict(result.skipped)}
    more: dict[str, Any] = {
        "removed": list(result.removed),
        "commands": list(result.commands),
        "texts": {path: dict(files) for path, files in result.texts.items()},
        "is_preview": result.is_preview,
    }
    return fields | {name: value for name, value in more.items() if value}


def _plan(events: Iterable[Event], wish: UndoWish) -> UndoPlan:
    if wish.is_redo:
        return plan_redo(events)
    return plan_undo(events, wish.turn, takes_rest=wish.force or wish.with_commands)


def _make_result(plan: UndoPlan, found: Restoration) -> UndoResult:
    return UndoResult(plan.turn, tuple(found.event.paths), dict(found.skipped), found.removed, found.unsure)


def _drop(event: SessionEvent) -> None:
    """Record nothing: a preview changes nothing."""
