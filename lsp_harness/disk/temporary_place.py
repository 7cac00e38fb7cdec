"""The place for files of this user that are needed only as long as programs run, such as sockets."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

APP = "lsp-harness"


def choose_temporary_place(environment: Mapping[str, str]) -> Path:
    """Return the folder of this user for temporary files. There may be none yet.

    On Windows it is in the profile of the user, whom the environment may not name.
    """
    # not tempfile.gettempdir(), which writes a file to test the folder
    if sys.platform == "win32":
        local = environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "Temp" / APP
    return Path(environment.get("TMPDIR") or "/tmp") / f"{APP}-{os.getuid()}"
