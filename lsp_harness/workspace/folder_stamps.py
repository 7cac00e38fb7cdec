"""Stamps of the files of a folder, which tell what was created, changed or deleted since the last look.

A look lists the folder and reads no text, so it takes some milliseconds for a thousand files. Folders of version
control, of caches and of installed packages are not walked: `HEAD` stands for the branch, and the names of the packages
stand for what is installed.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Literal

from lsp_harness.config.paths import list_own_folders
from lsp_harness.disk.file_reading import read_start
from lsp_harness.errors import FileError
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.walk import SKIP_MARKERS, SKIPPED_FOLDERS

ChangeKind = Literal["created", "changed", "deleted"]
Scope = Literal["file", "branch", "packages"]
"""The subject of a change: a file of the folder, the branch that is checked out, or the installed packages."""
FEW_ENTRIES = 300
"""Files that are looked at within a millisecond or two, so that no thread is worth it."""
MAX_ENTRIES = 60_000
"""Files that a look counts at most. Of a larger folder nobody knows what changed."""
RACY_NS = 60_000_000
"""A file that was written so short before a look may be written again without another time."""
MAX_DIGEST_BYTES = 1_000_000
NOISE_SUFFIXES = (".log", ".pyc", ".pyo", ".swp", ".swx", ".tmp", "~", ".coverage", "-journal", "-wal", "-shm")
"""Ends of names of files that no check reads, but that change often."""
PACKAGE_LISTS = ("site-packages", "dist-packages", "node_modules")
"""Names of folders whose entries are packages."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a folder is another one than at the last look.

    Attributes:
        path: The file, absolute.
        kind: Whether it is new, has other bytes, or is gone.
        scope: What it is a part of.
    """

    path: Path
    kind: ChangeKind
    scope: Scope = "file"

    @property
    def is_noise(self) -> bool:
        """Return whether this is a log, or what an editor leaves, which is no reason to check anything again."""
        return self.scope == "file" and self.path.name.endswith(NOISE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file without its bytes.

    Attributes:
        status: Its times in nanoseconds, its size and its number on the disk.
        digest: A digest of its bytes, if it was written just before the look. Empty otherwise.
        scope: What it is a part of.
    """

    status: tuple[int, ...]
    digest: bytes = b""
    scope: Scope = "file"


@dataclass(frozen=True, slots=True)
class FolderLook:
    """The stamps of one look at a folder.

    Attributes:
        stamps: Path of each file → its stamp.
        is_complete: Whether all files were counted.
    """

    stamps: Mapping[str, Stamp]
    is_complete: bool = True


def look_at_folder(
    root: Path, packages: Iterable[Path], before: Mapping[str, Stamp], limit: int = MAX_ENTRIES
) -> FolderLook:
    """Return the stamps of all files of a folder.

    Args:
        root: The folder.
        packages: Folders with installed packages, wherever they are.
        before: The stamps of the last look.
        limit: Most files to count.
    """
    now_ns, found = time_ns(), dict[str, Stamp]()
    found_packages: set[str] = set()
    for entry in _walk(str(root), found_packages, _own_folders()):
        if len(found) >= limit:
            return FolderLook(found, is_complete=False)
        if stamp := _read_stamp(entry.path, before, now_ns):
            found[entry.path] = stamp
    for path in _branch_files(root):
        if stamp := _read_stamp(path, before, now_ns, "branch"):
            found[path] = stamp
    for folder in {*found_packages, *map(str, packages)}:
        for path in _package_entries(folder):
            if stamp := _read_stamp(path, before, now_ns, "packages"):
                found[path] = stamp
    return FolderLook(found)


def look_at_file(path: str, before: Mapping[str, Stamp]) -> Stamp | None:
    """Return the stamp of one file, or None if there is no such file."""
    known = before.get(path)
    return _read_stamp(path, before, time_ns(), known.scope if known else "file")


