"""The state of a file in a checkpoint: its mode, its content as a hash, and its times."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from lsp_harness.disk.opening import NO_WAIT, READING, open_unlinked
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.secrets import is_secret_path
from lsp_harness.files.walk import walk

MAX_FILE_BYTES = 2 * 1024 * 1024
"""Maximum size of a file whose content is saved."""
SWAP_FOLDER = ".lsp-harness-{}.tmp"
"""The name of a folder in which files are while a restoration changes them."""
CLOCK_MARGIN_NS = 2_000_000_000
"""Files that changed so shortly before a checkpoint may change again without another time."""


class FileState(NamedTuple):
    """The state of a file.

    Attributes:
        mode: Type and mode, as in `st_mode`. It is 0 for a file that does not exist.
        digest: The id that git gives to the content. It is empty if the content was not read.
        size: The size in bytes.
        mtime: The modification time in nanoseconds.
        ctime: The time of the last change of the content or the mode, in nanoseconds.
        is_saved: Whether the content is in the store.
    """

    mode: int = 0
    digest: str = ""
    size: int = 0
    mtime: int = 0
    ctime: int = 0
    is_saved: bool = False

    @property
    def is_absent(self) -> bool:
        """True if there is no file."""
        return not self.mode

    @property
    def is_link(self) -> bool:
        """True if it is a symbolic link, whose content is its target."""
        return stat.S_ISLNK(self.mode)

    def is_same(self, other: "FileState") -> bool:
        """Return whether two states have the same mode and content.

        If the content of one was not read, the sizes and times decide.
        """
        if self.mode != other.mode or self.is_absent:
            return self.mode == other.mode
        if self.digest and other.digest:
            return self.digest == other.digest
        return (self.size, self.mtime) == (other.size, other.mtime)

    def is_untouched(self, other: "FileState", since_ns: int) -> bool:
        """Return whether the times say that nothing has changed since `other` was read at `since_ns`."""
        return self[2:5] == other[2:5] and self.mode == other.mode and self.ctime < since_ns - CLOCK_MARGIN_NS


ABSENT = FileState()
Listing = Mapping[str, FileState]
"""Path relative to the root → state."""


def content_digest(data: bytes) -> str:
    """Return the id that git gives to a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def stat_state(file: Path) -> FileState:
    """Return the state of a file without its content."""
    try:
        status = os.lstat(file)
    except (OSError, ValueError):
        return ABSENT
    return FileState(status.st_mode, "", status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def may_be_saved(path: str, state: FileState) -> bool:
    """Return whether the content of a file may be in a checkpoint: not that of a secret, large or special file."""
    if state.is_link:
        return True
    return stat.S_ISREG(state.mode) and state.size <= MAX_FILE_BYTES and not is_secret_path(path)


def read_content(file: Path, state: FileState) -> bytes:
    """Read the content of a file, or the target of a link. Raises OSError."""
    if state.is_link:
        return os.fsencode(os.readlink(file))
    descriptor = open_unlinked(file, READING | NO_WAIT)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        return opened.read(MAX_FILE_BYTES + 1)


def read_state(root: Path, path: str) -> FileState:
    """Return the state of a file with the hash of its content, if the content may be saved."""
    state = stat_state(root / path)
    if not may_be_saved(path, state):
        return state
    try:
        return state._replace(digest=content_digest(read_content(root / path, state)))
    except OSError:
        return state


def list_folder(root: Path, excluded: Path, deadline: float) -> tuple[dict[str, FileState], bool]:
    """Return the files of a folder that are not ignored, without their contents, and whether these are all.

    Args:
        root: The folder.
        excluded: A folder of our own, whose files are left out.
        deadline: The time of `monotonic` at which the listing stops.
    """
    states: dict[str, FileState] = {}
    for path in _walk_paths(root):
        if monotonic() > deadline:
            return states, False
        file = root / path
        if file.is_relative_to(excluded):
            continue
        state = stat_state(file)
        if stat.S_ISREG(state.mode) or state.is_link:
            states[path] = state
    return states, True


def _walk_paths(root: Path) -> Iterator[str]:
    start, end = SWAP_FOLDER.split("{}")
    for entry in walk(root, IgnoreFiles([root]), with_links=True):
        if not (entry.path.startswith(start) and entry.path.partition("/")[0].endswith(end)):
            yield entry.path
