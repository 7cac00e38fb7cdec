"""Checkpoints of a workspace folder: the texts of files before a turn, so that the turn can be undone.

`capture` before the edits of a turn and `seal` after them tell what the turn changed. `restore` gives these files their
earlier content, unless somebody else has changed them since.
"""

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import Any, TypeVar

from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, StaleDocument, UsageError
from lsp_harness.events.code_events import EditReverted
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.kernel.checkpoints.checkpoint_file import (
    MAX_DAYS,
    Checkpoint,
    CheckpointFolder,
    StoreKind,
    file_clock_ns,
)
from lsp_harness.kernel.checkpoints.content_store import StoreUnavailable
from lsp_harness.kernel.checkpoints.file_state import (
    ABSENT,
    FileState,
    list_folder,
    may_be_saved,
    stat_state,
)
from lsp_harness.kernel.checkpoints.folder_contents import FolderContents
from lsp_harness.kernel.checkpoints.turn_changes import (
    UNKNOWN_END,
    UndoScope,
    UndoSteps,
    confirm_written,
    find_changes,
    merge_changes,
    plan_steps,
    take_steps,
)
from lsp_harness.permission.action import Action, Decision
from lsp_harness.text.ulid import is_ulid, make_ulid

T = TypeVar("T")
NEW_FOLDER = FileState(stat.S_IFDIR | 0o755)
"""The state of a folder that is created with a file in it."""
CAPTURE_LIMIT_S = 10.0
"""Maximum time for the contents of a whole folder. After it the remaining files are known, but not saved."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """The result of `Checkpoints.restore`, or what it would do.

    Attributes:
        event: The event with the restored files.
        removed: Those of the files that were removed.
        skipped: Path → why the file is not restored.
        unsure: Those of them that were changed while a command ran.
        backup: The id of a checkpoint with the texts before the restoration, or empty if nothing changed.
    """

    event: EditReverted
    removed: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict[str, str])
    unsure: tuple[str, ...] = ()
    backup: str = ""


@dataclass(frozen=True, slots=True)
class RestorationGuard:
    """The powers that decide whether a restoration may change files.

    Attributes:
        check: Asks the permission gate.
        find_problem: Returns why a file may never be changed, or an empty text.
    """

    check: Callable[[Action], Awaitable[Decision]]
    find_problem: Callable[[Path], str] = lambda path: ""

    async def require(self, root: Path, paths: Sequence[str]) -> None:
        """Raise UsageError if files of a folder may not be restored."""
        files = tuple(root / path for path in paths)
        decision = await self.check(Action("undo", "edit", {"paths": list(paths)}, files))
        if not decision.is_allowed:
            raise UsageError(f"the files were not restored, because this is not allowed: {decision.reason}")


Recorder = Callable[[CheckpointCreated | EditReverted], object]
"""Appends an event to the log of the session."""


class Checkpoints:
    """The checkpoints of one workspace folder. Contents are in a git directory of our own, or else in copies."""

    def __init__(
        self,
        root: Path,
        state_folder: Path,
        record: Recorder,
        guard: RestorationGuard | None = None,
        *,
        limit_s: float = CAPTURE_LIMIT_S,
    ) -> None:
        """Make checkpoints of a folder.

        Args:
            root: The workspace folder.
            state_folder: The folder of our own for all projects.
            record: Appends an event to the log of the session.
            guard: Decides whether files may be restored. None allows everything.
            limit_s: Maximum time to save the contents of the whole folder.
        """
        self._root = Path(os.path.realpath(root))
        self._state_folder = Path(os.path.realpath(state_folder))
        name = hashlib.sha256(os.fsencode(self._root)).hexdigest()[:16]
        self._folder = self._state_folder / "checkpoints" / name
        self._checkpoints = CheckpointFolder(self._folder / "states")
        self._contents = FolderContents(self._root, self._folder)
        self._record = record
        self._guard = guard
        self._limit_s = limit_s
        self._lock = asyncio.Lock()
        self._is_pruned = False
        self._unusable: set[tuple[StoreKind, bool]] = set()

    def for_undo(self, guard: RestorationGuard, record: Recorder) -> "Checkpoints":
        """Return the same checkpoints, about whose restoration another guard decides.

        Args:
            guard: Decides whether files may be restored.
            record: Appends an event to the log of the session. An undo is the work of no turn, also while one runs.
        """
        for_undo = copy(self)
        for_undo._guard, for_undo._record = guard, record
        return for_undo

    async def capture(
        self, paths: Iterable[Path | str] | None = None, *, is_recorded: bool = True
    ) -> CheckpointCreated:
        """Save the files before a turn changes them.

        Args:
            paths: The files that will be changed, created or removed. None means all files of the folder that are not
                ignored.
            is_recorded: Whether the log gets the event now, and not when it is known that something changes.

        Raises:
            UsageError: A file is not in the folder.
            FileError: Nothing can be saved.
        """
        async with self._lock:
            names = None if paths is None else _relative_paths(self._root, paths)
            with suppress(OSError):
                # saving reports what is wrong
                self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            checkpoint = await self._take(names)
            await self._prune_once()
        event = CheckpointCreated(checkpoint.id, checkpoint.kind, tuple(names or ()))
        if is_recorded:
            self._record(event)
        return event

    async def capture_edit(self, contents: Mapping[Path, bytes | None]) -> CheckpointCreated:
        """Save files before this program itself writes them, and note what it writes.

        So an undo knows exactly what is the work of the turn, also if this process is killed or somebody else writes
        the file just before or after. A file that is not written after all is not changed by an undo.

        Args:
            contents: The file → its new content, or None if it is removed.

        Raises:
            UsageError: A file is not in the folder.
            FileError: Nothing can be saved.
        """
        async with self._lock:
            names = _relative_paths(self._root, contents)
            checkpoint = await self._take(names)
            after: dict[str, FileState] = {}
            for file, data in contents.items():
                path = str(Path(os.path.realpath(self._root / file)).relative_to(self._root))
                after[path] = await self._contents.plan(checkpoint, path, data)
            for path, state in checkpoint.before.items():
                if state.is_absent and path not in after and any(name.startswith(f"{path}/") for name in after):
                    after[path] = NEW_FOLDER
            await self._save_sealed(checkpoint.with_after(after, is_exact=True))
            await self._prune_once()
        event = CheckpointCreated(checkpoint.id, checkpoint.kind, tuple(names))
        self._record(event)
        return event

    async def seal(self, checkpoint_id: str) -> tuple[str, ...]:
        """Note the states of files after a turn, and return the files that it changed.

        Only then `restore` can tell changes of the turn from later ones. It may be called after each edit.
        """
        async with self._lock:
            checkpoint = await self._load(checkpoint_id)
            if checkpoint.is_exact:
                after, written = await asyncio.to_thread(confirm_written, self._root, checkpoint)
                if after != checkpoint.after:
                    await asyncio.to_thread(self._checkpoints.save, checkpoint.with_after(after, is_exact=True))
                return written
            after = await asyncio.to_thread(find_changes, self._root, checkpoint, self._state_folder, self._limit_s)
            saved = await self._contents.save_after(checkpoint, after, monotonic() + self._limit_s)
            await self._save_sealed(checkpoint.with_after({**after, **saved}))
        return tuple(path for path, state in after.items() if not stat.S_ISDIR(state.mode))

    async def restore(
        self,
        checkpoint_ids: str | Sequence[str],
        paths: Iterable[Path | str] | None = None,
        *,
        turn: int | None = None,
        force: bool = False,
        with_commands: bool = True,
        is_partial: bool = False,
        is_redo: bool = False,
    ) -> Restoration:
        """Give files the content that they had before a turn.

        Files that the turn created are removed. The state before the restoration is a checkpoint too, so that it can be
        taken back. Either all files that can be restored are, or none.

        Args:
            checkpoint_ids: The checkpoints of the turn, in the order of their creation.
            paths: Restores only these files.
            turn: The number of the turn, for the event.
            force: Restores files that somebody changed after the turn, too.
            with_commands: Restores files that were changed while a command of the turn ran, too.
            is_partial: Whether files that somebody changed are left out. Otherwise, nothing is restored then.
            is_redo: Whether an undo of the turn is taken back, for the event.

        Raises:
            StaleDocument: Somebody has changed a file after the turn, or all of them.
            UsageError: It is not allowed, or a file is not in the folder.
            FileError: A checkpoint is missing or damaged, or a file cannot be written.
        """
        ids = [checkpoint_ids] if isinstance(checkpoint_ids, str) else list(checkpoint_ids)
        scope = self._make_scope(paths, force=force, with_commands=with_commands)
        async with self._lock:
            steps = await self._plan(ids, scope)
            if steps.changed and not (is_partial and steps.paths):
                path, reason = min(steps.changed.items())
                raise StaleDocument(
                    f"{path} {reason.removeprefix('it ')}; undo other files only, or use force to lose the later change"
                )
            if self._guard and steps.paths:
                await self._guard.require(self._root, steps.paths)
            backup, contents = await self._prepare(steps) if steps.paths else ("", dict[str, bytes]())
            event = await _complete(
                self._take_steps(steps, contents, EditReverted(ids[0] if ids else "", (), turn, backup, (), is_redo))
            )
        return _describe(steps, event, backup)

    async def preview(
        self,
        checkpoint_ids: Sequence[str],
        paths: Iterable[Path | str] | None = None,
        *,
        force: bool = False,
        with_commands: bool = True,
    ) -> Restoration:
        """Return what `restore` would do now. Nothing is changed, and nobody is asked. See there for the arguments."""
        async with self._lock:
            scope = self._make_scope(paths, force=force, with_commands=with_commands)
            steps = await self._plan(list(checkpoint_ids), scope)
        return _describe(steps, EditReverted(checkpoint_ids[0] if checkpoint_ids else "", steps.paths))

    async def texts(
        self, checkpoint_ids: Sequence[str], paths: Collection[str], folder: Path
    ) -> dict[str, dict[str, Path]]:
        """Write the texts of files before and after a turn to a folder of ours, so that a person can compare them.

        Returns:
            Path → `before` and `after` → the file with this text, as far as it was saved.
        """
        changes = merge_changes(await self._load_sealed(checkpoint_ids))
        return {
            path: files
            for path in paths
            if (change := changes.get(path)) and (files := await self._contents.write_texts(path, change, folder))
        }

    async def prune(self, max_days: int = MAX_DAYS) -> int:
        """Remove the checkpoints of more than `max_days` days of use ago, and return their number."""
        removed = await asyncio.to_thread(self._checkpoints.remove_old, max_days)
        if removed:
            needed = await asyncio.to_thread(self._checkpoints.needed_digests)
            await self._contents.drop(removed, needed)
        return len(removed)

    async def _take(self, paths: Sequence[str] | None) -> Checkpoint:
        created_ns, deadline = await asyncio.to_thread(_clock_ns, self._folder), monotonic() + self._limit_s
        states, is_complete = await asyncio.to_thread(_list, self._root, paths, self._state_folder, deadline)
        known = await asyncio.to_thread(self._checkpoints.newest_whole) if paths is None else None
        # the listing of the folder has no private files
        private = PrivateFiles([self._root])
        new = {
            path: state
            for path, state in states.items()
            if may_be_saved(path, state) and (paths is None or not private.is_private(path))
        }
        checkpoint_id, problem = make_ulid(), ""
        for store in self._contents.stores():
            if (store.kind, paths is None) in self._unusable:
                continue
            try:
                saved = {**states, **await self._contents.save(store, new, known, deadline)}
                await store.keep(checkpoint_id, saved)
            except StoreUnavailable as error:
                problem = str(error)
                if store.kind == "git":
                    # the next checkpoint would wait for it again
                    self._unusable.add((store.kind, paths is None))
                warn_once(f"checkpoints of {self._root}: {problem}")
                # the second store gets half of the time again
                deadline = max(deadline, monotonic() + self._limit_s / 2)
                continue
            checkpoint = Checkpoint(checkpoint_id, store.kind, created_ns, paths is None, is_complete, saved)
            await asyncio.to_thread(self._checkpoints.save, checkpoint)
            return checkpoint
        raise FileError(f"no checkpoint can be made: {problem}")

    async def _save_sealed(self, checkpoint: Checkpoint) -> None:
        await self._contents.keep_after(checkpoint)
        await asyncio.to_thread(self._checkpoints.save, checkpoint)

    def _make_scope(self, paths: Iterable[Path | str] | None, *, force: bool, with_commands: bool) -> UndoScope:
        return UndoScope(None if paths is None else set(_relative_paths(self._root, paths)), with_commands, force)

    async def _load_sealed(self, ids: Sequence[str]) -> list[Checkpoint]:
        """Read checkpoints with the states after the turn: for one without an end, these are the present states."""
        sealed: list[Checkpoint] = []
        for checkpoint in [await self._load(checkpoint_id) for checkpoint_id in ids]:
            if checkpoint.after is None:
                after = await asyncio.to_thread(find_changes, self._root, checkpoint, self._state_folder, self._limit_s)
                sealed.append(checkpoint.with_after(after))
            else:
                sealed.append(checkpoint)
        return sealed

    async def _plan(self, ids: Sequence[str], scope: UndoScope) -> UndoSteps:
        open_ids = {checkpoint_id for checkpoint_id in ids if (await self._load(checkpoint_id)).after is None}
        changes = merge_changes(await self._load_sealed(ids))
        steps = await asyncio.to_thread(plan_steps, self._root, changes, scope)
        for path in steps.paths:
            if changes[path].last.id in open_ids and not scope.with_later:
                steps.keep(path, "")
                del steps.skipped[path]
                steps.changed[path] = UNKNOWN_END
        if guard := self._guard:
            for path in steps.paths:
                if problem := guard.find_problem(self._root / path):
                    steps.keep(path, f"it may not be changed: {problem}")
        return steps

    async def _prepare(self, steps: UndoSteps) -> tuple[str, dict[str, bytes]]:
        """Return the id of a checkpoint with the texts before a restoration, and the contents to restore."""
        await self._contents.clear_left()
        backup = await self._take(steps.paths)
        steps.compare(backup)
        planned = {**dict.fromkeys(steps.created, ABSENT), **steps.writes}
        # noted before anything changes: an undo that is cut off can be taken back, too
        await self._save_sealed(backup.with_after(planned, is_exact=True))
        contents = await self._contents.read_all(steps.kinds)
        if steps.paths:
            self._record(CheckpointCreated(backup.id, backup.kind, steps.paths))
        return backup.id, contents

    async def _take_steps(self, steps: UndoSteps, contents: Mapping[str, bytes], event: EditReverted) -> EditReverted:
        """Restore the files of an undo, and record the restoration."""
        if steps.paths:
            await asyncio.to_thread(take_steps, self._root, steps, contents)
        event = replace(event, paths=steps.paths, kept=tuple(sorted(steps.left_out)))
        if steps.paths or not steps.left_out:
            self._record(event)
        return event

    async def _load(self, checkpoint_id: str) -> Checkpoint:
        if not is_ulid(checkpoint_id):
            raise UsageError("the id of a checkpoint has 26 letters and digits; list the checkpoints to see their ids")
        return await asyncio.to_thread(self._checkpoints.load, checkpoint_id)

    async def _prune_once(self) -> None:
        if not self._is_pruned:
            self._is_pruned = True
            await self.prune()


def _clock_ns(folder: Path) -> int:
    """Return the time with which the times of files are compared."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return file_clock_ns(folder)
    except OSError:
        # saving reports what is wrong
        return time.time_ns()


