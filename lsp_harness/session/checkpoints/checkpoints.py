"""Checkpoints of a workspace folder: the texts of files before a turn, so that the turn can be undone.

`capture` before the edits of a turn and `seal` after them tell what the turn changed. `restore` gives these files their
earlier content, unless somebody else has changed them since.
"""

import asyncio
import hashlib
import os
import stat
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import Any, TypeVar

from ulid import ULID

from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, StaleDocument, UsageError
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.session.artifacts import is_ulid
from lsp_harness.session.checkpoints.checkpoint_file import (
    MAX_DAYS,
    Checkpoint,
    CheckpointFolder,
    StoreKind,
    file_clock_ns,
)
from lsp_harness.session.checkpoints.content_store import ContentStore, CopyStore, GitStore, StoreUnavailable
from lsp_harness.session.checkpoints.file_state import ABSENT, FileState, list_folder, may_be_saved, stat_state
from lsp_harness.session.checkpoints.turn_changes import (
    NOT_SAVED,
    UndoSteps,
    find_changes,
    merge_changes,
    plan_steps,
    take_steps,
)
from lsp_harness.session.events.code_events import EditReverted
from lsp_harness.session.events.tool_events import CheckpointCreated
from lsp_harness.session.permission.action import Action, Decision

T = TypeVar("T")
CAPTURE_LIMIT_S = 10.0
"""Maximum time for the contents of a whole folder. After it the remaining files are known, but not saved."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """The result of `Checkpoints.restore`.

    Attributes:
        event: The event with the restored files.
        skipped: Path → why the file is not restored.
        backup: The id of a checkpoint with the texts before the restoration, or empty if nothing changed.
    """

    event: EditReverted
    skipped: Mapping[str, str]
    backup: str = ""


class Checkpoints:
    """The checkpoints of one workspace folder. Contents are in a git directory of our own, or else in copies."""

    def __init__(
        self,
        root: Path,
        state_folder: Path,
        record: Callable[[CheckpointCreated | EditReverted], object],
        gate: Callable[[Action], Awaitable[Decision]] | None = None,
        *,
        limit_s: float = CAPTURE_LIMIT_S,
    ) -> None:
        """Make checkpoints of a folder.

        Args:
            root: The workspace folder.
            state_folder: The folder of our own for all projects.
            record: Appends an event to the log of the session.
            gate: Decides whether files may be restored.
            limit_s: Maximum time to save the contents of the whole folder.
        """
        self._root = Path(os.path.realpath(root))
        self._state_folder = Path(os.path.realpath(state_folder))
        name = hashlib.sha256(os.fsencode(self._root)).hexdigest()[:16]
        self._folder = self._state_folder / "checkpoints" / name
        self._checkpoints = CheckpointFolder(self._folder / "states")
        self._record = record
        self._gate = gate
        self._limit_s = limit_s
        self._lock = asyncio.Lock()
        self._is_pruned = False
        self._unusable: set[tuple[StoreKind, bool]] = set()

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
            names = None if paths is None else self._relative_paths(paths)
            with suppress(OSError):
                # saving reports what is wrong
                self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            checkpoint = await self._take(names)
            await self._prune_once()
        event = CheckpointCreated(checkpoint.id, checkpoint.kind, tuple(names or ()))
        if is_recorded:
            self._record(event)
        return event

    async def seal(self, checkpoint_id: str) -> tuple[str, ...]:
        """Note the states of files after a turn, and return the files that it changed.

        Only then `restore` can tell changes of the turn from later ones. It may be called after each edit.
        """
        async with self._lock:
            checkpoint = await self._load(checkpoint_id)
            after = await asyncio.to_thread(find_changes, self._root, checkpoint, self._state_folder, self._limit_s)
            await asyncio.to_thread(self._checkpoints.save, checkpoint.with_after(after))
        return tuple(path for path, state in after.items() if not stat.S_ISDIR(state.mode))

    async def restore(
        self,
        checkpoint_ids: str | Sequence[str],
        paths: Iterable[Path | str] | None = None,
        *,
        turn: int | None = None,
        force: bool = False,
    ) -> Restoration:
        """Give files the content that they had before a turn.

        Files that the turn created are removed. The state before the restoration is a checkpoint too. Either all files
        are restored or none.

        Args:
            checkpoint_ids: The checkpoints of the turn, in the order of their creation.
            paths: Restores only these files.
            turn: The number of the turn, for the event.
            force: Restores files that somebody changed after the turn, too.

        Raises:
            StaleDocument: Somebody has changed a file after the turn.
            UsageError: It is not allowed, or a file is not in the folder.
            FileError: A checkpoint is missing or damaged, or a file cannot be written.
        """
        ids = [checkpoint_ids] if isinstance(checkpoint_ids, str) else list(checkpoint_ids)
        wanted = None if paths is None else set(self._relative_paths(paths))
        async with self._lock:
            checkpoints = [await self._load(checkpoint_id) for checkpoint_id in ids]
            steps = await asyncio.to_thread(self._plan, checkpoints, wanted, force)
            backup, contents = await self._prepare(steps) if steps.paths else ("", dict[str, bytes]())
            event = await _complete(self._take_steps(steps, contents, ids[0] if ids else "", turn))
        return Restoration(event, steps.skipped, backup)

    async def prune(self, max_days: int = MAX_DAYS) -> int:
        """Remove the checkpoints of more than `max_days` days of use ago, and return their number."""
        removed = await asyncio.to_thread(self._checkpoints.remove_old, max_days)
        if removed:
            needed = await asyncio.to_thread(self._checkpoints.needed_digests)
            for store in self._stores():
                with suppress(StoreUnavailable):
                    await store.drop(removed, needed)
        return len(removed)

    async def _take(self, paths: Sequence[str] | None) -> Checkpoint:
        created_ns, deadline = await asyncio.to_thread(self._clock_ns), monotonic() + self._limit_s
        states, is_complete = await asyncio.to_thread(self._list, paths, deadline)
        known = await asyncio.to_thread(self._checkpoints.newest_whole) if paths is None else None
        # the listing of the folder has no private files
        private = PrivateFiles([self._root])
        new = {
            path: state
            for path, state in states.items()
            if may_be_saved(path, state) and (paths is None or not private.is_private(path))
        }
        checkpoint_id, problem = str(ULID()), ""
        for store in self._stores():
            if (store.kind, paths is None) in self._unusable:
                continue
            try:
                saved = {**states, **await self._save(store, new, known, deadline)}
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

    def _clock_ns(self) -> int:
        """Return the time with which the times of files are compared."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return file_clock_ns(self._folder)
        except OSError:
            # saving reports what is wrong
            return time.time_ns()

    def _list(self, paths: Sequence[str] | None, deadline: float) -> tuple[dict[str, FileState], bool]:
        if paths is None:
            return list_folder(self._root, self._state_folder, deadline)
        states: dict[str, FileState] = {}
        for path in paths:
            # folders that do not exist are removed with the file
            for folder in [str(parent) for parent in PurePosixPath(path).parents if parent.parts]:
                if not os.path.lexists(self._root / folder):
                    states[folder] = ABSENT
            states[path] = stat_state(self._root / path)
        return states, True

    async def _save(
        self, store: ContentStore, states: Mapping[str, FileState], known: Checkpoint | None, deadline: float
    ) -> dict[str, FileState]:
        """Save the contents that are not known, and return the states of all that are saved."""
        saved: dict[str, FileState] = {}
        for path, state in states.items():
            earlier = known.state_before(path) if known and known.kind == store.kind else ABSENT
            if known and earlier.is_saved and state.is_untouched(earlier, known.created_ns):
                saved[path] = earlier
        new = {path: state for path, state in states.items() if path not in saved}
        for path, digest in (await store.save(self._root, new, deadline)).items():
            saved[path] = states[path]._replace(digest=digest, is_saved=True)
        return saved

    def _plan(self, checkpoints: Sequence[Checkpoint], wanted: Collection[str] | None, force: bool) -> UndoSteps:
        sealed: list[Checkpoint] = []
        for checkpoint in checkpoints:
            if checkpoint.after is not None:
                sealed.append(checkpoint)
            elif after := find_changes(self._root, checkpoint, self._state_folder, self._limit_s):
                if not force:
                    raise StaleDocument(
                        f"{min(after)} was changed, perhaps after the turn, whose end is not known; "
                        "use force to restore it in any case"
                    )
                sealed.append(checkpoint.with_after(after))
        return plan_steps(self._root, merge_changes(sealed), wanted, force=force)

    async def _prepare(self, steps: UndoSteps) -> tuple[str, dict[str, bytes]]:
        """Return the id of a checkpoint with the texts before a restoration, and the contents to restore."""
        await self._ask(steps.paths)
        backup = await self._take(steps.paths)
        for path in list(steps.created):
            # a file that could not be brought back is not removed
            if not backup.state_before(path).is_saved:
                steps.skipped[path] = NOT_SAVED
                del steps.created[path]
        contents: dict[str, bytes] = {}
        for store in self._stores():
            digests = [digest for digest, kind in steps.kinds.items() if kind == store.kind]
            contents.update(await store.read(digests))
        if missing := steps.kinds.keys() - contents.keys():
            raise FileError(f"the checkpoint needs git, which is not installed: {len(missing)} contents are missing")
        return backup.id, contents

    async def _take_steps(
        self, steps: UndoSteps, contents: Mapping[str, bytes], checkpoint_id: str, turn: int | None
    ) -> EditReverted:
        """Restore files, and record it."""
        if steps.paths:
            await asyncio.to_thread(take_steps, self._root, steps, contents)
        event = EditReverted(checkpoint_id, steps.paths, turn)
        self._record(event)
        return event

    async def _ask(self, paths: Sequence[str]) -> None:
        if self._gate:
            files = tuple(self._root / path for path in paths)
            decision = await self._gate(Action("undo", "edit", {"paths": list(paths)}, files))
            if not decision.is_allowed:
                raise UsageError(f"the files were not restored, because this is not allowed: {decision.reason}")

    async def _load(self, checkpoint_id: str) -> Checkpoint:
        if not is_ulid(checkpoint_id):
            raise UsageError("the id of a checkpoint has 26 letters and digits; list the checkpoints to see their ids")
        return await asyncio.to_thread(self._checkpoints.load, checkpoint_id)

    def _relative_paths(self, paths: Iterable[Path | str]) -> list[str]:
        """Return paths relative to the root. A link stands for itself and for its target. Raises UsageError."""
        names: dict[str, None] = {}
        for path in paths:
            file = self._root / path
            # the links in the folders of a file are followed, but not the file itself
            folder = Path(os.path.realpath(file.parent))
            for name in dict.fromkeys((folder / file.name, Path(os.path.realpath(file)))):
                if name == self._root or not name.is_relative_to(self._root):
                    raise UsageError(f"{path} is not a file in {self._root}, so it cannot be saved for an undo")
                if name.is_dir() and not name.is_symlink():
                    raise UsageError(f"{path} is a folder; name its files to save them for an undo")
                names[str(name.relative_to(self._root))] = None
        return list(names)

    def _stores(self) -> Iterator[ContentStore]:
        with suppress(StoreUnavailable):
            yield GitStore(self._folder / "git", self._root)
        yield CopyStore(self._folder / "copies")

    async def _prune_once(self) -> None:
        if not self._is_pruned:
            self._is_pruned = True
            await self.prune()


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
