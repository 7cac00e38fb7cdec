"""The time when the user last typed in any editor. Work that can wait is delayed while the user types.

The time is the modification time of a file, because unrelated processes and servers of other folders must know it too.
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
    """Record that the user types now."""
    with suppress(OSError, ConfigError):
        remove_irregular_file(paths.runtime_folder() / FILE_NAME).touch(mode=0o600)


def seconds_since_typing() -> float:
    """Return the seconds since the user last typed.

    It is infinite if the user has not typed, or if the clock was set back.
    """
    try:
        passed = time.time() - os.stat(paths.runtime_folder() / FILE_NAME).st_mtime
    except (OSError, ConfigError):
        return math.inf
    return passed if passed >= 0 else math.inf