def is_same(before: Stamp | None, after: Stamp | None) -> bool:
    """Return whether two stamps are of the same bytes."""
    if before is None or after is None:
        return before is after
    return before.status == after.status and not (before.digest and after.digest and before.digest != after.digest)


def compare_looks(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> list[ChangedFile]:
    """Return what changed between two looks, in the order of the paths."""
    changes = [
        ChangedFile(Path(path), "created" if (old := before.get(path)) is None else "changed", stamp.scope)
        for path, stamp in after.items()
        if (old := before.get(path)) is not stamp and not is_same(old, stamp)
    ]
    changes += [ChangedFile(Path(path), "deleted", before[path].scope) for path in before.keys() - after.keys()]
    return sorted(changes, key=lambda change: str(change.path))


def _walk(top: str, packages: set[str], own: frozenset[str]) -> Iterator["os.DirEntry[str]"]:
    """Yield the files below a folder. The folders with installed packages are collected and not entered."""
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as iterator:
                entries = [*iterator]
        except OSError:
            continue
        if folder != top and not SKIP_MARKERS.isdisjoint(entry.name for entry in entries):
            packages.update(find_packages(folder))
            continue
        for entry in entries:
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if not is_folder:
                yield entry
            elif entry.name in PACKAGE_LISTS:
                packages.add(entry.path)
            elif entry.name not in SKIPPED_FOLDERS and entry.path not in own:
                pending.append(entry.path)


def find_packages(folder: str) -> list[str]:
    """Return the folders with the packages of a virtual environment, or nothing if the folder is none."""
    if not os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
        return []
    found = [str(path) for path in Path(folder).glob("lib*/python*/site-packages")]
    return [*found, *(str(path) for path in Path(folder).glob("Lib/site-packages"))]


def is_walked(path: Path, root: Path) -> bool:
    """Return whether a look counts a file at this place."""
    own = _own_folders()
    for folder in path.parents:
        if folder == root or not folder.is_relative_to(root):
            return True
        if (
            str(folder) in own
            or folder.name in SKIPPED_FOLDERS
            or any((folder / marker).is_file() for marker in SKIP_MARKERS)
        ):
            return False
    return True


def _own_folders() -> frozenset[str]:
    """Return the folders in which we write ourselves, by their names with and without links."""
    folders = list_own_folders()
    return frozenset(str(path) for folder in folders for path in (folder, resolve_links(folder)))


def _branch_files(root: Path) -> Sequence[str]:
    """Return the file that names the branch. It is elsewhere in a work tree of its own."""
    git = root / ".git"
    try:
        if git.is_file():
            first = git.read_text("utf-8", "replace").partition("\n")[0]
            git = root / first.removeprefix("gitdir:").strip()
    except OSError:
        return ()
    return (str(git / "HEAD"),)


def _package_entries(folder: str) -> Iterator[str]:
    """Yield what stands for the packages in a folder: its entries, which an installation creates, renames or writes."""
    try:
        with os.scandir(folder) as iterator:
            yield from (entry.path for entry in iterator if entry.name not in SKIPPED_FOLDERS)
    except OSError:
        return


def _read_stamp(path: str, before: Mapping[str, Stamp], now_ns: int, scope: Scope = "file") -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        # the time of a package's folder changes when the package is compiled
        return Stamp((status.st_ino,), b"", scope) if scope == "packages" else None
    key = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    old = before.get(path)
    is_racy = now_ns - max(status.st_mtime_ns, status.st_ctime_ns) < RACY_NS
    if old and old.status == key and not old.digest and not is_racy:
        return old
    needs_digest = is_racy or (old is not None and old.status == key and bool(old.digest))
    return Stamp(key, _hash_file(path, status.st_size) if needs_digest else b"", scope)


def _hash_file(path: str, size: int) -> bytes:
    if size > MAX_DIGEST_BYTES:
        return b""
    try:
        # a named pipe would wait for a writer
        return hashlib.blake2b(read_start(Path(path), MAX_DIGEST_BYTES), digest_size=16).digest()
    except FileError:
        return b""
