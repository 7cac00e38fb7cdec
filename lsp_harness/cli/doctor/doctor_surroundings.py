"""Checks of `doctor`: the home directory, our folders, the path of sockets, the locale, and the sandbox.

Each folder is tested with a file that is written to it, because access modes and the free space that a disk reports
are not always true.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.config import paths
from lsp_harness.config.load import Problem
from lsp_harness.config.paths import FolderKind
from lsp_harness.disk.file_reading import UTF_16_BOMS, read_file
from lsp_harness.disk.file_writing import probe_folder
from lsp_harness.errors import FileError, FileMissing, HarnessError
from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES, MAX_FILE_BYTES
from lsp_harness.inference.supervisor import SOCKET_PATH_LIMIT_BYTES
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox

LONGEST_SOCKET_NAME = "engine-0123456789ab.sock"
"""A name that is as long as the names of all sockets."""
FOLDERS: tuple[tuple[str, FolderKind, Callable[[], Path]], ...] = (
    ("state", paths.STATE, paths.state_folder),
    ("cache", paths.CACHE, paths.cache_folder),
    ("runtime", paths.RUNTIME, paths.runtime_folder),
)


def check_surroundings() -> Iterator[DoctorRow]:
    """Check the environment, our folders, the path of sockets, the locale, and the sandbox."""
    yield from _check_home()
    for name, kind, find_folder in FOLDERS:
        yield _check_folder(name, kind, find_folder)
    yield from _check_socket_path()
    yield _check_locale()
    yield _check_sandbox(machine_sandbox())


def ignore_file_problems(folder: Path) -> list[Problem]:
    """Return the ignore files of a folder that cannot be read. Their patterns have no effect."""
    problems: list[Problem] = []
    for name in IGNORE_FILE_NAMES:
        file = folder / name
        try:
            if read_file(file, MAX_FILE_BYTES).startswith(UTF_16_BOMS):
                problems.append(Problem(f"{file} is UTF-16, so its patterns are not used; save it as UTF-8", file))
        except FileMissing:
            continue
        except FileError as error:
            problems.append(Problem(error.message, file))
    return problems


def _check_home() -> Iterator[DoctorRow]:
    home = os.environ.get("HOME", "")
    if os.environ.get("LSP_HARNESS_HOME"):
        return
    if not home:
        says = "HOME is not set; set it to your folder, or LSP_HARNESS_HOME to one for the files of lsp-harness"
        yield DoctorRow("note", "home", says)
    elif not os.path.isdir(home) or not os.path.isabs(home):
        says = f"HOME is {home}, which is no folder; set it to yours, or LSP_HARNESS_HOME to another"
        yield DoctorRow("note", "home", says)


def _check_folder(name: str, kind: FolderKind, find_folder: Callable[[], Path]) -> DoctorRow:
    try:
        folder = find_folder()
    except HarnessError as error:
        return DoctorRow("bad", name, error.message)
    try:
        probe_folder(folder)
    except OSError as error:
        return DoctorRow("bad", name, paths.describe_write_failure(kind, folder, error))
    if problem := paths.describe_replacement(kind):
        return DoctorRow("note", name, problem)
    return DoctorRow("ok", name, str(folder))


def _check_socket_path() -> Iterator[DoctorRow]:
    try:
        path = paths.runtime_folder() / LONGEST_SOCKET_NAME
    except HarnessError:
        # the row of the folder reports this error
        return
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT_BYTES:
        says = f"{path.parent} is too long for a socket ({SOCKET_PATH_LIMIT_BYTES} bytes with its name)"
        yield DoctorRow("bad", "socket", f"{says}; set XDG_RUNTIME_DIR or LSP_HARNESS_HOME to a shorter path")


def _check_locale() -> DoctorRow:
    encoding = (sys.stdout.encoding or "").lower()
    if encoding.replace("-", "") == "utf8":
        return DoctorRow("ok", "locale", encoding)
    says = f"output is {encoding or 'of no encoding'}: what it lacks is shown in ASCII; set LC_ALL to C.UTF-8"
    return DoctorRow("note", "locale", says)


def _check_sandbox(choice: SandboxChoice) -> DoctorRow:
    reasons = "; ".join(f"{name} does not work: {problem}" for name, problem in choice.problems.items())
    name = choice.sandbox.name
    if choice.sandbox.has_overlays:
        says = f"{name}: tests run in the folder of the project itself, and nothing that they write stays"
        return DoctorRow("ok", "sandbox", says + (f" ({reasons})" if reasons else ""))
    if choice.sandbox.can_replace_files:
        says = f"{name}: tests run in the folder of the project, and on a copy of it if they write there"
        return DoctorRow("note", "sandbox", f"{says} ({reasons})")
    if choice.is_confined:
        says = (
            f"{name}: tests run on a copy of the project, which lacks what git ignores; tests that import the original "
            "count as skipped. Allow namespaces of users, or install bubblewrap"
        )
        if gaps := choice.sandbox.list_gaps():
            says += f". It does not cover everything: {'; '.join(gaps)}"
        if choice.warning:
            return DoctorRow("note", "sandbox", f"{choice.warning}. {says} ({reasons})")
        return DoctorRow("note", "sandbox", f"{says} ({reasons})")
    return DoctorRow("note", "sandbox", f"programs of a project cannot be confined; install bubblewrap ({reasons})")
