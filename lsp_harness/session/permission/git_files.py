"""The repository of a folder, and the files that it tracks, without running git."""

import os
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lsp_harness.files.secrets import is_secret_path

MAX_INDEX_BYTES = 64 << 20
ENTRY_BYTES = 62
ODD_KEYS = re.compile(
    r"^\s*(worktree|path|ignorerevsfile|attributesfile|excludesfile|objectformat|splitindex)\s*=",
    re.IGNORECASE | re.MULTILINE,
)
"""Settings of a repository that name files of other places, or another format of the index."""
EXTENDED_FLAG, NAME_MASK = 0x4000, 0x0FFF


def find_repository(folder: str) -> str:
    """Return the folder of the repository that git would use in a folder; empty if there is none."""
    place = Path(folder)
    for candidate in (place, *place.parents):
        if (candidate / ".git").exists():
            return str(candidate / ".git")
        if all((candidate / name).exists() for name in ("HEAD", "objects", "refs")):
            # git takes such a folder for a repository without a work tree, and reads its settings
            return str(candidate)
    return ""


def find_tracked_secrets(folder: str) -> tuple[str, ...]:
    """Return the files with secrets that the repository of a folder keeps, by their names.

    Nothing is found if its index cannot be read.
    """
    repository = find_repository(folder)
    if not repository:
        return ()
    try:
        index = Path(_git_folder(repository)) / "index"
        state = index.stat()
    except OSError:
        return ()
    return _read_secrets(index, state.st_mtime_ns, state.st_size)


def find_odd_settings(folder: str) -> str:
    """Return why git may show files of another place than the repository of a folder; empty if it does not."""
    repository = find_repository(folder)
    if not repository:
        return ""
    try:
        place = Path(_git_folder(repository))
        if (place / "objects" / "info" / "alternates").exists():
            return "the repository takes contents from another one"
        text = (place / "config").read_text(encoding="utf-8", errors="replace") if (place / "config").exists() else ""
    except OSError:
        return "the settings of the repository cannot be read"
    if found := ODD_KEYS.search(text):
        return f"the setting {found[1]} of the repository names another file"
    return ""


@lru_cache(maxsize=8)
def _read_secrets(index: Path, changed_ns: int, size: int) -> tuple[str, ...]:
    """Return the files with secrets in an index, whose state is a part of the question."""
    return tuple(name for name in _list_files(index, size) if is_secret_path(name))


def _list_files(index: Path, size: int) -> Iterator[str]:
    """Yield the paths in an index of git, as far as it can be read.

    The format is that of `Documentation/gitformat-index.txt` of git, versions 2 to 4.
    """
    try:
        data = index.read_bytes() if size <= MAX_INDEX_BYTES else b""
        if data[:4] != b"DIRC":
            return
        version, count = struct.unpack(">II", data[4:12])
        yield from _entries(data, version, count)
    except (OSError, struct.error, IndexError, ValueError):
        return


def _git_folder(repository: str) -> str:
    """Return the folder of a repository, which a file `.git` of a worktree or submodule names."""
    if os.path.isdir(repository):
        return repository
    text = Path(repository).read_text(encoding="utf-8", errors="replace").strip()
    return os.path.join(os.path.dirname(repository), text.removeprefix("gitdir:").strip())


def _entries(data: bytes, version: int, count: int) -> Iterator[str]:
    place, name = 12, b""
    for _ in range(count):
        start = place
        flags = struct.unpack(">H", data[place + ENTRY_BYTES - 2 : place + ENTRY_BYTES])[0]
        place += ENTRY_BYTES + (2 if version >= 3 and flags & EXTENDED_FLAG else 0)
        if version == 4:
            removed, place = _read_number(data, place)
            end = data.index(b"\0", place)
            name = name[: len(name) - removed] + data[place:end]
            place = end + 1
        else:
            end = data.index(b"\0", place)
            name = data[place:end]
            place = start + (end - start + 8) // 8 * 8
        yield name.decode("utf-8", "replace")


def _read_number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length as git writes it, and the place after it."""
    byte = data[place]
    number = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, place + 1
