"""The last cursor of each file of a workspace folder, and how often the user opened it, in a file beside the index.

The file contains paths and numbers, and no text. Several servers may have the folder open, so each adds its own changes
to the file. It is written some time after a change and at the end, never at a key.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import time
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileError, FileMissing

FILE_NAME = "visits.json"
MAX_FILES = 500
"""Number of files that are remembered. Those that were visited longest ago are forgotten first."""
MAX_OPENINGS = 1000
"""Sum of all counts above which each is halved, so that the work of this week counts more than that of last year."""
LOCK_TIMEOUT_S = 1.0
"""How long another server may hold the file. It takes milliseconds."""


@dataclass(frozen=True, slots=True)
class FileVisit:
    """The visits of the user to one file.

    Attributes:
        line: The line of the last cursor, from 0, or -1 if the user was never seen in the file.
        column: The byte in that line.
        openings: How often the file was opened.
        language: The language id that the editor gave it.
        time_s: The time of the last visit, in seconds since 1970.
    """

    line: int = -1
    column: int = 0
    openings: int = 0
    language: str = ""
    time_s: int = 0


class FileVisits:
    """The visits to the files of one workspace folder. Paths are relative to the folder.

    Args:
        file: The file that keeps them. It is read at the first question.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._saved: dict[str, FileVisit] | None = None
        self._changes: dict[str, FileVisit] = {}
        """The visits since the file was written, with the openings since then."""

    @property
    def has_changes(self) -> bool:
        return bool(self._changes)

    def record_open(self, path: str, language: str) -> None:
        """Record that the user opened a file."""
        change = self._changes.get(path, FileVisit())
        self._changes[path] = replace(change, openings=change.openings + 1, language=language, time_s=int(time()))

    def record_place(self, path: str, line: int, column: int) -> None:
        """Record the cursor in a file."""
        known = self._changes.get(path) or replace(self.find(path) or FileVisit(), openings=0)
        if (known.line, known.column) != (line, column):
            self._changes[path] = replace(known, line=line, column=column, time_s=int(time()))

    def find(self, path: str) -> FileVisit | None:
        """Return the visits to a file, or None if there were none."""
        change, saved = self._changes.get(path), self._read_once().get(path)
        return _merge(saved, change) if change else saved

    def most_opened(self) -> list[tuple[str, FileVisit]]:
        """Return the files in which the user was seen, those that were opened most first."""
        visits = [(path, self.find(path)) for path in {**self._read_once(), **self._changes}]
        seen = [(path, visit) for path, visit in visits if visit and visit.line >= 0]
        return sorted(seen, key=lambda item: (-item[1].openings, -item[1].time_s, item[0]))

    def save(self) -> None:
        """Add the changes since the last call to the file, if the file can be written."""
        if not self._changes:
            return
        from filelock import FileLock, Timeout

        changes = dict(self._changes)
        try:
            with FileLock(remove_irregular_file(self._file.with_suffix(".lock")), mode=0o600, timeout=LOCK_TIMEOUT_S):
                visits = _read(self._file)
                merged = {**visits, **{path: _merge(visits.get(path), change) for path, change in changes.items()}}
                bounded = _bound(merged)
                data = json.dumps({path: asdict(visit) for path, visit in bounded.items()})
                write_own_file(self._file, data.encode("utf-8", "surrogatepass"))
        except (OSError, Timeout, UnicodeError) as error:
            paths.warn_not_saved("the last cursor of files", paths.CACHE, self._file, error)
        else:
            self._saved = bounded
            # what was recorded while the file was written belongs to the next call
            self._changes = {
                path: replace(change, openings=change.openings - changes[path].openings if path in changes else 0)
                for path, change in self._changes.items()
                if change != changes.get(path)
            }

    def _read_once(self) -> dict[str, FileVisit]:
        if self._saved is None:
            self._saved = _read(self._file)
        return self._saved


def _merge(saved: FileVisit | None, change: FileVisit) -> FileVisit:
    if saved is None:
        return change
    place = change if change.line >= 0 else saved
    openings = saved.openings + change.openings
    return FileVisit(place.line, place.column, openings, change.language or saved.language, change.time_s)


def _bound(visits: dict[str, FileVisit]) -> dict[str, FileVisit]:
    """Return the newest visits, with counts that are not too large."""
    newest = sorted(visits.items(), key=lambda item: -item[1].time_s)[:MAX_FILES]
    is_large = sum(visit.openings for _, visit in newest) > MAX_OPENINGS
    return {path: replace(visit, openings=visit.openings // 2) if is_large else visit for path, visit in newest}


def _read(file: Path) -> dict[str, FileVisit]:
    """Return the visits in the file. There are none if the file cannot be read or is another file."""
    try:
        content: Any = json.loads(read_text(file))
        entries = cast("dict[str, dict[str, Any]]", content)
        visits = {path: FileVisit(**entry) for path, entry in entries.items()}
    except FileMissing:
        return {}
    except FileError as error:
        warn_once(f"{error.message}; the last cursors of files are forgotten")
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {path: visit for path, visit in visits.items() if _is_valid(visit)}


def _is_valid(visit: FileVisit) -> bool:
    numbers = (visit.line, visit.column, visit.openings, visit.time_s)
    return all(type(number) is int and number >= -1 for number in numbers) and isinstance(
        cast("Any", visit.language), str
    )
