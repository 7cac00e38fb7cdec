"""The folders of this user's files: state (logs, sessions), cache (probe results, indexes) and runtime (sockets).

`LSP_HARNESS_HOME` puts all three into one folder, for tests and portable installs. A folder cannot be used if there is
no home folder, if it belongs to another user, or if it cannot be created. Then a private folder for temporary files
replaces it, and one warning says so. A folder that can only be read is still used, because its files can be read.
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from lsp_harness.disk.file_reading import describe_system_error, read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import DISK_FULL_ERRORS, write_own_file
from lsp_harness.disk.ownership import is_own, is_private, user_number
from lsp_harness.disk.temporary_place import APP, choose_temporary_place
from lsp_harness.errors import ConfigError, FileError


@dataclass(frozen=True, slots=True)
class FolderKind:
    """A kind of folder: its name below `LSP_HARNESS_HOME`, and the environment variable that moves it."""

    folder: str
    variable: str

    @property
    def advice(self) -> str:
        """Return what the user can do if the folder cannot be used."""
        variable = "LSP_HARNESS_HOME" if os.environ.get("LSP_HARNESS_HOME") else self.variable
        return f"set {variable} to a folder of yours that can be written"


STATE = FolderKind("state", "XDG_STATE_HOME")
CACHE = FolderKind("cache", "XDG_CACHE_HOME")
RUNTIME = FolderKind("run", "XDG_RUNTIME_DIR")


def state_folder() -> Path:
    """Return the folder of logs and session records."""
    return _folder(STATE, find_platform_folder("user_state_dir"))


def sessions_folder() -> Path:
    """Return the folder of all sessions: `sessions` in `LSP_HARNESS_HOME` or in the state folder."""
    home = os.environ.get("LSP_HARNESS_HOME")
    state = state_folder()
    # a replacement of the state folder, such as a private one for temporary files, also replaces the home
    is_replaced = describe_replacement(STATE) != ""
    return (Path(home).absolute() if home and not is_replaced else state) / "sessions"


def cache_folder() -> Path:
    """Return the folder of files that can be created again."""
    return _folder(CACHE, find_platform_folder("user_cache_dir"))


def runtime_folder() -> Path:
    """Return the folder of sockets. Raise ConfigError if another user may have created it."""
    home, base = os.environ.get("LSP_HARNESS_HOME"), os.environ.get("XDG_RUNTIME_DIR")
    if home:
        path = Path(home).absolute() / RUNTIME.folder
        if problem := _privacy_problem(path):
            return _use_replacement(RUNTIME, make_temporary_folder(), problem)
        _replacements.pop(RUNTIME, None)
        return path
    if not base:
        return make_temporary_folder()
    path = Path(base) / APP
    if problem := _runtime_problem(Path(base), path) or _privacy_problem(path):
        return _use_replacement(RUNTIME, make_temporary_folder(), problem)
    _replacements.pop(RUNTIME, None)
    return path


def list_own_folders() -> list[Path]:
    """Return the folders in which the program writes while it works, for callers that follow changes of files."""
    if home := os.environ.get("LSP_HARNESS_HOME"):
        return [Path(home).absolute()]
    folders = (find_platform_folder("user_state_dir"), find_platform_folder("user_cache_dir"))
    return [folder for folder in (*folders, choose_temporary_folder()) if folder]


def choose_temporary_folder() -> Path:
    """Return the folder of this user for temporary files. There may be none yet."""
    return choose_temporary_place(os.environ)


def make_temporary_folder() -> Path:
    """Return a private folder for temporary files. Raise ConfigError if another user may have created it."""
    return make_private_folder(choose_temporary_folder())


def make_private_folder(path: Path) -> Path:
    """Create a folder that only this user can access, and return it. Raise ConfigError if that is not possible."""
    if problem := _privacy_problem(path):
        removal = f"remove {path}, or " if os.path.lexists(path) else ""
        raise ConfigError(f"{problem}; {removal}set TMPDIR to a folder of yours that can be written")
    return path


def warn_not_saved(what: str, kind: FolderKind, path: Path, error: BaseException) -> None:
    """Warn that `what` could not be saved. The program goes on without it."""
    warn_once(f"{what} is not kept: {describe_write_failure(kind, path, error)}")


def keep_entry(file: Path, key: str, entry: Mapping[str, object], what: str) -> None:
    """Write an entry into a JSON table of the cache, beside those that the table has. A damaged table begins anew.

    Args:
        file: The file of the table.
        key: The key of the entry.
        entry: The entry.
        what: What is lost if the file cannot be written, for a warning.
    """
    try:
        stored = dict(json.loads(read_text(file)))
    except (FileError, ValueError, TypeError):
        stored = {}
    try:
        write_own_file(file, json.dumps(stored | {key: entry}).encode())
    except OSError as error:
        warn_not_saved(what, CACHE, file, error)


def describe_write_failure(kind: FolderKind, path: Path, error: BaseException) -> str:
    """Return a message that says why a file cannot be written, and what to do about it."""
    if isinstance(error, IsADirectoryError):
        # the error names the folder that is in the way, which may be below `path`
        return f"{error.filename or path} is a folder, where a file must be; remove it"
    # SQLite does not always distinguish a full disk from a missing permission
    full = error.errno in DISK_FULL_ERRORS if isinstance(error, OSError) else True
    remedy = "free some room there, or " if full else ""
    return f"{path} cannot be written ({describe_system_error(error)}); {remedy}{kind.advice}"


def describe_replacement(kind: FolderKind) -> str:
    """Return the warning if another folder replaced the usual one at the last call, or an empty text."""
    return _replacements.get(kind, "")


_replacements: dict[FolderKind, str] = {}


def _privacy_problem(path: Path) -> str:
    """Create a folder if it does not exist. Return why it is not private to this user; empty if it is."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({describe_system_error(error)})"
    if stat.S_ISDIR(info.st_mode) and is_private(path, info):
        return ""
    return f"{path} must be a directory of yours with mode 0700"


