"""A checkpoint on disk: the states of its files before a turn, and after it."""

import json
import os
import stat
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from lsp_harness.disk.file_reading import describe_system_error, read_file, read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.kernel.checkpoints.file_state import ABSENT, FileState
from lsp_harness.text.ulid import is_ulid

StoreKind = Literal["git", "copies"]
SUFFIX = ".json.z"
NEWEST_FILE = "newest-whole"
"""The file with the id of the last checkpoint of the whole folder."""
MAX_BYTES = 200_000_000
MAX_DAYS = 7
"""Days of use for which a checkpoint is kept."""
DAYS_FILE = "days.json"
CLOCK_FILE = "clock"
REMEMBERED_DAYS = 60
"""Dates that are remembered, so that a clock that jumps to and fro between them makes no new days."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint.

    Attributes:
        id: The id of the checkpoint.
        kind: The store that has the contents.
        created_ns: The time when it was begun.
        is_whole: Whether it is about the whole folder, not about named files.
        is_complete: Whether all files of the folder are known. Only then a file that is not known is a new one.
        before: Path → state before the turn.
        after: Path → state after the turn, for the files that the turn changed. None until the turn has ended.
        is_exact: Whether `after` is what this program itself writes, so that no change of others is among it.
    """

    id: str
    kind: StoreKind
    created_ns: int
    is_whole: bool
    is_complete: bool
    before: Mapping[str, FileState]
    after: Mapping[str, FileState] | None = None
    is_exact: bool = False

    def state_before(self, path: str) -> FileState:
        """Return the state of a file before the turn."""
        return self.before.get(path, ABSENT)

    def with_after(self, after: Mapping[str, FileState], *, is_exact: bool = False) -> "Checkpoint":
        """Return the checkpoint at the end of its turn."""
        return replace(self, after=after, is_exact=is_exact)

    @property
    def digests(self) -> set[str]:
        """The hashes of the contents that it needs."""
        states = (*self.before.values(), *(self.after or {}).values())
        return {state.digest for state in states if state.is_saved}

    def encode(self) -> bytes:
        """Return the JSON of the checkpoint, as it is stored on disk."""
        body = {
            "id": self.id,
            "kind": self.kind,
            "created_ns": self.created_ns,
            "is_whole": self.is_whole,
            "is_complete": self.is_complete,
            "before": self.before,
            "after": self.after,
            "is_exact": self.is_exact,
        }
        return zlib.compress(json.dumps(body, separators=(",", ":")).encode("utf-8", "surrogateescape"), 1)


def decode_checkpoint(data: bytes) -> Checkpoint:
    """Return a checkpoint in its form on disk. Raises ValueError."""
    try:
        body: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogateescape"))
        before, after = _read_states(body.pop("before")), body.pop("after")
        return Checkpoint(**body, before=before, after=None if after is None else _read_states(after))
    except (zlib.error, TypeError, KeyError, AttributeError) as error:
        raise ValueError("it is damaged") from error


def _read_states(rows: dict[str, list[Any]]) -> dict[str, FileState]:
    return {path: FileState(*row) for path, row in rows.items()}


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """The checkpoints of one project on disk."""

    folder: Path

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint. Raises FileError."""
        path = self._checkpoint_path(checkpoint.id)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_own_file(path, checkpoint.encode())
            if checkpoint.is_whole:
                write_own_file(self.folder / NEWEST_FILE, checkpoint.id.encode())
        except OSError as error:
            raise FileError(
                f"no checkpoint can be made, because {path}: {describe_system_error(error).lower()}"
            ) from error

    def load(self, checkpoint_id: str) -> Checkpoint:
        """Read a checkpoint. Raises FileMissing or FileError."""
        try:
            return decode_checkpoint(read_file(self._checkpoint_path(checkpoint_id), MAX_BYTES))
        except FileMissing as error:
            raise FileMissing(
                f"there is no checkpoint {checkpoint_id}; it may have been removed after seven days"
            ) from error
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

    def remove_old(self, max_days: int = MAX_DAYS) -> list[str]:
        """Remove the checkpoints that have been there for so many days of use. Return their ids.

        A day counts when it is seen, so a clock that jumps by ten days makes one day older.
        """
        try:
            today = datetime.fromtimestamp(file_clock_ns(self.folder) / 1e9, UTC).date().isoformat()
        except OSError:
            return []
        days = self._read_days()
        if today not in days.dates:
            days = _Days(days.number + 1, (*days.dates, today)[-REMEMBERED_DAYS:], days.first)
        first = {checkpoint_id: days.first.get(checkpoint_id, days.number) for checkpoint_id in self.ids()}
        removed: list[str] = []
        for checkpoint_id, number in list(first.items()):
            if days.number - number >= max_days:
                with suppress(OSError):
                    self._checkpoint_path(checkpoint_id).unlink()
                    removed.append(checkpoint_id)
                    del first[checkpoint_id]
        with suppress(OSError):
            body = {"number": days.number, "dates": days.dates, "first": first}
            write_own_file(self.folder / DAYS_FILE, json.dumps(body).encode())
        return removed

    def _read_days(self) -> "_Days":
        with suppress(FileError, ValueError, TypeError, KeyError, AttributeError):
            body: dict[str, Any] = json.loads(read_text(self.folder / DAYS_FILE))
            first = {str(checkpoint_id): int(number) for checkpoint_id, number in body["first"].items()}
            return _Days(int(body["number"]), tuple(map(str, body["dates"])), first)
        # without it, all checkpoints are as new ones
        return _Days(0, (), {})

    def needed_digests(self) -> set[str]:
        """Return the hashes of all contents that the checkpoints need."""
        needed: set[str] = set()
        for checkpoint_id in self.ids():
            with suppress(FileError):
                needed.update(self.load(checkpoint_id).digests)
        return needed

    def _checkpoint_path(self, checkpoint_id: str) -> Path:
        return self.folder / f"{checkpoint_id}{SUFFIX}"


@dataclass(frozen=True, slots=True)
class _Days:
    """The days on which checkpoints were made: their number, the last dates, and checkpoint → its first day."""

    number: int
    dates: tuple[str, ...]
    first: Mapping[str, int]


def file_clock_ns(folder: Path) -> int:
    """Return the present time of the file system of a folder of ours, in nanoseconds. Raises OSError.

    It is compared with the times of files. The clock of this process may be another one.
    """
    probe = folder / CLOCK_FILE
    write_own_file(probe, b"")
    return probe.stat().st_ctime_ns


def git_mode(state: FileState) -> str:
    """Return the mode of a file in a tree of git."""
    if state.is_link:
        return "120000"
    return "100755" if state.mode & stat.S_IXUSR else "100644"
