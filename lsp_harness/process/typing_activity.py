"""When somebody typed last on this machine, in whichever editor, so that what can wait gives way.

A file of the user's whose time says it: processes that know nothing of each other, and folders that nobody types in, must know it too.
"""

import math
import os
import time
from contextlib import suppress

from lsp_harness.config import paths
from lsp_harness.disk.file_writing import clear
from lsp_harness.errors import ConfigError

NAME = "typed"


def pressed() -> None:
    """Somebody typed."""
    with suppress(OSError, ConfigError):
        clear(paths.runtime_folder() / NAME).touch(mode=0o600)


def since() -> float:
    """Seconds since then; infinite where nobody has typed, or the clock was set back."""
    try:
        passed = time.time() - os.stat(paths.runtime_folder() / NAME).st_mtime
    except (OSError, ConfigError):
        return math.inf
    return passed if passed >= 0 else math.inf
