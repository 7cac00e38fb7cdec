"""Where this user's files live: state (logs, sessions), cache (probe results, models) and runtime (sockets).

`LSP_HARNESS_HOME` puts all three under one directory, which tests and portable installs use.
"""

import os
import stat
from pathlib import Path

import platformdirs

from lsp_harness.errors import ConfigError

APP = "lsp-harness"


def _own(path: Path) -> Path:
    """The directory, made for this user alone."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def state() -> Path:
    """Logs and session records; kept."""
    home = os.environ.get("LSP_HARNESS_HOME")
    return _own(Path(home) / "state" if home else Path(platformdirs.user_state_dir(APP)))


def cache() -> Path:
    """What can be made again."""
    home = os.environ.get("LSP_HARNESS_HOME")
    return _own(Path(home) / "cache" if home else Path(platformdirs.user_cache_dir(APP)))


def runtime() -> Path:
    """Sockets. Refused when somebody else could have made it."""
    home = os.environ.get("LSP_HARNESS_HOME")
    base = os.environ.get("XDG_RUNTIME_DIR")
    if home:
        path = Path(home) / "run"
    elif base and os.access(base, os.W_OK):
        path = Path(base) / APP
    else:
        # tempfile.gettempdir() would write a file to find out whether it can
        path = Path(os.environ.get("TMPDIR", "/tmp")) / f"{APP}-{os.getuid()}"
    _own(path)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise ConfigError(f"{path} must be a directory of yours with mode 0700; remove it or set XDG_RUNTIME_DIR")
    return path
