"""A copy of a project, for programs that must not change it and for sandboxes that cannot replace files."""

import os
import shutil
from pathlib import Path

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, walk

MAX_FILES = 20_000
MAX_BYTES = 256 << 20
LINKED_FOLDERS = ("node_modules", ".venv", "venv")
"""Folders of installed packages. The copy has links to them."""


class TooLargeError(Exception):
    """The project is too large to copy. The message says what is too large."""


def copy_project(root: Path, target: Path) -> frozenset[Path]:
    """Copy the files of a project that are not ignored, and return these files.

    Args:
        root: The folder of the project.
        target: The folder of the copy, which must not exist.

    Raises:
        TooLargeError: The project has too many files, or too large ones.
        OSError: A file cannot be copied.
    """
    target.mkdir(parents=True)
    copied: set[Path] = set()
    size = 0
    for file in walk(root, IgnoreFiles()):
        if isinstance(file, SkippedFile) and not (root / file.path).is_file():
            continue
        source, copy = root / file.path, target / file.path
        copied.add(source)
        size += source.stat().st_size
        if len(copied) > MAX_FILES or size > MAX_BYTES:
            raise TooLargeError(f"it has more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        shutil.copymode(source, copy)
    for name in LINKED_FOLDERS:
        if (root / name).is_dir() and not os.path.lexists(target / name):
            (target / name).symlink_to(root / name)
    return frozenset(copied)
