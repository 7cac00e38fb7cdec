"""What `doctor` says of what surrounds us: the home, the folders of our files, the path of sockets, and the locale.

Folders are tried by writing a file, as what their modes and the figures of a disk say is not always so.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.config.load import Problem
from lsp_harness.config.paths import FolderKind
from lsp_harness.disk.file_reading import UTF_16_BOMS, read_file
from lsp_harness.disk.file_writing import probe_folder
from lsp_harness.errors import FileError, FileMissing, HarnessError
from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES, MAX_FILE_BYTES
from lsp_harness.inference.supervisor import SOCKET_PATH_LIMIT_BYTES

Finding = tuple[str, str, str]
"""State, what it is about, what is said."""
SOCKET = "engine-0123456789ab.sock"
"""A name as long as that of every socket."""
FOLDERS: tuple[tuple[str, FolderKind, Callable[[], Path]], ...] = (
    ("state", paths.STATE, paths.state_folder),
    ("cache", paths.CACHE, paths.cache_folder),
    ("runtime", paths.RUNTIME, paths.runtime_folder),
)


def surroundings() -> Iterator[Finding]:
    yield from _home()
    for name, kind, folder in FOLDERS:
        yield _folder(name, kind, folder)
    yield from _socket()
    yield _locale()


def ignore_problems(folder: Path) -> list[Problem]:
    """Ignore files of a folder that cannot be read, so that nothing is ignored by them."""
    found: list[Problem] = []
    for name in IGNORE_FILE_NAMES:
        try:
            if read_file(folder / name, MAX_FILE_BYTES).startswith(UTF_16_BOMS):
                found.append(
                    Problem(f"{folder / name} is UTF-16, so its patterns are not used; save it as UTF-8", folder / name)
                )
        except FileMissing:
            continue
        except FileError as error:
            found.append(Problem(error.message, folder / name))
    return found


def _home() -> Iterator[Finding]:
    home = os.environ.get("HOME", "")
    if os.environ.get("LSP_HARNESS_HOME"):
        return
    if not home:
        yield (
            "note",
            "home",
            "HOME is not set; set it to your folder, or LSP_HARNESS_HOME to one for the files of lsp-harness",
        )
    elif not os.path.isdir(home) or not os.path.isabs(home):
        yield "note", "home", f"HOME is {home}, which is no folder; set it to yours, or LSP_HARNESS_HOME to another"


def _folder(name: str, kind: FolderKind, folder: Callable[[], Path]) -> Finding:
    try:
        path = folder()
    except HarnessError as error:
        return "bad", name, error.message
    try:
        probe_folder(path)
    except OSError as error:
        return "bad", name, paths.describe_write_failure(kind, path, error)
    if problem := paths.replacement_message(kind):
        return "note", name, problem
    return "ok", name, str(path)


def _socket() -> Iterator[Finding]:
    try:
        path = paths.runtime_folder() / SOCKET
    except HarnessError:
        # said above
        return
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT_BYTES:
        says = f"{path.parent} is too long for a socket ({SOCKET_PATH_LIMIT_BYTES} bytes with its name)"
        yield "bad", "socket", f"{says}; set XDG_RUNTIME_DIR or LSP_HARNESS_HOME to a shorter path"


def _locale() -> Finding:
    encoding = (sys.stdout.encoding or "").lower()
    if encoding.replace("-", "") == "utf8":
        return "ok", "locale", encoding
    return (
        "note",
        "locale",
        f"output is {encoding or 'of no encoding'}: what it lacks is shown in ASCII; set LC_ALL to C.UTF-8",
    )