def find_platform_folder(which: Literal["user_state_dir", "user_cache_dir", "user_config_dir"]) -> Path | None:
    """Return the folder of the platform for such files of this user.

    Returns:
        None if there is no home folder. A relative path counts as none, because anybody may have written the files in
        the current folder.
    """
    try:
        path = Path(getattr(platformdirs, which)(APP, appauthor=False))
    except RuntimeError:
        return None
    return path if path.is_absolute() else None


def _folder(kind: FolderKind, default: Path | None) -> Path:
    home = os.environ.get("LSP_HARNESS_HOME")
    path = Path(home).absolute() / kind.folder if home else default
    if problem := _folder_problem(path) if path else f"there is no home folder for the {kind.folder} of {APP}":
        return _use_replacement(kind, make_private_folder(make_temporary_folder() / kind.folder), problem)
    assert path
    _replacements.pop(kind, None)
    return path


def _folder_problem(path: Path) -> str:
    """Create a folder if it does not exist. Return why it cannot be used; empty if it can."""
    if owner := _owner_before_sudo(path):
        return f"{path} is in a folder of the user {owner}, who runs this with sudo"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        return f"{path} cannot be made ({describe_system_error(error)})"
    return "" if os.access(path, os.R_OK | os.X_OK) else f"{path} belongs to somebody else"


def _owner_before_sudo(path: Path) -> str:
    """Return the id of the user who called sudo if the folder belongs to that user; empty otherwise."""
    user = os.environ.get("SUDO_UID", "")
    if user_number() != 0 or user in ("", "0"):
        return ""
    for folder in (path, *path.parents):
        try:
            return user if str(folder.stat().st_uid) == user else ""
        except OSError:
            continue
    return ""


def _runtime_problem(base: Path, path: Path) -> str:
    """Return why a runtime folder cannot contain sockets; empty if it can."""
    try:
        is_ours = is_own(base.stat())
    except (OSError, ValueError) as error:
        return f"{base} cannot be used ({describe_system_error(error)})"
    # root can write in every folder, but the owner could neither use nor remove the files of root there
    if not is_ours:
        return f"{base} belongs to another user"
    return "" if os.access(path if path.is_dir() else base, os.W_OK) else f"{base} cannot be written"


def _use_replacement(kind: FolderKind, path: Path, problem: str) -> Path:
    """Warn that `path` replaces the usual folder, and return it."""
    _replacements[kind] = f"{problem}; {path} is used instead: {kind.advice}"
    warn_once(_replacements[kind])
    return path
