"""A model file while it is being fetched: `<file>.part`, and beside it a ledger of who wrote how much.

Bytes are only ever continued by the source that began them. Two honest sources serve the same bytes, but if the sum is
wrong in the end nobody could say whose half was.
"""

import json
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileProblem, PullFailed
from lsp_harness.inference.models.pull_report import Report


class Part:
    """What sources write into. `expected` is the final size, 0 if unknown."""

    def __init__(self, target: Path, expected: int, report: Report) -> None:
        self.file = target.name
        self.expected = expected
        self.report = report
        self.path = target.with_name(f"{target.name}.part")
        self.ledger = target.with_name(f"{target.name}.part.json")
        self.scratch = target.with_name(f"{target.name}.wheel")
        """A folder for what a source must hold for a moment: the model's own disk, as /tmp is often small."""
        self.fresh = False
        """The bytes were written from the first one on, not continued from an earlier attempt."""

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def kept(self, source: str) -> int:
        """Bytes that `source` left here."""
        return self.size if self._entry()[0] == source else 0

    def complete(self, source: str) -> tuple[int, int]:
        """Whole pieces that `source` left here, and their bytes together."""
        owner, pieces, end = self._entry()
        return (pieces, end) if owner == source and self.size >= end else (0, 0)

    @contextmanager
    def appending(self, source: str, start: int, pieces: int = 0) -> Generator[Callable[[bytes], None]]:
        """Write on behalf of `source` from byte `start` on; what lay behind it is cut off."""
        # Unbuffered: a full disk must show itself in `write`, not when the file is closed.
        with open(remove_irregular_file(self.path), "ab", buffering=0) as file:
            file.truncate(start)
            self._record(source, pieces, start)
            self.fresh = self.fresh or start == 0
            at = start
            self.report.begin(at, self.expected)

            def write(chunk: bytes) -> None:
                nonlocal at
                at += len(chunk)
                if self.expected and at > self.expected:
                    file.truncate(0)
                    raise PullFailed(f"it sent more than the {self.expected} bytes that {self.file} has")
                rest = memoryview(chunk)
                while rest:
                    rest = rest[file.write(rest) :]
                self.report.at(at)

            yield write

    def checkpoint(self, source: str, pieces: int) -> None:
        """So many pieces are here in full."""
        self._record(source, pieces, self.size)

    def discard(self) -> None:
        """Leave nothing behind, not even what a killed process could not clear away."""
        self.path.unlink(missing_ok=True)
        self.ledger.unlink(missing_ok=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _record(self, source: str, pieces: int, end: int) -> None:
        write_own_file(self.ledger, json.dumps({"source": source, "pieces": pieces, "bytes": end}).encode())

    def _entry(self) -> tuple[str, int, int]:
        try:
            entry = json.loads(read_text(self.ledger))
            return str(entry["source"]), int(entry["pieces"]), int(entry["bytes"])
        except (FileProblem, ValueError, KeyError, TypeError):
            # No ledger, or one that was cut off by a crash: the bytes have no owner and are written over.
            return "", 0, 0


def folder_size(folder: Path) -> int:
    """Bytes of the files below a folder."""
    return sum(size(Path(inner, name)) for inner, _, names in os.walk(folder) for name in names)


def size(file: Path) -> int:
    """Bytes of a file; 0 for one that is not there."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
