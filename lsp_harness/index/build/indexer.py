"""Bringing an index up to what is on disk: what is new or changed is read, what is gone is dropped, all else is left alone.

A file whose time and size are known is not read; one whose content is known is not parsed.
"""

import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from lsp_harness.disk.file_reading import read_start
from lsp_harness.errors import FileProblem
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import WorkspaceFile, SkippedFile, walk
from lsp_harness.files.walk import workspace_file as walked
from lsp_harness.index.build.file_extract import Extract
from lsp_harness.index.build.index_writer import Filling
from lsp_harness.index.build.import_links import Links
from lsp_harness.index.build.reader_processes import Readers
from lsp_harness.process.typing_activity import seconds_since_typing
from lsp_harness.store.database import Writer
from lsp_harness.text.position import decode

IGNORE_FILES = (".gitignore", ".lspharnessignore", ".git/info/exclude")
LINKING = ("tsconfig.json", "jsconfig.json", "package.json", "go.mod", "Cargo.toml")
"""Files that say what imports of others mean."""
SETTINGS_LIMIT = 1_000_000
WRITE_SECONDS = 0.5
"""How long what was read may wait before it is written."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What was done: the files there are; of them parsed, found to be the same although touched, dropped; and left out."""

    files: int
    parsed: int
    same: int
    dropped: int
    left: int


class Indexer:
    """Of one workspace folder. `tell` is called with how many are read of those that have to be. Where nobody waits for it, it
    `gives_way` to whoever types."""

    def __init__(
        self,
        root: Path,
        writer: Writer,
        tell: Callable[[int, int], None] = lambda done, of: None,
        *,
        gives_way: bool = False,
    ) -> None:
        self._root = root
        self._filling = Filling(writer)
        self._readers = Readers(root, typed=seconds_since_typing) if gives_way else Readers(root)
        self._ignores = IgnoreFiles([root])
        self._tell = tell

    def scan(self, first: Collection[str] = ()) -> Scanned:
        """Looks at every file; those in `first`, by their paths in the workspace, are read before others."""
        found: dict[str, WorkspaceFile] = {}
        left: list[SkippedFile] = []
        for one in walk(self._root, self._ignores):
            if isinstance(one, WorkspaceFile):
                found[one.path] = one
            else:
                left.append(one)
        gone = self._filling.files.keys() - found.keys()
        changed = [one for one in found.values() if not self._current(one)]
        changed.sort(key=lambda one: one.path not in first)
        parsed, same = self._bring(changed, gone, left)
        self._filling.leave_out(left)
        return Scanned(len(found), parsed, same, len(gone), len(left))

    def update(self, paths: Iterable[Path]) -> Scanned | None:
        """Looks at these files. None where that does not do: what is not known may be a folder, or say what is ignored."""
        found: list[WorkspaceFile] = []
        gone: list[str] = []
        for path in paths:
            name = path.relative_to(self._root).as_posix()
            if name.endswith(IGNORE_FILES):
                return None
            if name not in self._filling.files:
                # what a build writes is no reason to look at everything
                if self._ignores.ignoring_file(path):
                    continue
                return None
            try:
                told = path.lstat()
            except OSError:
                gone.append(name)
                continue
            if not stat.S_ISREG(told.st_mode):
                return None
            found.append(walked(name, told))
        left: list[SkippedFile] = []
        parsed, same = self._bring([one for one in found if not self._current(one)], gone, left)
        return None if left else Scanned(len(self._filling.files), parsed, same, len(gone), 0)

    def close(self) -> None:
        self._readers.close()

    def _current(self, one: WorkspaceFile) -> bool:
        known = self._filling.files.get(one.path)
        return known is not None and (known.mtime, known.size) == (one.mtime, one.size)

    def _bring(self, changed: Sequence[WorkspaceFile], gone: Collection[str], left: list[SkippedFile]) -> tuple[int, int]:
        """How many were parsed, and how many were the same; what cannot be read is added to `left`."""
        if gone:
            self._filling.drop(gone)
        known = self._filling.files
        new = gone or self._filling.interrupted or any(one.path not in known for one in changed)
        parsed, same = self._read(changed, left)
        # who waits for the next change need not hold memory for it
        self._readers.close()
        if new or any(path.endswith(LINKING) for path in parsed):
            # what meant nothing may mean something now
            self._filling.link(Links(known, self._text))
        elif parsed:
            self._filling.link(Links(known, self._text), parsed)
        return len(parsed), same

    def _read(self, changed: Sequence[WorkspaceFile], left: list[SkippedFile]) -> tuple[list[str], int]:
        known = self._filling.files
        wanted = [(one, known[one.path].digest if one.path in known else b"") for one in changed]
        parsed, same = list[Extract](), list[WorkspaceFile]()
        paths: list[str] = []
        kept = 0
        since = monotonic()
        for done, one in enumerate(self._readers.read(wanted), 1):
            match one:
                case Extract():
                    parsed.append(one)
                case WorkspaceFile():
                    same.append(one)
                case SkippedFile():
                    left.append(one)
            if monotonic() - since > WRITE_SECONDS or done == len(wanted):
                self._filling.put(parsed, same)
                paths += (each.found.path for each in parsed)
                kept += len(same)
                parsed.clear()
                same.clear()
                self._tell(done, len(wanted))
                since = monotonic()
        return paths, kept

    def _text(self, path: str) -> str:
        """Of a small file: settings that say what imports mean."""
        try:
            return decode(read_start(self._root / path, SETTINGS_LIMIT))
        except FileProblem:
            return ""
