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

from lsp_harness.disk.file_reading import reason
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import FULL
from lsp_harness.errors import ConfigError

APP = "lsp-harness"


@dataclass(frozen=True, slots=True)
class FolderKind:
    """A kind of files: the name of its folder below `LSP_HARNESS_HOME`, and the variable that moves it."""

    folder: str
    variable: str

    @property
    def advice(self) -> str:
        variable = "LSP_HARNESS_HOME" if os.environ.get("LSP_HARNESS_HOME") else self.variable
        return f"set {variable} to a folder of yours that can be written"


STATE = FolderKind("state_folder", "XDG_STATE_HOME")
CACHE = FolderKind("cache_folder", "XDG_CACHE_HOME")
RUNTIME = FolderKind("run", "XDG_RUNTIME_DIR")


def state_folder() -> Path:
    """Logs and session records; kept."""
    return _folder(STATE, platform_folder("user_state_dir"))


def cache_folder() -> Path:
    """What can be made again."""
    return _folder(CACHE, platform_folder("user_cache_dir"))


def runtime_folder() -> Path:
    """Sockets. Raises ConfigError where somebody else could have made the folder."""
    home, base = os.environ.get("LSP_HARNESS_HOME"), os.environ.get("XDG_RUNTIME_DIR")
    if home:
        path = Path(home).absolute() / RUNTIME.folder
        if problem := _privacy_problem(path):
            return _use_replacement(RUNTIME, temporary_folder(), problem)
        _replacements.pop(RUNTIME, None)
        return path
    if not base:
        return temporary_folder()
    path = Path(base) / APP
    if problem := _runtime_problem(Path(base), path) or _privacy_problem(path):
        return _use_replacement(RUNTIME, temporary_folder(), problem)
    _replacements.pop(RUNTIME, None)
    return path


def temporary_folder() -> Path:
    """A folder of this user's for temporary files. Raises ConfigError where somebody else could have made it."""
    # tempfile.gettempdir() would write a file to find out whether it can
    return make_private_folder(Path(os.environ.get("TMPDIR") or "/tmp") / f"{APP}-{os.getuid()}")


def make_private_folder(path: Path) -> Path:
    """Make a folder for this user alone. Raises ConfigError where that is not so."""
    if problem := _privacy_problem(path):
        other = f"remove {path}, or " if os.path.lexists(path) else ""
        raise ConfigError(f"{problem}; {other}set TMPDIR to a folder of yours that can be written")
    return path


def warn_not_saved(what: str, kind: FolderKind, path: Path, error: BaseException) -> None:
    """Warn that something which is only remembered could not be written; the work goes on."""
    warn_once(f"{what} is not kept: {describe_write_failure(kind, path, error)}")


def describe_write_failure(kind: FolderKind, path: Path, error: BaseException) -> str:
    """Say that a file of ours cannot be written, why, and what to do about this very reason."""
    if isinstance(error, IsADirectoryError):
        # the error names what is in the way, which may lie below the folder that is asked about
        return f"{error.filename or path} is a folder, where a file must be; remove it"
    # a database does not always tell a full disk from a missing permission
    full = error.errno in FULL if isinstance(error, OSError) else True
    remedy = "free some room there, or " if full else ""
    return f"{path} cannot be written ({reason(error)}); {remedy}{kind.advice}"


def replacement_message(kind: FolderKind) -> str:
    """What was said when another folder took the place of the usual one, the last time it was asked for; empty where none did."""
    return _replacements.get(kind, "")


_replacements: dict[FolderKind, str] = {}


def _privacy_problem(path: Path) -> str:
    """Why a folder is not for this user alone, after it was made where there was none; empty where it is."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({reason(error)})"
    mine = stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o077
    return "" if mine else f"{path} must be a directory of yours with mode 0700"


def platform_folder(which: Literal["user_state_dir", "user_cache_dir", "user_config_dir"]) -> Path | None:
    """A folder where the system has such files of this user; None where there is no home folder. A path that begins at the
    current folder is none: anybody may have written what is there."""
    try:
        path = Path(getattr(platformdirs, which)(APP, appauthor=False))
    except RuntimeError:
        return None
    return path if path.is_absolute() else None


def _folder(kind: FolderKind, default: Path | None) -> Path:
    home = os.environ.get("LSP_HARNESS_HOME")
    path = Path(home).absolute() / kind.folder if home else default
    if problem := _folder_problem(path) if path else f"there is no home folder for the {kind.folder} of {APP}":
        return _use_replacement(kind, make_private_folder(temporary_folder() / kind.folder), problem)
    assert path
    _replacements.pop(kind, None)
    return path


def _folder_problem(path: Path) -> str:
    """Why a folder cannot be used, after it was made where there was none; empty where it can."""
    if owner := _owner_before_sudo(path):
        return f"{path} is in a folder of the user {owner}, who runs this with sudo"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({reason(error)})"
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


def _runtime_problem(base: Path, path: Path) -> str:
    """Why no sockets are made in a runtime folder; empty where they are."""
    try:
        owner = base.stat().st_uid
    except (OSError, ValueError) as error:
        return f"{base} cannot be used ({reason(error)})"
    # for root every folder can be written: what it makes in one of another user that user could neither use nor remove
    if owner != os.getuid():
        return f"{base} belongs to another user"
    return "" if os.access(path if path.is_dir() else base, os.W_OK) else f"{base} cannot be written"


def _use_replacement(kind: FolderKind, path: Path, problem: str) -> Path:
    _replacements[kind] = f"{problem}; {path} is used instead: {kind.advice}"
    warn_once(_replacements[kind])
    return path
