"""Updates of an index: new and changed files are read, deleted files are removed, all others are left alone.

A file with the same time and size is not read. A file with the same content is not parsed.
"""

import stat
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from lsp_harness.disk.file_reading import read_start
from lsp_harness.errors import FileError
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, WalkedFile, walk
from lsp_harness.files.walk import stat_workspace_file as walked
from lsp_harness.index.builder.file_extract import Extract
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.builder.reader_processes import ReaderPool
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.process.typing_activity import seconds_since_typing
from lsp_harness.store.database import DatabaseWriter
from lsp_harness.text.position import decode

IGNORE_FILES = (".gitignore", ".lspharnessignore", ".git/info/exclude")
IMPORT_SETTINGS_FILES = ("tsconfig.json", "jsconfig.json", "package.json", "go.mod", "Cargo.toml")
"""Files that decide what the imports of other files mean."""
SETTINGS_LIMIT_BYTES = 1_000_000
WRITE_INTERVAL_S = 0.5
"""The longest time that extracts wait before they are written."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of an update: all files, and the number that were parsed, were touched without a change (`same`),
    were dropped, or were left out."""

    files: int
    parsed: int
    same: int
    dropped: int
    left: int


@contextmanager
def open_indexer(
    root: Path, database: Path, on_progress: Callable[[int, int], None] = lambda done, of: None
) -> Generator["Indexer"]:
    """Yield an indexer that writes to a database file, which is created if it does not exist.

    Args:
        root: The workspace folder.
        database: The file of the database.
        on_progress: Called with the number of files that are done, and of all files.

    Raises:
        StoreError: The file cannot be written.
    """
    with (
        closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
        closing(Indexer(root, writer, on_progress)) as indexer,
    ):
        yield indexer


class Indexer:
    """Updates the index of one workspace folder."""

    def __init__(
        self,
        root: Path,
        writer: DatabaseWriter,
        on_progress: Callable[[int, int], None] = lambda done, of: None,
        *,
        yields_to_typing: bool = False,
    ) -> None:
        """Create the processes that read files.

        Args:
            root: The workspace folder.
            writer: The database of the index.
            on_progress: Is called with the number of files that are done, and the number of files to read.
            yields_to_typing: Whether reading pauses while somebody types.
        """
        self._root = root
        self._writer = IndexWriter(writer)
        self._readers = (
            ReaderPool(root, seconds_since_key=seconds_since_typing) if yields_to_typing else ReaderPool(root)
        )
        self._ignores = IgnoreFiles([root])
        self._on_progress = on_progress

    def scan(self, priority_paths: Collection[str] = ()) -> ScanResult:
        """Check every file. The files in `priority_paths`, relative to the folder, are read first."""
        files: dict[str, WalkedFile] = {}
        left_out: list[SkippedFile] = []
        for entry in walk(self._root, self._ignores):
            if isinstance(entry, WalkedFile):
                files[entry.path] = entry
            else:
                left_out.append(entry)
        removed = self._writer.files.keys() - files.keys()
        changed = [entry for entry in files.values() if not self._is_unchanged(entry)]
        changed.sort(key=lambda entry: entry.path not in priority_paths)
        parsed, unchanged = self._apply_changes(changed, removed, left_out)
        self._writer.record_left_out(left_out)
        return ScanResult(len(files), parsed, unchanged, len(removed), len(left_out))

    def update(self, paths: Iterable[Path]) -> ScanResult | None:
        """Check some files and update the index. Return None if a full scan is needed: an unknown path may be a folder
        or an ignore file.
        """
        files: list[WalkedFile] = []
        removed: list[str] = []
        for path in paths:
            name = path.relative_to(self._root).as_posix()
            if name.endswith(IGNORE_FILES):
                return None
            if name not in self._writer.files:
                # Output of builds must not cause full scans.
                if self._ignores.ignoring_file(path):
                    continue
                return None
            try:
                file_stat = path.lstat()
            except OSError:
                removed.append(name)
                continue
            if not stat.S_ISREG(file_stat.st_mode):
                return None
            files.append(walked(name, file_stat))
        left_out: list[SkippedFile] = []
        parsed, unchanged = self._apply_changes(
            [file for file in files if not self._is_unchanged(file)], removed, left_out
        )
        return None if left_out else ScanResult(len(self._writer.files), parsed, unchanged, len(removed), 0)

    def close(self) -> None:
        """Stop the processes."""
        self._readers.close()

    def _is_unchanged(self, file: WalkedFile) -> bool:
        indexed = self._writer.files.get(file.path)
        return indexed is not None and (indexed.mtime, indexed.size) == (file.mtime, file.size)

    def _apply_changes(
        self, changed: Sequence[WalkedFile], removed: Collection[str], left_out: list[SkippedFile]
    ) -> tuple[int, int]:
        """Return the numbers of parsed and of unchanged files. Files that cannot be read are added to `left_out`."""
        if removed:
            self._writer.remove(removed)
        indexed = self._writer.files
        links_changed = removed or self._writer.was_interrupted or any(file.path not in indexed for file in changed)
        parsed, unchanged_count = self._read_files(changed, left_out)
        # The processes stop, so that an idle index holds no memory.
        self._readers.close()
        if links_changed or any(path.endswith(IMPORT_SETTINGS_FILES) for path in parsed):
            # Imports that were unresolved may be resolved now.
            self._writer.link_imports(ImportLinks(indexed, self._read_settings))
        elif parsed:
            self._writer.link_imports(ImportLinks(indexed, self._read_settings), parsed)
        return len(parsed), unchanged_count

    def _read_files(self, changed: Sequence[WalkedFile], left_out: list[SkippedFile]) -> tuple[list[str], int]:
        indexed = self._writer.files
        requests = [(result, indexed[result.path].digest if result.path in indexed else b"") for result in changed]
        parsed, unchanged = list[Extract](), list[WalkedFile]()
        paths: list[str] = []
        unchanged_count = 0
        last_write = monotonic()
        for done, result in enumerate(self._readers.read(requests), 1):
            match result:
                case Extract():
                    parsed.append(result)
                case WalkedFile():
                    unchanged.append(result)
                case SkippedFile():
                    left_out.append(result)
            if monotonic() - last_write > WRITE_INTERVAL_S or done == len(requests):
                self._writer.write(parsed, unchanged)
                paths += (extract.file.path for extract in parsed)
                unchanged_count += len(unchanged)
                parsed.clear()
                unchanged.clear()
                self._on_progress(done, len(requests))
                last_write = monotonic()
        return paths, unchanged_count

    def _read_settings(self, path: str) -> str:
        """Return the text of a settings file; empty if it cannot be read."""
        try:
            return decode(read_start(self._root / path, SETTINGS_LIMIT_BYTES))
        except FileError:
            return ""
