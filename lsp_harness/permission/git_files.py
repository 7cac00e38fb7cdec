"""The repository of a folder, the files that it tracks without running git, and secrets that only its history has.

git itself lists the names of all files that a commit added. It runs with a limit of time, starts no program of the
repository, and its answer is kept until a reference changes.
"""

import os
import re
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.process.safe_git import SAFE_OPTIONS, safe_environment

MAX_INDEX_BYTES = 64 << 20
ENTRY_BYTES = 62
ODD_KEYS = re.compile(
    r"^\s*(worktree|path|ignorerevsfile|attributesfile|excludesfile|objectformat|splitindex)\s*=",
    re.IGNORECASE | re.MULTILINE,
)
"""Settings of a repository that name files of other places, or another format of the index."""
EXTENDED_FLAG, SUBMODULE_MODE, CHECKSUM_BYTES = 0x4000, 0o160000, 20
STRANGE_NAME = re.compile(r"[\s'\"\\*?\[]|^-")
"""Matches the names of which a shell or `xargs` makes other words or options."""


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The files in an index of git that matter for permissions, by their paths.

    Attributes:
        secrets: Those that may contain secrets by their names.
        strange: Those of whose names a shell makes other words.
        submodules: Folders that are repositories of their own.
        is_readable: Whether all entries could be read.
    """

    secrets: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    is_readable: bool = True


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


def find_git_folder(folder: str) -> str:
    """Return the folder with the index and the HEAD of the repository of a folder; empty if there is none."""
    repository = find_repository(folder)
    try:
        return _git_folder(repository) if repository else ""
    except OSError:
        return ""


def read_index(folder: str) -> IndexFiles:
    """Return what the index of the repository of a folder says about its files. Without an index it is empty."""
    place = find_git_folder(folder)
    if not place:
        return IndexFiles()
    index = Path(place) / "index"
    try:
        state = index.stat()
    except OSError:
        return IndexFiles()
    return _read_index(index, state.st_mtime_ns, state.st_size)


def common_folder(place: Path) -> Path:
    """Return the folder that a worktree shares with the other ones of its repository.

    Args:
        place: The folder with the index of the worktree.
    """
    try:
        return place / (place / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return place


def find_odd_settings(folder: str) -> str:
    """Return why git may show files of another place than the repository of a folder; empty if it does not."""
    repository = find_repository(folder)
    if not repository:
        return ""
    try:
        place = Path(_git_folder(repository))
        folders = (place, common_folder(place))
        if any((folder / "objects" / "info" / "alternates").exists() for folder in folders):
            return "the repository takes contents from another one"
        files = [folder / name for folder in folders for name in ("config", "config.worktree")]
        text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.exists())
    except OSError:
        return "the settings of the repository cannot be read"
    if found := ODD_KEYS.search(text):
        return f"the setting {found[1]} of the repository names another file"
    return ""


@lru_cache(maxsize=8)
def _read_index(index: Path, changed_ns: int, size: int) -> IndexFiles:
    """Return what an index says, whose state is a part of the question.

    The format is that of `Documentation/gitformat-index.txt` of git, versions 2 to 4.
    """
    secrets, strange, submodules = list[str](), list[str](), list[str]()
    try:
        data = index.read_bytes() if size <= MAX_INDEX_BYTES else b""
        if data[:4] != b"DIRC":
            return IndexFiles(is_readable=False)
        version, count = struct.unpack(">II", data[4:12])
        place = 12
        for name, mode, end in _read_entries(data, version, count):
            place = end
            if is_secret_path(name):
                secrets.append(name)
            if STRANGE_NAME.search(name):
                strange.append(name)
            if mode == SUBMODULE_MODE:
                submodules.append(name)
        # the rest of the files stands in another index, or folders stand for their files
        is_readable = (
            not {b"link", b"sdir"} & set(_read_extensions(data, place)) and place <= len(data) - CHECKSUM_BYTES
        )
    except (OSError, struct.error, IndexError, ValueError):
        is_readable = False
    return IndexFiles(tuple(secrets), tuple(strange), tuple(submodules), is_readable)


def _read_extensions(data: bytes, place: int) -> Iterator[bytes]:
    """Yield the names of the parts of an index behind its entries."""
    while place + 8 <= len(data) - CHECKSUM_BYTES:
        yield data[place : place + 4]
        place += 8 + struct.unpack(">I", data[place + 4 : place + 8])[0]


def _git_folder(repository: str) -> str:
    """Return the folder of a repository, which a file `.git` of a worktree or submodule names."""
    if os.path.isdir(repository):
        return repository
    text = Path(repository).read_text(encoding="utf-8", errors="replace").strip()
    return os.path.join(os.path.dirname(repository), text.removeprefix("gitdir:").strip())


def _read_entries(data: bytes, version: int, count: int) -> Iterator[tuple[str, int, int]]:
    """Yield the path and the mode of each entry of an index, and the place behind it."""
    place, name = 12, b""
    for _ in range(count):
        start = place
        mode = struct.unpack(">I", data[place + 24 : place + 28])[0]
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
        yield name.decode("utf-8", "replace"), mode, place


def _read_number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length as git writes it, and the place after it."""
    byte = data[place]
    number = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        number = ((number + 1) << 7) | (byte & 0x7F)
    return number, place + 1


LIMIT_S = 1.5
"""Longest time of the search. It is over long before in most repositories."""
MAX_REFERENCES = 5_000
State = tuple[tuple[str, int, int], ...]


def history_objection(folder: str) -> str:
    """Return why the history of the repository of a folder may show secrets; empty if it does not."""
    place = find_git_folder(folder)
    if not place or not (common_folder(Path(place)) / "objects").is_dir():
        return ""
    state = tuple(_read_states(Path(place)))
    if len(state) > MAX_REFERENCES:
        return "the repository has too many references to look for secrets in all of them"
    return _search(folder, state)


@lru_cache(maxsize=8)
def _search(folder: str, state: State) -> str:
    """Return the objection for a state of the references, which is a part of the question."""
    # without patterns for names, git takes a tenth of the time; each file was added by some commit
    command = ["git", *SAFE_OPTIONS, "-c", "log.showRoot=true", "log", "--all", "--reflog", "-c", "--diff-filter=A"]
    command += ["--no-renames", "--format=", "--name-only", "-z"]
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            env=safe_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output, problem = error.stdout or b"", "the history of git is too long to look for secrets in all of it"
    except OSError:
        return ""
    else:
        output, problem = result.stdout, "the history of git cannot be read" if result.returncode else ""
    for name in output.decode("utf-8", "replace").replace("\n", "\0").split("\0"):
        if is_secret_path(name):
            return f"the history of git keeps {name}, which may contain secrets"
    return problem


def _read_states(place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the names, times and sizes of the files that change with the references of a repository."""
    common = common_folder(place)
    for path in (place / "HEAD", place / "logs" / "HEAD", common / "packed-refs", common / "reftable" / "tables.list"):
        yield _read_state(path)
    count = 0
    for base in (common / "refs", common / "logs" / "refs"):
        for folder, _, names in os.walk(base):
            for name in (".", *names):
                count += 1
                if count > MAX_REFERENCES:
                    return
                yield _read_state(Path(folder, name))


def _read_state(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size
