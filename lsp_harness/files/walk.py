"""The files of a workspace folder that are indexed, and those that are skipped, with the reason."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lsp_harness.errors import HarnessError
from lsp_harness.files.ignore_files import IgnoreFiles, find_ignoring_file
from lsp_harness.files.secrets import is_secret_path

MAX_ENTRIES = 20_000
"""Most entries of folders that are looked at for one question."""


class TooManyFilesError(HarnessError):
    """A folder has too many files to look at all of them."""


@dataclass(slots=True)
class EntryBudget:
    """The number of entries of folders that may still be looked at.

    Attributes:
        left: The number of entries that may still be read.
        purpose: What the look is for, for the message.
    """

    left: int = MAX_ENTRIES
    purpose: str = "look at all of them"

    def take(self) -> None:
        """Count an entry. Raises TooManyFilesError."""
        self.left -= 1
        if self.left < 0:
            raise TooManyFilesError(f"there are too many files and folders, too many to {self.purpose}")


def walk_entries(
    folder: str, budget: EntryBudget, enters: Callable[[os.DirEntry[str]], bool] = lambda folder: True
) -> Iterator[os.DirEntry[str]]:
    """Yield each file and folder below a folder. Links are not followed, and what cannot be read is left out.

    Args:
        folder: The folder.
        budget: How many entries may be looked at.
        enters: Returns whether the entries of a folder are looked at, too.

    Raises:
        TooManyFilesError: There are too many.
    """
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as iterator:
                entries = list(iterator)
        except OSError:
            # what cannot be read here cannot be read by a program, either
            continue
        for entry in entries:
            budget.take()
            yield entry
            if entry.is_dir(follow_symlinks=False) and enters(entry):
                waiting.append(entry.path)


MAX_TIME_NS = 2**63 - 1
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
"""Folders without files that the user wrote."""
SKIP_MARKERS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that mark their folder as a virtual environment or a cache (https://bford.info/cachedir/)."""


class WalkedFile(NamedTuple):
    """A file of a workspace.

    Attributes:
        path: The path relative to the workspace folder, with `/`.
        mtime: The modification time in nanoseconds.
        size: The size in bytes.
    """

    path: str
    mtime: int
    size: int


class SkippedFile(NamedTuple):
    """A file or folder that cannot be indexed, and the reason."""

    path: str
    reason: str


def walk(root: Path, ignores: IgnoreFiles, *, with_links: bool = False) -> Iterator[WalkedFile | SkippedFile]:
    """Yield the files of a workspace folder that are not ignored, folder by folder.

    Files in `SKIPPED_FOLDERS` are left out. Links are not followed: a target in the workspace is yielded at its own
    place. A link itself is yielded only if `with_links` is true.
    """
    top = str(root)
    pending = [(top, ignores.rules_above(root))]
    while pending:
        folder, outer = pending.pop()
        try:
            with os.scandir(folder) as iterator:
                entries = sorted(iterator, key=lambda entry: entry.name)
        except OSError as error:
            yield skip_unreadable(os.path.relpath(folder, top), error)
            continue
        if folder != top and not SKIP_MARKERS.isdisjoint(entry.name for entry in entries):
            continue
        rules = ignores.rules_within(folder, outer)
        for entry in entries:
            try:
                is_link = entry.is_symlink()
                if is_link and not with_links:
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if (is_folder and entry.name in SKIPPED_FOLDERS) or (
                    rules and find_ignoring_file(rules, entry.path, is_folder=is_folder)
                ):
                    continue
                if is_folder:
                    pending.append((entry.path, rules))
                elif is_link or entry.is_file():
                    yield _check_file(entry, entry.path[len(top.rstrip("/")) + 1 :])
            except OSError as error:
                yield skip_unreadable(os.path.relpath(entry.path, top), error)


def _check_file(entry: "os.DirEntry[str]", path: str) -> WalkedFile | SkippedFile:
    if is_secret_path(entry.path):
        return SkippedFile(path, "a file for secrets, by its name")
    try:
        path.encode()
    except UnicodeEncodeError:
        return SkippedFile(path.encode(errors="replace").decode(), "its name is not UTF-8")
    return stat_workspace_file(path, entry.stat(follow_symlinks=False))


def stat_workspace_file(path: str, status: os.stat_result) -> WalkedFile:
    """Return a file with its status. A time that SQLite cannot store becomes the latest that it can store."""
    return WalkedFile(path.replace(os.sep, "/"), min(status.st_mtime_ns, MAX_TIME_NS), status.st_size)


def skip_unreadable(path: str, error: OSError) -> SkippedFile:
    """Return a skipped file with the message of a system error."""
    return SkippedFile(path.encode(errors="replace").decode(), (error.strerror or str(error)).lower())
