"""A checkpoint on disk: the states of its files before a turn, and after it."""

import json
import os
import stat
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lsp_harness.disk.file_reading import read_file, read_text, system_message
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.session.artifacts import is_ulid
from lsp_harness.session.checkpoints.file_state import ABSENT, FileState

StoreKind = Literal["git", "copies"]
SUFFIX = ".json.z"
NEWEST_FILE = "newest-whole"
"""The file with the id of the last checkpoint of the whole folder."""
MAX_BYTES = 200_000_000
MAX_AGE_S = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint.

    Attributes:
        id: Its id.
        kind: The store that has the contents.
        created_ns: The time when it was begun.
        is_whole: Whether it is about the whole folder, not about named files.
        is_complete: Whether all files of the folder are known. Only then a file that is not known is a new one.
        before: Path → state before the turn.
        after: Path → state after the turn, for the files that the turn changed. None until the turn has ended.
    """

    id: str
    kind: StoreKind
    created_ns: int
    is_whole: bool
    is_complete: bool
    before: Mapping[str, FileState]
    after: Mapping[str, FileState] | None = None

    def state_before(self, path: str) -> FileState:
        """Return the state of a file before the turn."""
        return self.before.get(path, ABSENT)

    def with_after(self, after: Mapping[str, FileState]) -> "Checkpoint":
        """Return the checkpoint at the end of its turn."""
        return replace(self, after=after)

    def encode(self) -> bytes:
        """Return its form on disk."""
        body = {
            "id": self.id,
            "kind": self.kind,
            "created_ns": self.created_ns,
            "is_whole": self.is_whole,
            "is_complete": self.is_complete,
            "before": self.before,
            "after": self.after,
        }
        return zlib.compress(json.dumps(body, separators=(",", ":")).encode("utf-8", "surrogateescape"), 1)


def decode_checkpoint(data: bytes) -> Checkpoint:
    """Return a checkpoint in its form on disk. Raises ValueError."""
    try:
        body: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogateescape"))
        before, after = _states(body.pop("before")), body.pop("after")
        return Checkpoint(**body, before=before, after=None if after is None else _states(after))
    except (zlib.error, TypeError, KeyError, AttributeError) as error:
        raise ValueError("it is damaged") from error


def _states(rows: dict[str, list[Any]]) -> dict[str, FileState]:
    return {path: FileState(*row) for path, row in rows.items()}


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """The checkpoints of one project on disk."""

    folder: Path

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint. Raises FileError."""
        path = self._path(checkpoint.id)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_own_file(path, checkpoint.encode())
            if checkpoint.is_whole:
                write_own_file(self.folder / NEWEST_FILE, checkpoint.id.encode())
        except OSError as error:
            raise FileError(f"no checkpoint can be made, because {path}: {system_message(error).lower()}") from error

    def load(self, checkpoint_id: str) -> Checkpoint:
        """Read a checkpoint. Raises FileMissing or FileError."""
        try:
            return decode_checkpoint(read_file(self._path(checkpoint_id), MAX_BYTES))
        except FileMissing as error:
            raise FileMissing(f"there is no checkpoint {checkpoint_id}; it may be older than seven days") from error
        except ValueError as error:
            raise FileError(f"checkpoint {checkpoint_id} is damaged and cannot be restored") from error

    def newest_whole(self) -> Checkpoint | None:
        """Return the last checkpoint of the whole folder."""
        with suppress(FileError):
            return self.load(read_text(self.folder / NEWEST_FILE))
        return None

    def ids(self) -> list[str]:
        """Return the ids of all checkpoints."""
        with suppress(OSError):
            names = (name.removesuffix(SUFFIX) for name in os.listdir(self.folder) if name.endswith(SUFFIX))
            return sorted(name for name in names if is_ulid(name))
        return []

    def remove_old(self, max_age_s: float = MAX_AGE_S) -> list[str]:
        """Remove old checkpoints. Return their ids."""
        removed: list[str] = []
        for checkpoint_id in self.ids():
            with suppress(OSError):
                path = self._path(checkpoint_id)
                if time.time() - path.stat().st_mtime > max_age_s:
                    path.unlink()
                    removed.append(checkpoint_id)
        return removed

    def needed_digests(self) -> set[str]:
        """Return the hashes of all contents that the checkpoints need."""
        needed: set[str] = set()
        for checkpoint_id in self.ids():
            with suppress(FileError):
                needed.update(state.digest for state in self.load(checkpoint_id).before.values() if state.is_saved)
        return needed

    def _path(self, checkpoint_id: str) -> Path:
        return self.folder / f"{checkpoint_id}{SUFFIX}"


def git_mode(state: FileState) -> str:
    """Return the mode of a file in a tree of git."""
    if state.is_link:
        return "120000"
    return "100755" if state.mode & stat.S_IXUSR else "100644"
