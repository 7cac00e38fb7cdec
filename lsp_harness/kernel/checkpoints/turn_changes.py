"""The files that a turn changed, and how they get their earlier content again."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from time import monotonic

from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES, IgnoreFiles
from lsp_harness.kernel.checkpoints.checkpoint_file import Checkpoint, StoreKind
from lsp_harness.kernel.checkpoints.file_state import (
    ABSENT,
    CLOCK_MARGIN_NS,
    FileState,
    list_folder,
    read_state,
    stat_state,
)
from lsp_harness.kernel.checkpoints.file_swap import FileSwap

NOT_SAVED = "its content was not saved: it is secret, ignored, larger than 2 MiB, or the folder has too many files"
IGNORED = "it is ignored by the restored ignore files"
OLDER = "it is older than the checkpoint"
CHANGED = "it was changed after the turn"
UNKNOWN_END = "it was changed, perhaps after the turn, whose end is not known"
UNSURE = "it was changed while a command or a subagent of the turn ran, and another program may have written it"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by a turn.

    Attributes:
        before: Its state before the turn.
        after: Its state after the turn.
        checkpoint: The checkpoint that has the state before the turn.
        last: The checkpoint that has the state after the turn.
        is_certain: Whether `after` is known to be the state at the end of the turn, and nobody changed the file between
            two edits of the turn.
        is_sure: Whether tools of the turn wrote the file, and not a command, while which others may write, too.
    """

    before: FileState
    after: FileState
    checkpoint: Checkpoint
    last: Checkpoint
    is_certain: bool = True
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class UndoScope:
    """The changes that an undo takes back, besides those that tools of the turn wrote and nobody changed since.

    Attributes:
        paths: The files to restore. None means all.
        with_commands: Also files that were changed while commands and subagents of the turn ran.
        with_later: Also files that somebody changed after the turn.
    """

    paths: Collection[str] | None = None
    with_commands: bool = True
    with_later: bool = False


