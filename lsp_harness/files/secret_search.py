"""The search for files with secrets in a folder, for programs that must not read them."""

import os
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.files.walk import EntryBudget, walk_entries

MAX_ENTRIES = 1_000_000
"""Most files and folders that are looked at. A folder with more needs many seconds."""


def find_secret_files(roots: Sequence[Path], *, max_entries: int = MAX_ENTRIES) -> list[Path]:
    """Return the files and folders that are secret by their name, and all other names of the same files.

    Ignored files are looked at, too, and links are not followed.

    Args:
        roots: The folders.
        max_entries: Most entries of all folders together.

    Raises:
        TooManyFilesError: There are more.
    """
    names: list[tuple[str, int]] = []
    found: list[str] = []
    budget = EntryBudget(max_entries, "look for secrets in all of them")
    for root in roots:
        for entry in walk_entries(str(root), budget, lambda folder: not _is_secret(folder)):
            names.append((entry.path, entry.inode()))
            if _is_secret(entry):
                found.append(entry.path)
    others = _find_other_names(found, names)
    return [Path(path) for path in dict.fromkeys([*found, *others])]


def _is_secret(entry: os.DirEntry[str]) -> bool:
    is_folder = entry.is_dir(follow_symlinks=False)
    # a path within the folder would ask again about each folder above
    return is_secret_path(f"{entry.name}/file" if is_folder else entry.name)


def _find_other_names(found: Sequence[str], names: Sequence[tuple[str, int]]) -> list[str]:
    """Return the other names (hard links) of files."""
    known = set(found)
    linked: set[tuple[int, int]] = set()
    for path in found:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if status.st_nlink > 1 and not os.path.isdir(path):
            linked.add((status.st_dev, status.st_ino))
    if not linked:
        return []
    numbers = {number for _, number in linked}
    candidates = [path for path, number in names if number in numbers and path not in known]
    return [path for path in candidates if _file_identity(path) in linked]


def _file_identity(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino
