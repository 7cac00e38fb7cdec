"""The folder that contains a file, for any of the names of both: through links, `..` or another spelling.

Folders are compared by device and inode, because some file systems treat `A.py` and `a.py` as the same file.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

PROJECT_MARKS = (
    ".git",
    "lsp-harness.toml",
    "localcode.toml",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
)


def is_project(folder: Path) -> bool:
    """Return whether a folder looks like a project."""
    return any((folder / mark).exists() for mark in PROJECT_MARKS)


FileIdentity = tuple[int, int]
"""Device and inode."""


class FileInFolder(NamedTuple):
    """A file in a folder.

    Attributes:
        folder: The folder, by the name that the caller gave.
        path: The path of the file relative to the folder, in the spelling on disk.
    """

    folder: Path
    path: Path

    @property
    def file(self) -> Path:
        return self.folder / self.path


def read_file_identity(path: str | Path) -> FileIdentity | None:
    """Return the device and inode of a path, or None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def is_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths name the same file or folder."""
    return first == second or (
        (identity := read_file_identity(first)) is not None and identity == read_file_identity(second)
    )


def resolve_links(path: Path) -> Path:
    """Return the path without links. A path that does not exist, or whose links form a circle, is returned as it is."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def find_folder(file: Path | None, folders: Iterable[Path]) -> FileInFolder | None:
    """Return the innermost of `folders` that contains a file, with the path in it. Return None if no folder contains
    the file.

    A link to a file outside all folders belongs to the folder of its own name.
    """
    return _find_folder(file, resolve_links(file), list(folders)) if file else None


def list_file_names(file: Path, folders: Iterable[Path]) -> list[Path]:
    """Return the names of a file that ignore rules may match.

    They are its own name, its target if it is a link, and its name in the folder that contains it.
    """
    target = resolve_links(file)
    place = _find_folder(file, target, list(folders))
    return list(dict.fromkeys((Path(os.path.normpath(file)), target, *([place.file] if place else ()))))


def _find_folder(file: Path, target: Path, folders: list[Path]) -> FileInFolder | None:
    """Return the innermost folder of a file. `target` is the path of the file without links."""
    by_identity: dict[FileIdentity, Path] = {}
    for folder in folders:
        # if one folder has two names, the name that the path of the file begins with is used
        if (identity := read_file_identity(folder)) and (identity not in by_identity or file.is_relative_to(folder)):
            by_identity[identity] = folder
    for parent in (target, *target.parents):
        if (identity := read_file_identity(parent)) in by_identity and identity:
            folder = by_identity[identity]
            return FileInFolder(folder, Path(_spelling_on_disk(folder, target.relative_to(parent))))
    plain = Path(os.path.normpath(file))
    containing = [folder for folder in folders if plain.is_relative_to(folder)]
    if not containing:
        return None
    folder = max(containing, key=lambda folder: len(folder.parts))
    return FileInFolder(folder, plain.relative_to(folder))


def find_path_inside(file: Path, folder: Path) -> Path | None:
    """Return the path of a file relative to a folder, or None if the folder does not contain it."""
    place = find_folder(file, [folder])
    return place.path if place else None


def find_paths_inside(file: Path, folder: Path) -> set[Path]:
    """Return the paths of a file relative to a folder. A link has two: its target and its own name."""
    parent = find_path_inside(file.parent, folder)
    return {
        path for path in (find_path_inside(file, folder), parent / file.name if parent is not None else None) if path
    }


def find_outermost_folder(file: Path, folders: Iterable[Path]) -> Path | None:
    """Return the outermost parent in the path of a file that is one of `folders`, or None."""
    identities = {identity for folder in folders if (identity := read_file_identity(folder))}
    paths = set(folders)
    return next(
        (parent for parent in reversed(file.parents) if parent in paths or read_file_identity(parent) in identities),
        None,
    )


def find_files_shown_as(path: Path) -> list[Path]:
    """Return the files that a path may mean in which the client replaced bytes that are not UTF-8 with U+FFFD.

    The list is empty if the path has no U+FFFD.
    """
    candidates = [Path(path.anchor)]
    for part in path.parts[1:]:
        candidates = [
            folder / name
            for folder in candidates
            for name in (_names_shown_as(folder, part) if "\ufffd" in part else [part])
        ]
    return candidates if "\ufffd" in str(path) else []


def _names_shown_as(folder: Path, part: str) -> list[str]:
    return _list_names(folder, lambda name: os.fsencode(name).decode("utf-8", "replace") == part) or [part]


def _spelling_on_disk(folder: Path, inner: Path) -> str:
    """Return a relative path in the spelling on disk, if the file system ignores case."""
    if not _ignores_case(folder, inner):
        return str(inner)
    parts: list[str] = []
    for part in inner.parts:
        equal_names = _list_names(folder.joinpath(*parts), lambda name, part=part: _fold_case(name) == _fold_case(part))
        parts.append(equal_names[0] if len(equal_names) == 1 else part)
    return "/".join(parts)


def _ignores_case(folder: Path, inner: Path) -> bool:
    """Return whether the file system ignores case. It is tested with the first name that has letters."""
    for n, part in enumerate(inner.parts):
        if (other := part.swapcase()) != part:
            parent = folder.joinpath(*inner.parts[:n])
            return (identity := read_file_identity(parent / other)) is not None and identity == read_file_identity(
                parent / part
            )
    return False


def _fold_case(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _list_names(folder: Path, matches: Callable[[str], bool]) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if matches(name)]
    except (OSError, ValueError):
        return []
