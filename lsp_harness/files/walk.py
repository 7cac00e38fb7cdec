"""Which files of a workspace there are to be indexed, and which not, and why."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lsp_harness.files.ignore_files import IgnoreFiles, find_ignoring_file
from lsp_harness.files.secrets import is_secret_path

MAX_TIME_NS = 2**63 - 1
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
"""Folders that hold nothing of the user's own."""
SKIP_MARKERS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that say so of the folder they are in: a virtual environment, a cache (https://bford.info/cachedir/)."""


class WorkspaceFile(NamedTuple):
    """A file by its path from the workspace folder on, with `/`; `mtime` in nanoseconds, `size` in bytes."""

    path: str
    mtime: int
    size: int


class SkippedFile(NamedTuple):
    """A file or folder that is left out although it would count, and why."""

    path: str
    why: str


def walk(root: Path, ignores: IgnoreFiles) -> Iterator[WorkspaceFile | SkippedFile]:
    """All files of a workspace folder that are not ignored, secret or in a foreign folder, folder by folder.

    Links are not followed: what they lead to is found where it lies, or is none of the workspace.
    """
    top = str(root)
    todo = [(top, ignores.rules_above(root))]
    while todo:
        folder, outer = todo.pop()
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            yield skip_unreadable(os.path.relpath(folder, top), error)
            continue
        if folder != top and not SKIP_MARKERS.isdisjoint(entry.name for entry in entries):
            continue
        rules = ignores.rules_within(folder, outer)
        for entry in entries:
            try:
                if entry.is_symlink():
                    continue
                inner = entry.is_dir()
                if (inner and entry.name in SKIPPED_FOLDERS) or (
                    rules and find_ignoring_file(rules, entry.path, folder=inner)
                ):
                    continue
                if inner:
                    todo.append((entry.path, rules))
                elif entry.is_file():
                    yield _file(entry, entry.path[len(top.rstrip("/")) + 1 :])
            except OSError as error:
                yield skip_unreadable(os.path.relpath(entry.path, top), error)


def _file(entry: "os.DirEntry[str]", path: str) -> WorkspaceFile | SkippedFile:
    if is_secret_path(entry.path):
        return SkippedFile(path, "a file for secrets, by its name")
    try:
        path.encode()
    except UnicodeEncodeError:
        return SkippedFile(path.encode(errors="replace").decode(), "its name is not UTF-8")
    return workspace_file(path, entry.stat())


def workspace_file(path: str, told: os.stat_result) -> WorkspaceFile:
    """Times that no database can hold are the last that one can."""
    return WorkspaceFile(path.replace(os.sep, "/"), min(told.st_mtime_ns, MAX_TIME_NS), told.st_size)


def skip_unreadable(path: str, error: OSError) -> SkippedFile:
    """Left out for what the system says."""
    return SkippedFile(path.encode(errors="replace").decode(), (error.strerror or str(error)).lower())
