"""The view of the machine for programs of a project: where their changes go, and which private files are not there."""

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lsp_harness.config.paths import cache_folder, platform_folder, runtime_folder, sessions_folder, state_folder
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import is_secret_path

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
KEPT_VARIABLE = re.compile(
    r"PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|SHELL|USER|LOGNAME|CI|LD_LIBRARY_PATH|JAVA_HOME|TMPDIR|XDG_(?:CACHE|CONFIG|DATA)_HOME"
    r"|VIRTUAL_ENV|CONDA_\w+|PYTHON(?!PYCACHEPREFIX)\w+|PYTEST_\w+|PYENV_\w+|UV_\w+|HATCH_\w+|DJANGO_\w+|FLASK_\w+"
    r"|NODE_(?:ENV|PATH|OPTIONS|EXTRA_CA_CERTS)|NVM_\w+|VOLTA_\w+|ASDF_\w+|MISE_\w+|FNM_\w+|PNPM_HOME|COREPACK_HOME"
    r"|CARGO_(?:HOME|TARGET_DIR|BUILD_\w+)|RUSTUP_\w+|RUST(?:FLAGS|DOCFLAGS|_\w+)|GO(?:PATH|ROOT|FLAGS|CACHE|MODCACHE|BIN)"
)
"""Variables of the environment that decide how tests of a project run. Others may hold keys of services."""

PRIVATE_FOLDER_VARIABLES = ("XDG_RUNTIME_DIR", "LSP_HARNESS_HOME")
"""Variables that name folders for sockets and tokens of the user, and for the files of this program."""
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


def list_private_paths(root: Path) -> tuple[Path, ...]:
    """Return the files and folders that programs of a project must not see, as far as they exist.

    Nothing within the project is one of them, because its tests may need it, such as `.env`.

    Args:
        root: The folder of the project.
    """
    home = Path.home().resolve()
    paths = [home / name for name in PRIVATE_IN_HOME]
    for folder in (home, home / CONFIG_FOLDER):
        paths += [folder / name for name in _list_names(folder) if is_secret_path(name) or _is_secret_folder(name)]
    paths += [home / name for name in _list_names(home) if HISTORY_NAME.fullmatch(name)]
    paths += _list_own_folders()
    root = root.resolve()
    found = (path for path in paths if os.path.lexists(path))
    return tuple(dict.fromkeys(path for path in found if not (path.is_relative_to(root) or root.is_relative_to(path))))


def view_environment(extra: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the environment of a program that runs in a view: that of this process, without what may be a secret.

    Args:
        extra: More variables.
    """
    names = [name for name in os.environ if KEPT_VARIABLE.fullmatch(name) and not SECRET_VARIABLE.search(name)]
    kept = {name: os.environ[name] for name in names}
    return {"HOME": str(Path.home()), **kept, "PYTHONDONTWRITEBYTECODE": "1", **dict(extra)}


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


def _list_own_folders() -> list[Path]:
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
    named = [Path(path) for name in PRIVATE_FOLDER_VARIABLES if (path := os.environ.get(name)) and os.path.isabs(path)]
    public = {*TEMPORARY_FOLDERS, Path(tempfile.gettempdir()), Path.home()}
    found += [path.resolve() for path in named if path not in public]
    return [*found, settings.resolve()] if settings else found
