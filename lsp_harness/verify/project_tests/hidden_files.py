"""The private files of a user, which programs of a project must not see.

In the home, a name that begins with a dot is private unless it is known to hold programs and packages: settings,
histories and tokens have many names, and tests do without them on other machines, too.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lsp_harness.config.paths import (
    APP,
    CACHE,
    RUNTIME,
    STATE,
    cache_folder,
    choose_temporary_folder,
    find_platform_folder,
    sessions_folder,
    state_folder,
)
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import find_secrets, is_secret_path
from lsp_harness.process.sandbox.mount_places import find_other_places
from lsp_harness.verify.project_tests.project_view import KEPT_VARIABLE, TEMPORARY_FOLDERS, list_program_folders

KEPT_IN_HOME = frozenset(
    {
        # environments and versions of languages
        *(".asdf", ".bun", ".cabal", ".cargo", ".choosenim", ".conda", ".deno", ".dotnet", ".elan", ".fnm"),
        *(".ghcup", ".goenv", ".guix-profile", ".jabba", ".jbang", ".jdks", ".jenv", ".julia", ".juliaup"),
        *(".konan", ".luarocks", ".mise", ".nimble", ".nix-defexpr", ".nix-profile", ".nodebrew", ".nodenv"),
        *(".nvm", ".nvs", ".opam", ".perl5", ".perlbrew", ".phpenv", ".pixi", ".plenv", ".proto", ".pyenv"),
        *(".rbenv", ".rustup", ".rvm", ".rye", ".sdkman", ".stack", ".swiftly", ".swiftpm", ".tfenv", ".venv"),
        *(".venvs", ".virtualenvs", ".volta", ".wasmtime", ".zvm"),
        # packages and models
        *(".cache", ".ccache", ".composer", ".conan", ".conan2", ".dart-tool", ".easyocr", ".gem", ".gradle"),
        *(".hex", ".insightface", ".ivy2", ".keras", ".lake", ".local", ".m2", ".mix", ".mypy_cache"),
        *(".nltk_data", ".node-gyp", ".node_modules", ".npm", ".npm-global", ".npm-packages", ".nuget"),
        *(".pnpm-store", ".pub-cache", ".pytest_cache", ".sbt", ".theano", ".torch", ".vcpkg", ".yarn"),
        # settings of tools that tests run
        *(".clang-format", ".clang-tidy", ".condarc", ".config", ".coveragerc", ".editorconfig", ".eslintrc"),
        *(".eslintrc.json", ".flake8", ".gitattributes", ".gitconfig", ".gitignore", ".gitignore_global"),
        *(".go-version", ".inputrc", ".jshintrc", ".matplotlib", ".node-version", ".nvmrc", ".pdbrc"),
        *(".perlcriticrc", ".prettierrc", ".pylintrc", ".python-version", ".rspec", ".rubocop.yml"),
        *(".ruby-version", ".tool-versions"),
    }
)
"""Names in the home that begin with a dot and that programs of a project may need."""
KEPT_BELOW = frozenset(
    {
        *(".config/astropy", ".config/black", ".config/ccache", ".config/clangd", ".config/flake8"),
        *(".config/fontconfig", ".config/git", ".config/go", ".config/locale.conf", ".config/matplotlib"),
        *(".config/mypy", ".config/nix", ".config/pycodestyle", ".config/pylintrc", ".config/ruff"),
        *(".config/Ultralytics", ".config/user-dirs.dirs", ".config/user-dirs.locale", ".config/yapf"),
        *(".local/share/asdf", ".local/share/bash-completion", ".local/share/bun", ".local/share/cabal"),
        *(".local/share/cargo", ".local/share/cmake", ".local/share/coursier", ".local/share/deno"),
        *(".local/share/dotnet", ".local/share/fnm", ".local/share/fonts", ".local/share/gem"),
        *(".local/share/ghcup", ".local/share/go", ".local/share/hatch", ".local/share/icons"),
        *(".local/share/julia", ".local/share/jupyter", ".local/share/mamba", ".local/share/man"),
        *(".local/share/micromamba", ".local/share/mime", ".local/share/mise", ".local/share/ms-playwright-go"),
        *(".local/share/NuGet", ".local/share/nvm", ".local/share/pdm", ".local/share/pipx"),
        *(".local/share/pixi", ".local/share/pnpm", ".local/share/pypoetry", ".local/share/R"),
        *(".local/share/rtx", ".local/share/rubygems", ".local/share/rustup", ".local/share/rye"),
        *(".local/share/sdkman", ".local/share/swiftly", ".local/share/themes", ".local/share/uv"),
        *(".local/share/virtualenv", ".local/share/virtualenvs", ".local/share/zig", ".local/state/nix"),
    }
)
"""Files and folders that programs of a project may need, in folders whose other entries are private."""
FOLDER_VARIABLES = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"}
"""Variable that names a folder for settings and data → its usual place. What is not known in it is private."""
PRIVATE_IN_HOME = (
    # in folders of programs and packages
    *(".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".config/git/credentials"),
    *(
        ".conan/.conan.db",
        ".conan2/credentials.json",
        ".dotnet/corefx",
        ".gem/credentials",
        ".gradle/gradle.properties",
    ),
    *(".hex/hex.config", ".ivy2/.credentials", ".julia/servers", ".local/share/uv/credentials"),
    *(".local/share/jupyter/runtime", ".m2/settings.xml", ".m2/settings-security.xml", ".npm/_logs"),
    *(".nuget/NuGet/NuGet.Config", ".pub-cache/credentials.json", ".sbt/.credentials", ".sbt/1.0/credentials.sbt"),
    # what browsers, mail programs and agents keep for a while
    *(".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".cache/mozilla", ".cache/google-chrome"),
    *(".cache/chromium", ".cache/BraveSoftware", ".cache/microsoft-edge", ".cache/vivaldi", ".cache/opera"),
    *(".cache/thunderbird", ".cache/evolution", ".cache/keyring", ".cache/github-copilot", ".cache/thumbnails"),
    *(".cache/JetBrains", ".cache/claude-cli-nodejs", ".cache/gh", ".cache/tracker3"),
    # the data of programs in packages of their own
    "snap",
)
"""Other files and folders in the home that hold passwords, keys, letters or the history of a person."""
HISTORY_NAME = re.compile(r"\..*_?history|\..*hist")
"""Names of the files in which shells and interpreters keep the lines that a person typed."""
ENVIRONMENT_MARK = "pyvenv.cfg"
"""The file that each virtual environment of Python has."""
MAX_SETTINGS_BYTES = 1 << 16
"""Size of the largest file of settings in which a secret is looked for."""
PRIVATE_FOLDER_VARIABLES = {
    "XDG_RUNTIME_DIR": (APP,),
    "LSP_HARNESS_HOME": (STATE.folder, CACHE.folder, RUNTIME.folder, "sessions"),
}
"""Variables that name folders for sockets and tokens of the user, and for the files of this program → the names of our
folders in such a folder."""


def list_private_paths(root: Path, *, needed: Iterable[Path] = (), keeps_project: bool = True) -> tuple[Path, ...]:
    """Return the files and folders that programs of a project must not see, as far as they exist.

    The folders of this program, with its tokens and logs, are private wherever they are. Of other private files, those
    within the project stay, because its tests may need them, such as `.env`.

    Args:
        root: The folder of the project.
        needed: Folders of programs and packages that stay.
        keeps_project: Whether private files of the user within the project stay.
    """
    home, root = Path.home().resolve(), root.resolve()
    # a project or a Python may be in one of them, such as a worktree of an agent in the state folder
    kept = [root, *(Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix))]
    tools = [*needed, *list_program_folders(os.environ.get("PATH", "")), *_list_named_folders(home)]
    unknown = [part for path in _list_unknown(home) for part in _leave_out(path, [*kept, *_with_targets(tools, home)])]
    secret = list(_with_targets(_list_secrets(home), home))
    personal = [path for path in (*unknown, *secret) if not (keeps_project and path.is_relative_to(root))]
    found = [part for path in personal for part in _leave_out(path, kept)]
    found = [path for path in dict.fromkeys((*found, *list_own_folders(root, kept))) if os.path.lexists(path)]
    return tuple(dict.fromkeys([*found, *find_other_places(found)]))


def list_own_folders(root: Path, needed: Iterable[Path] = ()) -> list[Path]:
    """Return the folders of this program, with its tokens, its logs and its cache, and the user's settings of it.

    Args:
        root: The folder of the project.
        needed: Folders that stay. If one lies in a folder of this program, its neighbours are returned instead.
    """
    found: list[Path] = []
    for find in (state_folder, sessions_folder, cache_folder):
        try:
            found.append(find().resolve())
        except (HarnessError, OSError):
            # a folder that cannot be used holds nothing
            continue
    # that of sockets, where no variable names another one; `runtime_folder` would make it, or say why it cannot
    found.append(choose_temporary_folder().resolve())
    settings = find_platform_folder("user_config_dir")
    # a folder that cannot be used, because others may read it, may still hold tokens
    named = [(Path(path), names) for name, names in PRIVATE_FOLDER_VARIABLES.items() if (path := os.environ.get(name))]
    public = {folder.resolve() for folder in (*TEMPORARY_FOLDERS, Path(tempfile.gettempdir()), Path.home())}
    for path, names in ((path.resolve(), names) for path, names in named if path.is_absolute()):
        # of a folder with other things in it, only our own parts are private
        is_shared = any(folder.is_relative_to(path) for folder in (root, *public))
        found += [path / name for name in names] if is_shared else [path]
    found += [settings.resolve()] if settings else []
    kept = [root, *needed]
    return [part for path in found for part in _leave_out(path, kept)]


def _list_unknown(home: Path) -> Iterator[Path]:
    """Yield the files and folders of which nobody knows that a program of a project needs them."""
    for name in _list_names(home):
        if name.startswith(".") and not _is_known(home / name, name):
            yield home / name
    for variable, usual in FOLDER_VARIABLES.items():
        for folder in {(home / usual).resolve(), Path(os.environ.get(variable) or home / usual).resolve()}:
            if folder != home and folder.is_relative_to(home):
                names = _list_names(folder)
                yield from (folder / name for name in names if not _is_known(folder / name, f"{usual}/{name}"))


def _is_known(path: Path, name: str) -> bool:
    if name not in KEPT_IN_HOME and name not in KEPT_BELOW:
        return os.path.exists(path / ENVIRONMENT_MARK)
    try:
        # a file of settings may hold a password, such as one in a URL
        return not path.is_file() or not find_secrets(path.read_bytes()[:MAX_SETTINGS_BYTES])
    except OSError:
        return False


def _list_secrets(home: Path) -> Iterator[Path]:
    """Yield the files and folders that are known to be private, also within those that are needed."""
    yield from (home / name for name in PRIVATE_IN_HOME)
    for folder in (home, home / ".config"):
        for name in _list_names(folder):
            if is_secret_path(name) or is_secret_path(f"{name}/file") or HISTORY_NAME.fullmatch(name):
                yield folder / name


def _with_targets(paths: Iterable[Path], home: Path) -> Iterator[Path]:
    """Yield paths, and where they lead to, if one is a link or is in a folder that is one."""
    for path in paths:
        yield path
        target = path.resolve()
        if target != path and not home.is_relative_to(target):
            yield target


def _list_named_folders(home: Path) -> list[Path]:
    """Return the folders of programs in the home that variables of the environment name."""
    values = (
        value for name, value in os.environ.items() if KEPT_VARIABLE.fullmatch(name) and name not in FOLDER_VARIABLES
    )
    paths = (Path(text) for value in values for text in value.split(os.pathsep) if text.startswith("/"))
    return [path for path in paths if path.is_relative_to(home) and path != home and path.exists()]


def _leave_out(path: Path, kept: Sequence[Path]) -> list[Path]:
    """Return a path, or, if something in it must stay, the other entries of it."""
    inner = [other for other in kept if other.is_relative_to(path)]
    if not inner:
        return [path]
    return [] if path in inner else [part for name in _list_names(path) for part in _leave_out(path / name, inner)]


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
