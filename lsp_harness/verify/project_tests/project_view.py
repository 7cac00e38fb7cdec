"""The view of the machine for programs of a project: where their changes go, and what they learn of the environment."""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from lsp_harness.disk.ownership import is_own
from lsp_harness.files.secrets import find_secrets, may_contain_secret

TEMPORARY_FOLDERS = (Path("/tmp"), Path("/var/tmp"))
COMMAND_FOLDERS = frozenset({"bin", "sbin", "shims", "condabin"})
"""Names of folders with commands, beside which the rest of their program is."""
PROGRAMS_IN_HOME = (".local/bin", ".local/lib", ".local/share/pipx", ".local/share/uv", ".local/pipx")
"""Folders in the home with programs that commands in `PATH` lead to."""
KEPT_VARIABLE = re.compile(
    r"PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|SHELL|USER|LOGNAME|CI|LD_LIBRARY_PATH|JAVA_HOME|TMPDIR|XDG_(?:CACHE|CONFIG|DATA)_HOME"
    r"|VIRTUAL_ENV|CONDA_\w+|PYTHON(?!PYCACHEPREFIX)\w+|PYTEST_\w+|PYENV_\w+|UV_\w+|HATCH_\w+|DJANGO_\w+|FLASK_\w+"
    r"|NODE_(?:ENV|PATH|OPTIONS|EXTRA_CA_CERTS)|NVM_\w+|VOLTA_\w+|ASDF_\w+|MISE_\w+|FNM_\w+|PNPM_HOME|COREPACK_HOME"
    r"|CARGO_(?:HOME|TARGET_DIR|BUILD_\w+)|RUSTUP_\w+|RUST(?:FLAGS|DOCFLAGS|_\w+)|GO(?:PATH|ROOT|FLAGS|CACHE|MODCACHE|BIN)"
)
"""Variables of the environment that decide how tests of a project run. Others may hold keys of services."""

SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH", re.IGNORECASE)


def list_view_folders(root: Path, needed: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the folders in which programs of a project may write without an effect outside.

    These are the home, the folders for temporary files, the uppermost folder of the user that holds the project, and
    folders outside of these that the program needs, if the user may write there.

    Args:
        root: The folder of the project.
        needed: Folders of programs and packages.
    """
    folders = [_highest_own_folder(root), Path.home(), Path(tempfile.gettempdir()), *TEMPORARY_FOLDERS]
    folders += [folder for folder in needed if os.access(folder, os.W_OK)]
    found = (folder.resolve() for folder in folders if folder.is_dir())
    return tuple(dict.fromkeys(folder for folder in found if folder != Path(folder.anchor)))


def list_program_folders(search_path: str) -> tuple[Path, ...]:
    """Return the folders within the home that programs need which are found by a `PATH`.

    Args:
        search_path: The value of `PATH`.
    """
    home = Path.home().resolve()
    found = [home / name for name in PROGRAMS_IN_HOME]
    for text in search_path.split(os.pathsep):
        folder = Path(text)
        # the libraries of a program are beside the folder of its commands
        beside = folder.parent if folder.name in COMMAND_FOLDERS else folder
        is_shared = home.is_relative_to(beside.resolve()) or beside.resolve() == home / ".local"
        if folder.is_absolute() and not home.is_relative_to(folder.resolve()):
            found.append(folder if is_shared else beside)
    return tuple(path for path in dict.fromkeys(found) if path.is_relative_to(home) and path.exists())


def view_environment(extra: Iterable[tuple[str, str]] = (), given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a program that runs in a view, without variables that may hold a secret.

    Args:
        extra: Variables to add to the environment.
        given: The environment that is reduced. The default is that of this process.
    """
    variables = os.environ if given is None else given
    kept = {name: value for name, value in variables.items() if _is_harmless(name, value)}
    return {"HOME": str(Path.home()), **kept, "PYTHONDONTWRITEBYTECODE": "1", **dict(extra)}


def _is_harmless(name: str, value: str) -> bool:
    """Return whether a variable decides how tests run, and holds no key."""
    if not KEPT_VARIABLE.fullmatch(name) or SECRET_VARIABLE.search(name):
        return False
    # a place of packages, for example, may name a user with a password
    return not (may_contain_secret(value) and find_secrets(value.encode(errors="surrogateescape")))


def _highest_own_folder(root: Path) -> Path:
    """Return the uppermost folder of this user that holds a project. Tests may write beside their project."""
    folder = root.resolve()
    while folder.parent != Path(folder.anchor) and is_own(folder.parent.stat()):
        folder = folder.parent
    return folder
