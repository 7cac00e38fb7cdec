"""Which folder a file lies in, by what both are on disk: links, `..` and other spellings of a name lead to the same place.

Folders are compared by device and inode, so that a file system that takes `A.py` and `a.py` for one does not hide that.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

FileIdentity = tuple[int, int]


class FileInFolder(NamedTuple):
    """A file in a folder: `folder` as whoever opened it named it, and the path from there on, as it is on disk."""

    folder: Path
    path: Path

    @property
    def file(self) -> Path:
        return self.folder / self.path


def file_identity(path: str | Path) -> FileIdentity | None:
    """Device and inode; None for what is not there."""
    try:
        told = os.stat(path)
    except (OSError, ValueError):
        return None
    return told.st_dev, told.st_ino


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths name the same file or folder."""
    return one == other or ((found := file_identity(one)) is not None and found == file_identity(other))


def resolve_links(path: Path) -> Path:
    """Where links lead; of what is not there, and of links that lead in a circle, the path itself."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def find_folder(file: Path | None, folders: Iterable[Path]) -> FileInFolder | None:
    """The innermost of the folders that a file lies in; None where it lies in none.

    A link that leads out of every folder lies where it is named.
    """
    return _placed(file, resolve_links(file), list(folders)) if file else None


def file_names(file: Path, folders: Iterable[Path]) -> list[Path]:
    """The names of a file that rules may be about: its own, the one that links lead to, and the one below the folder it lies in."""
    there = resolve_links(file)
    place = _placed(file, there, list(folders))
    return list(dict.fromkeys((Path(os.path.normpath(file)), there, *([place.file] if place else ()))))


def _placed(file: Path, there: Path, named: list[Path]) -> FileInFolder | None:
    """`there` is where links lead."""
    by_identity: dict[FileIdentity, Path] = {}
    for folder in named:
        # of two names of one folder the one that the file is named by
        if (found := file_identity(folder)) and (found not in by_identity or file.is_relative_to(folder)):
            by_identity[found] = folder
    for above in (there, *there.parents):
        if (found := file_identity(above)) in by_identity and found:
            folder = by_identity[found]
            return FileInFolder(folder, Path(_spelled(folder, there.relative_to(above))))
    plain = Path(os.path.normpath(file))
    around = [folder for folder in named if plain.is_relative_to(folder)]
    if not around:
        return None
    folder = max(around, key=lambda each: len(each.parts))
    return FileInFolder(folder, plain.relative_to(folder))


def path_inside(file: Path, folder: Path) -> Path | None:
    """The path of a file from a folder on; None where it does not lie in it."""
    found = find_folder(file, [folder])
    return found.path if found else None


def paths_inside(file: Path, folder: Path) -> set[Path]:
    """The paths of a file from a folder on: where it leads, and for a link also its own name."""
    named = path_inside(file.parent, folder)
    return {path for path in (path_inside(file, folder), named / file.name if named is not None else None) if path}


def outermost_folder(file: Path, folders: Iterable[Path]) -> Path | None:
    """The first folder on the way to a file, as the file's own path names it, that is one of these."""
    wanted = {found for folder in folders if (found := file_identity(folder))}
    named = set(folders)
    return next((up for up in reversed(file.parents) if up in named or file_identity(up) in wanted), None)


def files_shown_as(path: Path) -> list[Path]:
    """The files that a path means whose client has put U+FFFD for bytes that are not UTF-8."""
    found = [Path(path.anchor)]
    for part in path.parts[1:]:
        found = [
            folder / name for folder in found for name in (_shown_as(folder, part) if "\ufffd" in part else [part])
        ]
    return found if "\ufffd" in str(path) else []


def _shown_as(folder: Path, part: str) -> list[str]:
    return _listed(folder, lambda name: os.fsencode(name).decode("utf-8", "replace") == part) or [part]


def _spelled(folder: Path, inner: Path) -> str:
    """A path in the spelling that is on disk, where the file system takes others for the same."""
    if not _folds(folder, inner):
        return str(inner)
    parts: list[str] = []
    for part in inner.parts:
        alike = _listed(folder.joinpath(*parts), lambda name, part=part: _folded(name) == _folded(part))
        parts.append(alike[0] if len(alike) == 1 else part)
    return "/".join(parts)


def _folds(folder: Path, inner: Path) -> bool:
    """Whether the file system takes a name with the other case for the same: asked of the first name that has letters."""
    for n, part in enumerate(inner.parts):
        if (other := part.swapcase()) != part:
            at = folder.joinpath(*inner.parts[:n])
            return (found := file_identity(at / other)) is not None and found == file_identity(at / part)
    return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _listed(folder: Path, wanted: Callable[[str], bool]) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if wanted(name)]
    except (OSError, ValueError):
        return []
