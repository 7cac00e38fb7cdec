"""A model file that is being downloaded: `<file>.part`, and beside it a ledger with the source and the number of bytes.

Only the source that wrote the first bytes may continue. Two honest sources serve the same bytes, but if the hash is
wrong in the end, nobody could say which source was wrong.
"""

import json
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileError, PullFailed
from lsp_harness.inference.models.pull_report import PullReport


class PartialFile:
    """The file into which sources write. `expected` is the final size in bytes, or 0 if it is not known."""

    def __init__(self, target: Path, expected: int, report: PullReport) -> None:
        self.file = target.name
        self.expected = expected
        self.report = report
        self.path = target.with_name(f"{target.name}.part")
        self.ledger = target.with_name(f"{target.name}.part.json")
        self.scratch = target.with_name(f"{target.name}.wheel")
        """A folder for temporary files of a source. It is on the disk of the models, because /tmp is often small."""
        self.is_complete_attempt = False
        """All bytes were written in this attempt; none is from an earlier one."""

    @property
    def size(self) -> int:
        """Return the number of bytes that have been written."""
        return self.path.stat().st_size if self.path.exists() else 0

    def resumable_bytes(self, source: str) -> int:
        """Return the number of bytes that `source` has written, 0 if another source wrote them."""
        return self.size if self._read_entry()[0] == source else 0

    def complete_pieces(self, source: str) -> tuple[int, int]:
        """Return the number of complete pieces that `source` has written, and their total size in bytes."""
        writer, pieces, end = self._read_entry()
        return (pieces, end) if writer == source and self.size >= end else (0, 0)

    @contextmanager
    def append(self, source: str, start: int, pieces: int = 0) -> Generator[Callable[[bytes], None]]:
        """Give a function that appends bytes of `source`, starting at byte `start`. Bytes after `start` are removed."""
        # unbuffered, so that a full disk is an error of `write` and not of closing the file
        with open(remove_irregular_file(self.path), "ab", buffering=0) as file:
            file.truncate(start)
            self._record(source, pieces, start)
            self.is_complete_attempt = self.is_complete_attempt or start == 0
            position = start
            self.report.begin(position, self.expected)

            def write(chunk: bytes) -> None:
                nonlocal position
                position += len(chunk)
                if self.expected and position > self.expected:
                    file.truncate(0)
                    raise PullFailed(f"the source sent more than the {self.expected} bytes that {self.file} has")
                rest = memoryview(chunk)
                while rest:
                    rest = rest[file.write(rest) :]
                self.report.progress(position)

            yield write

    def checkpoint(self, source: str, pieces: int) -> None:
        """Record that this number of pieces is complete."""
        self._record(source, pieces, self.size)

    def discard(self) -> None:
        """Delete the partial file and all its temporary files, also those of a process that was killed."""
        self.path.unlink(missing_ok=True)
        self.ledger.unlink(missing_ok=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _record(self, source: str, pieces: int, end: int) -> None:
        write_own_file(self.ledger, json.dumps({"source": source, "pieces": pieces, "bytes": end}).encode())

    def _read_entry(self) -> tuple[str, int, int]:
        try:
            entry = json.loads(read_text(self.ledger))
            return str(entry["source"]), int(entry["pieces"]), int(entry["bytes"])
        except (FileError, ValueError, KeyError, TypeError):
            # no ledger, or one that a crash has cut off: the source of the bytes is not known, so they are overwritten
            return "", 0, 0


def fetch_and_check(
    fetch: Callable[[PartialFile], None], part: PartialFile, find_problem: Callable[[PartialFile], str]
) -> None:
    """Fetch a file, and once more from its start if the bytes of an earlier attempt may be wrong.

    Args:
        fetch: Writes the rest of the file.
        part: The file.
        find_problem: Returns what is wrong with the complete file, or an empty text.

    Raises:
        PullFailed: The source has failed, or has served a wrong file.
    """
    while True:
        part.is_complete_attempt = False
        fetch(part)
        problem = find_problem(part)
        if not problem:
            return
        part.discard()
        # if the source continued an earlier download, those bytes may be wrong: let it try once from the start
        if part.is_complete_attempt:
            raise PullFailed(problem)


def folder_size(folder: Path) -> int:
    """Return the total size of the files below a folder, in bytes."""
    return sum(file_size(Path(inner, name)) for inner, _, names in os.walk(folder) for name in names)


def file_size(file: Path) -> int:
    """Return the size of a file in bytes, or 0 if it does not exist."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
