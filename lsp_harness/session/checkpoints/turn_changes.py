"""The files that a turn changed, and how they get their earlier content again."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from time import monotonic

from lsp_harness.errors import StaleDocument
from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES, IgnoreFiles
from lsp_harness.session.checkpoints.checkpoint_file import Checkpoint, StoreKind
from lsp_harness.session.checkpoints.file_state import (
    CLOCK_MARGIN_NS,
    FileState,
    list_folder,
    read_state,
    stat_state,
)
from lsp_harness.session.checkpoints.file_swap import FileSwap

NOT_SAVED = "its content was not saved: it is secret, ignored, larger than 2 MiB, or the folder has too many files"
IGNORED = "it is ignored by the restored ignore files"
OLDER = "it is older than the checkpoint"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by a turn.

    Attributes:
        before: Its state before the turn.
        after: Its state after the turn.
        checkpoint: The checkpoint that has the state before the turn.
        is_certain: Whether `after` is known to be the work of the turn.
    """

    before: FileState
    after: FileState
    checkpoint: Checkpoint
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class UndoSteps:
    """The files of one restoration.

    Attributes:
        writes: Path → the state that it gets again.
        created: Path → the checkpoint before the turn that created the file.
        folders: The folders that the turn created or may have created.
        skipped: Path → why it is not restored.
        kinds: The hash of a content → the store that has it.
    """

    writes: dict[str, FileState] = field(default_factory=dict[str, FileState])
    created: dict[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])
    folders: set[str] = field(default_factory=set[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    kinds: dict[str, StoreKind] = field(default_factory=dict[str, StoreKind])

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that change."""
        return tuple(sorted([*self.writes, *self.created]))


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


def merge_changes(checkpoints: Sequence[Checkpoint]) -> dict[str, FileChange]:
    """Return the changes of a turn with several checkpoints, in the order of their creation.

    A file whose state at a checkpoint is not the one that the edit before it left was changed by somebody else, too.
    """
    changes: dict[str, FileChange] = {}
    for checkpoint in checkpoints:
        for path, after in (checkpoint.after or {}).items():
            before = checkpoint.state_before(path)
            if earlier := changes.get(path):
                is_certain = earlier.is_certain and earlier.after.is_same(before)
                changes[path] = FileChange(earlier.before, after, earlier.checkpoint, is_certain)
            else:
                changes[path] = FileChange(before, after, checkpoint)
    return changes


def plan_steps(
    root: Path, changes: Mapping[str, FileChange], wanted: Collection[str] | None, *, force: bool
) -> UndoSteps:
    """Return what has to be done so that files have their earlier content. Raises StaleDocument.

    Args:
        root: The folder.
        changes: The changes of the turn.
        wanted: The files to restore. None means all.
        force: Whether files are restored that somebody changed after the turn.
    """
    steps = UndoSteps()
    for path, change in changes.items():
        now = read_state(root, path)
        if (wanted is not None and path not in wanted and not stat.S_ISDIR(now.mode)) or now.is_same(change.before):
            continue
        if stat.S_ISDIR(now.mode):
            if change.before.is_absent:
                steps.folders.add(path)
                continue
        elif not force and not (change.is_certain and now.is_same(change.after)):
            raise StaleDocument(
                f"{path} was changed after the turn; undo other files only, or use force to lose the later change"
            )
        _add_step(steps, path, change, now)
    return steps


def _add_step(steps: UndoSteps, path: str, change: FileChange, now: FileState) -> None:
    before, checkpoint = change.before, change.checkpoint
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
    """Restore files: all of them, or none. Raises FileError.

    Args:
        root: The folder.
        steps: What has to be done. Files that turn out to be ignored are moved to `skipped`.
        contents: Hash → content.
    """
    swap = FileSwap(root)
    for path, state in steps.writes.items():
        swap.prepare(path, state, contents[state.digest])
    rules = [path for path in (*steps.writes, *steps.created) if os.path.basename(path) in IGNORE_FILE_NAMES]
    _change(swap, steps, rules)
    ignores = IgnoreFiles([root])
    for path, checkpoint in list(steps.created.items()):
        # with other ignore files, a file looks new that was ignored before the turn
        if checkpoint.is_whole and ignores.ignoring_file(root / path):
            steps.skipped[path] = IGNORED
            del steps.created[path]
    _change(swap, steps, [path for path in (*steps.created, *steps.writes) if path not in rules])
    swap.commit(lambda folder: folder in steps.folders)


def _change(swap: FileSwap, steps: UndoSteps, paths: Iterable[str]) -> None:
    for path in paths:
        if path in steps.created:
            swap.remove(path)
        else:
            swap.put(path)