@dataclass(frozen=True, slots=True)
class UndoSteps:
    """The files that one undo changes, and the reasons for those that it leaves alone.

    Attributes:
        writes: Path → the state that it gets again.
        created: Path → the checkpoint before the turn that created the file.
        now: Path → the present state of each file that changes.
        folders: The folders that the turn created or may have created.
        skipped: Path → why it cannot be restored.
        changed: Path → why it is kept: somebody may have changed it.
        unsure: The files that are kept, because they were changed while a command ran.
        kinds: The hash of a content → the store that has it.
    """

    writes: dict[str, FileState] = field(default_factory=dict[str, FileState])
    created: dict[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])
    now: dict[str, FileState] = field(default_factory=dict[str, FileState])
    folders: set[str] = field(default_factory=set[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    changed: dict[str, str] = field(default_factory=dict[str, str])
    unsure: list[str] = field(default_factory=list[str])
    kinds: dict[str, StoreKind] = field(default_factory=dict[str, StoreKind])

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that change."""
        return tuple(sorted([*self.writes, *self.created]))

    @property
    def left_out(self) -> dict[str, str]:
        """Path → why a file is not restored."""
        return {**self.skipped, **self.changed, **dict.fromkeys(self.unsure, UNSURE)}

    def keep(self, path: str, reason: str) -> None:
        """Leave a file as it is."""
        self.writes.pop(path, None)
        self.created.pop(path, None)
        self.skipped[path] = reason

    def compare(self, backup: Checkpoint) -> None:
        """Keep the files that could not be brought back, and those that changed since the plan was made.

        Args:
            backup: The checkpoint with the states before the restoration.
        """
        for path in self.paths:
            now = backup.state_before(path)
            if stat.S_ISDIR(now.mode):
                continue
            if not (now.is_absent or now.is_saved):
                self.keep(path, NOT_SAVED)
            elif not now.is_same(self.now[path]):
                # somebody wrote it while the gate was asked
                self.keep(path, CHANGED)


def find_changes(root: Path, checkpoint: Checkpoint, excluded: Path, limit_s: float) -> dict[str, FileState]:
    """Return path → state for the files that differ from a checkpoint now.

    Args:
        root: The folder.
        checkpoint: The checkpoint.
        excluded: A folder of our own, whose files do not count.
        limit_s: Maximum time to list the folder.
    """
    paths: Iterable[str] = checkpoint.before
    if checkpoint.is_whole and checkpoint.is_complete:
        listed, _ = list_folder(root, excluded, monotonic() + limit_s)
        paths = {**checkpoint.before, **listed}
    changes: dict[str, FileState] = {}
    for path in paths:
        before = checkpoint.state_before(path)
        if stat_state(root / path).is_untouched(before, checkpoint.created_ns):
            continue
        if not (now := read_state(root, path)).is_same(before):
            changes[path] = now
    return changes


def confirm_written(root: Path, checkpoint: Checkpoint) -> tuple[dict[str, FileState], tuple[str, ...]]:
    """Return the states after an edit with the modes that the files have now, and the files that were written.

    Args:
        root: The folder.
        checkpoint: The checkpoint of an edit by this program.
    """
    after = dict(checkpoint.after or {})
    written: list[str] = []
    for path, state in after.items():
        now = read_state(root, path)
        is_new = now.digest == state.digest if state.digest else now.is_absent == state.is_absent
        if stat.S_ISDIR(state.mode) or not is_new or now.is_same(checkpoint.state_before(path)):
            continue
        written.append(path)
        after[path] = state._replace(mode=now.mode)
    return after, tuple(written)


def merge_changes(checkpoints: Sequence[Checkpoint]) -> dict[str, FileChange]:
    """Return the changes of a turn with several checkpoints, in the order of their creation.

    A file whose state at a checkpoint is not the one that the edit before it left was changed by somebody else, too.
    """
    changes: dict[str, FileChange] = {}
    for checkpoint in checkpoints:
        for path, after in (checkpoint.after or {}).items():
            before, is_sure = checkpoint.state_before(path), not checkpoint.is_whole
            if earlier := changes.get(path):
                # an edit that was announced and not written leaves the state before it
                is_certain = earlier.is_certain and (earlier.after.is_same(before) or earlier.before.is_same(before))
                is_sure = is_sure and earlier.is_sure
                changes[path] = FileChange(earlier.before, after, earlier.checkpoint, checkpoint, is_certain, is_sure)
            else:
                changes[path] = FileChange(before, after, checkpoint, checkpoint, is_sure=is_sure)
    return changes


def plan_steps(root: Path, changes: Mapping[str, FileChange], scope: UndoScope) -> UndoSteps:
    """Return what has to be done so that files have their earlier content.

    Args:
        root: The folder.
        changes: The changes of the turn.
        scope: The changes to take back.
    """
    steps = UndoSteps()
    for path, change in changes.items():
        now = read_state(root, path)
        is_wanted = scope.paths is None or path in scope.paths
        if not (is_wanted or stat.S_ISDIR(now.mode)) or now.is_same(change.before):
            continue
        if stat.S_ISDIR(now.mode):
            if change.before.is_absent:
                steps.folders.add(path)
                continue
        elif not scope.with_later and not (change.is_certain and now.is_same(change.after)):
            steps.changed[path] = CHANGED
            continue
        if not (change.is_sure or scope.with_commands or scope.with_later):
            steps.unsure.append(path)
            continue
        _add_step(steps, path, change, now)
    return steps


def _add_step(steps: UndoSteps, path: str, change: FileChange, now: FileState) -> None:
    before, checkpoint = change.before, change.checkpoint
    # a folder in the place of a file is removed before the file is written, if it is empty then
    steps.now[path] = ABSENT if stat.S_ISDIR(now.mode) else now
    if before.is_absent:
        if checkpoint.is_whole and now.ctime + CLOCK_MARGIN_NS < checkpoint.created_ns:
            # for example, it was ignored then
            steps.skipped[path] = OLDER
            return
        steps.created[path] = checkpoint
        if checkpoint.is_whole:
            known = {str(folder) for name in checkpoint.before for folder in PurePosixPath(name).parents}
            steps.folders.update({str(folder) for folder in PurePosixPath(path).parents} - known)
    elif before.is_saved:
        steps.writes[path] = before
        steps.kinds[before.digest] = checkpoint.kind
    else:
        steps.skipped[path] = NOT_SAVED


def take_steps(root: Path, steps: UndoSteps, contents: Mapping[str, bytes]) -> None:
    """Restore files: all of them, or none. Raises FileError, also if a file is not in its present state any more.

    Args:
        root: The folder.
        steps: What has to be done. Files that turn out to be ignored are moved to `skipped`.
        contents: The contents of files by their hashes.
    """
    swap = FileSwap(root, steps.now)
    for path, state in steps.writes.items():
        swap.prepare(path, state, contents[state.digest])
    rules = [path for path in (*steps.writes, *steps.created) if os.path.basename(path) in IGNORE_FILE_NAMES]
    _change_files(swap, steps, rules)
    ignores = IgnoreFiles([root])
    for path, checkpoint in list(steps.created.items()):
        # with other ignore files, a file looks new that was ignored before the turn
        if checkpoint.is_whole and ignores.ignoring_file(root / path):
            steps.skipped[path] = IGNORED
            del steps.created[path]
    _change_files(swap, steps, [path for path in (*steps.created, *steps.writes) if path not in rules])
    swap.commit(lambda folder: folder in steps.folders)


def _change_files(swap: FileSwap, steps: UndoSteps, paths: Iterable[str]) -> None:
    for path in paths:
        if path in steps.created:
            swap.remove(path)
        else:
            swap.put(path)
