"""Where this user's files live: state (logs, sessions), cache (probe results, indexes) and runtime (sockets).

`LSP_HARNESS_HOME` puts all three under one directory, which tests and portable installs use. Where a folder cannot be used
because there is no home, it belongs to somebody else, or it cannot be made, a private folder for temporary files takes its
place, and a warning says so once. A folder that is there and can only be read stays: what it holds can still be read.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from lsp_harness.disk.file_reading import system_message
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import DISK_FULL_ERRORS
from lsp_harness.errors import ConfigError

APP = "lsp-harness"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of files: the name of its folder below `LSP_HARNESS_HOME`, and the variable that moves it."""

    folder: str
    variable: str

    @property
    def advice(self) -> str:
        variable = "LSP_HARNESS_HOME" if os.environ.get("LSP_HARNESS_HOME") else self.variable
        return f"set {variable} to a folder of yours that can be written"


STATE = Kind("state", "XDG_STATE_HOME")
CACHE = Kind("cache", "XDG_CACHE_HOME")
RUNTIME = Kind("run", "XDG_RUNTIME_DIR")


def state() -> Path:
    """Logs and session records; kept."""
    return _folder(STATE, usual("user_state_dir"))


def cache() -> Path:
    """What can be made again."""
    return _folder(CACHE, usual("user_cache_dir"))


def runtime() -> Path:
    """Sockets. Raises ConfigError where somebody else could have made the folder."""
    home, base = os.environ.get("LSP_HARNESS_HOME"), os.environ.get("XDG_RUNTIME_DIR")
    if home:
        path = Path(home).absolute() / RUNTIME.folder
        if problem := _not_private(path):
            return _instead(RUNTIME, temporary(), problem)
        _replaced.pop(RUNTIME, None)
        return path
    if not base:
        return temporary()
    path = Path(base) / APP
    if problem := _unfit(Path(base), path) or _not_private(path):
        return _instead(RUNTIME, temporary(), problem)
    _replaced.pop(RUNTIME, None)
    return path


def temporary() -> Path:
    """A folder of this user's for temporary files. Raises ConfigError where somebody else could have made it."""
    # tempfile.gettempdir() would write a file to find out whether it can
    return private(Path(os.environ.get("TMPDIR") or "/tmp") / f"{APP}-{os.getuid()}")


def private(path: Path) -> Path:
    """Make a folder for this user alone. Raises ConfigError where that is not so."""
    if problem := _not_private(path):
        other = f"remove {path}, or " if os.path.lexists(path) else ""
        raise ConfigError(f"{problem}; {other}set TMPDIR to a folder of yours that can be written")
    return path


def unkept(what: str, kind: Kind, path: Path, error: BaseException) -> None:
    """Warn that something which is only remembered could not be written; the work goes on."""
    warn_once(f"{what} is not kept: {not_written(kind, path, error)}")


def not_written(kind: Kind, path: Path, error: BaseException) -> str:
    """Say that a file of ours cannot be written, why, and what to do about this very reason."""
    if isinstance(error, IsADirectoryError):
        # the error names what is in the way, which may lie below the folder that is asked about
        return f"{error.filename or path} is a folder, where a file must be; remove it"
    # a database does not always tell a full disk from a missing permission
    full = error.errno in DISK_FULL_ERRORS if isinstance(error, OSError) else True
    remedy = "free some room there, or " if full else ""
    return f"{path} cannot be written ({system_message(error)}); {remedy}{kind.advice}"


def replaced(kind: Kind) -> str:
    """What was said when another folder took the place of the usual one, the last time it was asked for; empty where none did."""
    return _replaced.get(kind, "")


_replaced: dict[Kind, str] = {}


def _not_private(path: Path) -> str:
    """Why a folder is not for this user alone, after it was made where there was none; empty where it is."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({system_message(error)})"
    mine = stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o077
    return "" if mine else f"{path} must be a directory of yours with mode 0700"


def usual(which: Literal["user_state_dir", "user_cache_dir", "user_config_dir"]) -> Path | None:
    """A folder where the system has such files of this user; None where there is no home folder. A path that begins at the
    current folder is none: anybody may have written what is there."""
    try:
        path = Path(getattr(platformdirs, which)(APP, appauthor=False))
    except RuntimeError:
        return None
    return path if path.is_absolute() else None


def _folder(kind: Kind, usual: Path | None) -> Path:
    home = os.environ.get("LSP_HARNESS_HOME")
    path = Path(home).absolute() / kind.folder if home else usual
    if problem := _unusable(path) if path else f"there is no home folder for the {kind.folder} of {APP}":
        return _instead(kind, private(temporary() / kind.folder), problem)
    assert path
    _replaced.pop(kind, None)
    return path


def _unusable(path: Path) -> str:
    """Why a folder cannot be used, after it was made where there was none; empty where it can."""
    if owner := _owner_before_sudo(path):
        return f"{path} is in a folder of the user {owner}, who runs this with sudo"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({system_message(error)})"
    return "" if os.access(path, os.R_OK | os.X_OK) else f"{path} belongs to somebody else"


def _owner_before_sudo(path: Path) -> str:
    """The user that sudo was called by, where files of root would be made among theirs: they could not use them."""
    user = os.environ.get("SUDO_UID", "")
    if os.getuid() != 0 or user in ("", "0"):
        return ""
    for folder in (path, *path.parents):
        try:
            return user if str(folder.stat().st_uid) == user else ""
        except OSError:
            continue
    return ""


def _unfit(base: Path, path: Path) -> str:
    """Why no sockets are made in a runtime folder; empty where they are."""
    try:
        owner = base.stat().st_uid
    except (OSError, ValueError) as error:
        return f"{base} cannot be used ({system_message(error)})"
    # for root every folder can be written: what it makes in one of another user that user could neither use nor remove
    if owner != os.getuid():
        return f"{base} belongs to another user"
    return "" if os.access(path if path.is_dir() else base, os.W_OK) else f"{base} cannot be written"


def _instead(kind: Kind, path: Path, problem: str) -> Path:
    _replaced[kind] = f"{problem}; {path} is used instead: {kind.advice}"
    warn_once(_replaced[kind])
    return path
