"""The view of the machine for programs of a project: where their changes go, and which private files are not there."""

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lsp_harness.config.paths import (
    APP,
    CACHE,
    RUNTIME,
    STATE,
    cache_folder,
    platform_folder,
    runtime_folder,
    sessions_folder,
    state_folder,
)
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import find_secrets, is_secret_path, may_contain_secret

TEMPORARY_FOLDERS = (Path("/tmp"), Path("/var/tmp"))
PRIVATE_IN_HOME = (
    *(".mozilla", ".thunderbird", ".password-store", ".pki", ".electrum", ".bitcoin", ".kaggle", ".m2/settings.xml"),
    *(
        ".claude",
        ".claude.json",
        ".codex",
        ".gemini",
        ".config/opencode",
        ".local/share/opencode",
        ".config/github-copilot",
    ),
    *(
        ".config/google-chrome",
        ".config/chromium",
        ".config/BraveSoftware",
        ".config/microsoft-edge",
        ".config/vivaldi",
    ),
    *(".config/gh", ".config/hub", ".config/glab-cli", ".config/git/credentials", ".config/gcloud", ".config/doctl"),
    *(".config/rclone", ".config/op", ".config/sops", ".config/Signal", ".config/Slack", ".config/discord"),
    *(
        ".local/share/keyrings",
        ".local/share/kwalletd",
        ".local/share/TelegramDesktop",
        ".terraform.d",
        ".oci",
        ".chef",
    ),
    *(".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".databrickscfg"),
    *(".cache/huggingface/token", ".huggingface/token", ".gradle/gradle.properties", ".config/hcloud", ".snowflake"),
)
"""Files and folders in the home that hold passwords, keys, letters or the history of a person."""
HISTORY_NAME = re.compile(r"\..*_?history|\..*hist")
"""Names of the files in which shells and interpreters keep the lines that a person typed."""
CONFIG_FOLDER = ".config"
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

PRIVATE_FOLDER_VARIABLES = {
    "XDG_RUNTIME_DIR": (APP,),
    "LSP_HARNESS_HOME": (STATE.folder, CACHE.folder, RUNTIME.folder, "sessions"),
}
"""Variables that name folders for sockets and tokens of the user, and for the files of this program → the names of our
folders in such a folder."""
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


def list_private_paths(root: Path, *, keeps_project: bool = True) -> tuple[Path, ...]:
    """Return the files and folders that programs of a project must not see, as far as they exist.

    The folders of this program, with its tokens and logs, are private wherever they are. Of other private files, those
    within the project stay, because its tests may need them, such as `.env`.

    Args:
        root: The folder of the project.
        keeps_project: Whether private files of the user within the project stay.
    """
    home, root = Path.home().resolve(), root.resolve()
    paths = [home / name for name in PRIVATE_IN_HOME]
    for folder in (home, home / CONFIG_FOLDER):
        paths += [folder / name for name in _list_names(folder) if is_secret_path(name) or _is_secret_folder(name)]
    paths += [home / name for name in _list_names(home) if HISTORY_NAME.fullmatch(name)]
    found = [path for path in paths if not (keeps_project and path.is_relative_to(root))]
    # a project or a Python may be in one of them, such as a worktree of an agent in the state folder
    kept = [root, *(Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix))]
    found = [part for path in (*found, *_list_own_folders(root)) for part in _leave_out(path, kept)]
    return tuple(dict.fromkeys(path for path in found if os.path.lexists(path)))


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
        extra: More variables.
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


def _leave_out(path: Path, kept: Sequence[Path]) -> list[Path]:
    """Return a path, or, if something in it must stay, the other entries of it."""
    inner = [other for other in kept if other.is_relative_to(path)]
    if not inner:
        return [path]
    return [] if path in inner else [part for name in _list_names(path) for part in _leave_out(path / name, inner)]


def _highest_own_folder(root: Path) -> Path:
    """Return the uppermost folder of this user that holds a project. Tests may write beside their project."""
    folder, user = root.resolve(), os.geteuid()
    while folder.parent != Path(folder.anchor) and folder.parent.stat().st_uid == user:
        folder = folder.parent
    return folder


def _is_secret_folder(name: str) -> bool:
    return is_secret_path(f"{name}/file")


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _list_own_folders(root: Path) -> list[Path]:
    """Return the folders of this program, with its tokens, its logs and its cache, and the user's settings of it."""
    found: list[Path] = []
    for find in (state_folder, sessions_folder, cache_folder, runtime_folder):
        try:
            found.append(find().resolve())
        except (HarnessError, OSError):
            # a folder that cannot be used holds nothing
            continue
    settings = platform_folder("user_config_dir")
    # a folder that cannot be used, because others may read it, may still hold tokens
    named = [(Path(path), names) for name, names in PRIVATE_FOLDER_VARIABLES.items() if (path := os.environ.get(name))]
    public = {folder.resolve() for folder in (*TEMPORARY_FOLDERS, Path(tempfile.gettempdir()), Path.home())}
    for path, names in ((path.resolve(), names) for path, names in named if path.is_absolute()):
        # of a folder with other things in it, only our own parts are private
        is_shared = any(folder.is_relative_to(path) for folder in (root, *public))
        found += [path / name for name in names] if is_shared else [path]
    return [*found, settings.resolve()] if settings else found
