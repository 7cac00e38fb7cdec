"""When somebody typed last on this machine, in whichever editor, so that what can wait gives way.

A file of the user's whose time says it: processes that know nothing of each other, and folders that nobody types in, must know it too.
"""

import math
import os
import time
from contextlib import suppress

from lsp_harness.config import paths
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import ConfigError

FILE_NAME = "typed"


def record_typing() -> None:
    """Somebody typed."""
    with suppress(OSError, ConfigError):
        remove_irregular_file(paths.runtime() / FILE_NAME).touch(mode=0o600)


def seconds_since_typing() -> float:
    """Seconds since then; infinite where nobody has typed, or the clock was set back."""
    try:
        passed = time.time() - os.stat(paths.runtime() / FILE_NAME).st_mtime
    except (OSError, ConfigError):
        return math.inf
    return passed if passed >= 0 else math.inf