def _list(
    root: Path, paths: Sequence[str] | None, excluded: Path, deadline: float
) -> tuple[dict[str, FileState], bool]:
    if paths is None:
        return list_folder(root, excluded, deadline)
    states: dict[str, FileState] = {}
    for path in paths:
        # folders that do not exist are removed with the file
        for folder in [str(parent) for parent in PurePosixPath(path).parents if parent.parts]:
            if not os.path.lexists(root / folder):
                states[folder] = ABSENT
        states[path] = stat_state(root / path)
    return states, True


def _relative_paths(root: Path, paths: Iterable[Path | str]) -> list[str]:
    """Return paths relative to a folder. A link stands for itself and for its target. Raises UsageError."""
    names: dict[str, None] = {}
    for path in paths:
        file = root / path
        # the links in the folders of a file are followed, but not the file itself
        folder = Path(os.path.realpath(file.parent))
        for name in dict.fromkeys((folder / file.name, Path(os.path.realpath(file)))):
            if name == root or not name.is_relative_to(root):
                raise UsageError(f"{path} is not a file in {root}, so it cannot be saved for an undo")
            if name.is_dir() and not name.is_symlink():
                raise UsageError(f"{path} is a folder; name its files to save them for an undo")
            names[str(name.relative_to(root))] = None
    return list(names)


def _describe(steps: UndoSteps, event: EditReverted, backup: str = "") -> Restoration:
    return Restoration(event, tuple(sorted(steps.created)), steps.left_out, tuple(sorted(steps.unsure)), backup)


async def _complete(work: Coroutine[Any, Any, T]) -> T:
    """Do work that must not stop half-way. A cancellation takes effect when it is done."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({working})
        raise
