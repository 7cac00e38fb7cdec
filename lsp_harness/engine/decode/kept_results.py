"""Results of checks of this machine that take seconds, each kept under a key in a file of the cache folder."""

import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError

Result = TypeVar("Result", bool, str)


def find_or_check(file_name: str, key: str, check: Callable[[], Result], subject: str) -> Result:
    """Return the kept result of a check, or check now and keep the result.

    Args:
        file_name: The name of the file in the cache folder.
        key: The text that names what is checked.
        check: The check.
        subject: The words of the warning for what is not kept, if the file cannot be written.
    """
    file = paths.cache_folder() / file_name
    try:
        content: Any = json.loads(read_text(file))
    except (FileError, ValueError):
        content = {}
    results = cast("dict[str, Result]", content) if isinstance(content, dict) else {}
    if key not in results:
        results[key] = check()
        # If the disk is full, this engine starts all the same and the next one tries again.
        try:
            write_own_file(file, json.dumps(results).encode())
        except OSError as error:
            paths.warn_not_saved(subject, paths.CACHE, file, error)
    return results[key]
