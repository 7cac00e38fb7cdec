"""The Python of a project: which interpreter runs its code, and in which environment its packages are.

This is the only place that answers this question. Nothing is started: files and variables of the environment tell it.
"""

import base64
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.ownership import find_home
from lsp_harness.errors import FileError

NO_HOME = Path(os.devnull)
"""The home of a user without one: nothing lies below it."""
ENVIRONMENT_FOLDERS = (".venv", "venv", "env")
PROJECT_MARKS = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile")
"""The files that a project of Python begins with. Folders of tests or of documents may have others of its files."""
INTERPRETERS = ("Scripts/python.exe", "python.exe", "bin/python", "bin/python3")
SITE_FOLDERS = (
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "lib/python3*/dist-packages",
    "lib/python3/dist-packages",
    "local/lib/python3*/dist-packages",
    "Lib/site-packages",
)
CONDA_BASES = ("base", "root")
"""Names of the environment of conda that is not one of a project."""
MAX_SETTINGS_BYTES = 1 << 20
MAX_LISTED_PATHS = 2_000
"""Number of files and folders that are looked at to find the projects of a workspace folder."""
MAX_PARSED_FILES = 64
"""Number of settings files whose values are kept."""
POETRY_UNSAFE = re.compile(r'[ $`!*@"\\\r\n\t]')
"""The characters that poetry replaces in the name of an environment."""

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProjectPython:
    """The Python of a project.

    Attributes:
        python: The interpreter, which exists. It is not resolved, because its place tells its environment.
        environment: The virtual environment, or None for an interpreter without one.
        reason: Where it was found, in words for `doctor`.
    """

    python: Path
    environment: Path | None
    reason: str

    def has_module(self, name: str) -> bool:
        """Return whether a package or a module lies in one of the folders of installed packages."""
        prefix = self.environment or self.python.parent.parent
        prefixes = [prefix]
        if self.environment and _reads_system_packages(self.environment):
            prefixes.append(self.python.resolve().parent.parent)
        elif self.environment is None:
            prefixes += [self.python.resolve().parent.parent, (find_home() or NO_HOME) / ".local"]
        # an editable install has only its description there
        patterns = [f"{site}/{end}" for site in SITE_FOLDERS for end in (name, f"{name}.py", f"{name}-*.dist-info")]
        places = (prefix.glob(pattern) for prefix in prefixes for pattern in patterns)
        return next(chain.from_iterable(places), None) is not None


@dataclass(frozen=True, slots=True)
class _Environment:
    """A folder that may be an environment, and why it is looked at."""

    folder: Path
    reason: str


@dataclass(frozen=True, slots=True)
class _Search:
    """The question: whose Python, and in what surroundings?

    Attributes:
        root: The workspace folder.
        folders: The folders of the file, the nearest first, up to the workspace folder.
        setting: The value of `knowledge.python`.
        environ: The variables of the environment.
    """

    root: Path
    folders: tuple[Path, ...]
    setting: str
    environ: Mapping[str, str]

    def variable(self, name: str) -> Path | None:
        """Return the absolute path that a variable holds, or None."""
        value = self.environ.get(name, "")
        return Path(value) if os.path.isabs(value) else None


def find_project_python(
    root: Path,
    file: Path | None = None,
    setting: str = "",
    *,
    module: str = "",
    environ: Mapping[str, str] | None = None,
) -> ProjectPython:
    """Return the Python of the project that a file belongs to.

    The order: the setting, `VIRTUAL_ENV`, `.venv`, `venv` or `env` in the folders of the file, conda, uv, poetry, pdm,
    hatch, pipenv, pyenv, tox, nox, `python3` or `python` on PATH, and at last the interpreter of this program.

    Args:
        root: The workspace folder.
        file: A file in it. None for the workspace folder itself.
        setting: The value of `knowledge.python`: an environment or an interpreter, relative to the workspace folder.
        module: The name of a module that is needed. The first Python that has it is returned, or else the first one.
        environ: The variables of the environment. The default is those of this process.
    """
    search = _begin(root, file, setting, os.environ if environ is None else environ)
    first: ProjectPython | None = None
    for found in chain(_find_in_environments(search), _find_on_path(search)):
        if not module or found.has_module(module):
            return found
        first = first or found
    own = ProjectPython(
        Path(sys.executable), Path(sys.prefix) if sys.prefix != sys.base_prefix else None, "the Python of lsp-harness"
    )
    if first is None or (module and own.has_module(module)):
        return own
    return first


def list_project_pythons(root: Path, setting: str = "") -> Iterator[tuple[Path, ProjectPython]]:
    """Yield the folders of the projects of Python in a workspace folder, with their Python.

    The workspace folder comes first if it is one. Only folders at most two levels below it are looked at. Projects with
    the Python of the workspace folder are left out.
    """
    main = find_project_python(root, None, setting)
    if _begins_project(root) or main.environment:
        yield root, main
    below = chain(root.glob("[!.]*"), root.glob("[!.]*/[!.]*"))
    folders = sorted(path for path in islice(below, MAX_LISTED_PATHS) if path.is_dir() and _begins_project(path))
    for folder in folders:
        found = find_project_python(root, folder / "file.py", setting)
        if found != main:
            yield folder, found


def find_environment(
    root: Path, file: Path | None = None, setting: str = "", *, environ: Mapping[str, str] | None = None
) -> Path | None:
    """Return the environment of a file's project, or None. Its interpreter may be missing.

    The arguments are those of `find_project_python`.
    """
    search = _begin(root, file, setting, os.environ if environ is None else environ)
    if setting:
        folder = root / os.path.expanduser(setting)
        return folder if folder.is_dir() else _environment_of(folder) or folder
    return next((found.folder for found in _list_environments(search) if _is_environment(found.folder)), None)


def find_project_folder(root: Path, file: Path, marks: Sequence[str]) -> Path:
    """Return the nearest folder of a file, up to the workspace folder, that holds one of the marks.

    Args:
        root: The workspace folder. It is returned if no folder holds a mark.
        file: The file.
        marks: Names of files, such as `pyproject.toml`.
    """
    holders = (folder for folder in folders_up_to(root, file) if any((folder / mark).is_file() for mark in marks))
    return next(holders, root)


def find_python_project(root: Path, file: Path) -> Path:
    """Return the nearest folder of a file, up to the workspace folder, that is a project of Python.

    It begins with one of `PROJECT_MARKS` or has an environment. Without one, the workspace folder is returned.
    """
    return next(filter(_begins_project, folders_up_to(root, file)), root)


def _begins_project(folder: Path) -> bool:
    return _is_project(folder) or any((folder / name / "pyvenv.cfg").is_file() for name in ENVIRONMENT_FOLDERS)


def folders_up_to(root: Path, file: Path) -> Iterator[Path]:
    """Yield the folders of a file up to the workspace folder."""
    if file.is_relative_to(root):
        yield from (folder for folder in file.parents if folder.is_relative_to(root))


def find_interpreter(environment: Path) -> Path | None:
    """Return the interpreter of an environment, or None if it has none that exists."""
    paths = (environment / name for name in INTERPRETERS)
    return next((path for path in paths if path.is_file()), None)


def program_folders(environment: Path) -> tuple[Path, ...]:
    """Return the folders of an environment in which programs may lie."""
    return environment / "bin", environment / "Scripts"


def _begin(root: Path, file: Path | None, setting: str, environ: Mapping[str, str]) -> _Search:
    folders = tuple(folders_up_to(root, file)) if file else ()
    return _Search(root, folders or (root,), setting, environ)


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file() or find_interpreter(folder) is not None


def _environment_of(python: Path) -> Path | None:
    """Return the environment of an interpreter, or None if it belongs to none."""
    prefix = python.parent.parent if python.parent.name in ("bin", "Scripts") else python.parent
    return prefix if (prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir() else None


def _reads_system_packages(environment: Path) -> bool:
    settings = _read(environment / "pyvenv.cfg").lower()
    return re.search(r"^include-system-site-packages\s*=\s*true", settings, re.MULTILINE) is not None


# -- the candidates, in their order
def _find_in_environments(search: _Search) -> Iterator[ProjectPython]:
    note = ""
    if search.setting:
        chosen = search.root / os.path.expanduser(search.setting)
        if chosen.is_file():
            yield ProjectPython(chosen, _environment_of(chosen), "knowledge.python")
        elif python := find_interpreter(chosen):
            yield ProjectPython(python, chosen, "knowledge.python")
        else:
            note = f" (knowledge.python names {search.setting}, which has no Python)"
    for found in _list_environments(search):
        if python := find_interpreter(found.folder):
            yield ProjectPython(python, found.folder, found.reason + note)


def _list_environments(search: _Search) -> Iterator[_Environment]:
    """Yield the folders that may be the environment, the first choice first. They need not exist."""
    active = search.variable("VIRTUAL_ENV")
    is_active_here = active is not None and _is_for(search, active)
    if active and is_active_here:
        yield _Environment(active, "VIRTUAL_ENV")
    for folder in search.folders:
        for name in ENVIRONMENT_FOLDERS:
            place = folder / name
            yield _Environment(_follow_file(place) or place, _display(search.root, place))
    if active and not is_active_here:
        yield _Environment(active, "VIRTUAL_ENV")
    conda = search.variable("CONDA_PREFIX")
    is_base = search.environ.get("CONDA_DEFAULT_ENV") in CONDA_BASES
    if conda and not is_base:
        yield _Environment(conda, "CONDA_PREFIX")
    for find in FINDERS:
        for folder in search.folders:
            yield from find(search, folder)
    if conda and is_base:
        yield _Environment(conda, "CONDA_PREFIX")


def _is_for(search: _Search, active: Path) -> bool:
    """Return whether the active environment counts for this file before one that lies in its folders.

    It does not if it is that of another project of the workspace, or that of this program.
    """
    if active.is_relative_to(search.root):
        return active.parent in search.folders or not _is_project(active.parent)
    return active.resolve() != Path(sys.prefix).resolve()


def _is_project(folder: Path) -> bool:
    return any((folder / mark).is_file() for mark in PROJECT_MARKS)


def _follow_file(place: Path) -> Path | None:
    """Return the folder that a file in the place of an environment names, or None."""
    if not place.is_file():
        return None
    line = _read(place).strip().split("\n")[0].strip()
    return place.parent / os.path.expanduser(line) if line and "\0" not in line else None


def _find_uv(search: _Search, folder: Path) -> Iterator[_Environment]:
    name = search.environ.get("UV_PROJECT_ENVIRONMENT", "")
    if name and ((folder / "uv.lock").is_file() or (folder / "pyproject.toml").is_file()):
        yield _Environment(folder / os.path.expanduser(name), "UV_PROJECT_ENVIRONMENT")


def _find_poetry(search: _Search, folder: Path) -> Iterator[_Environment]:
    project = read_toml(folder / "pyproject.toml")
    poetry = _as_table(project, "tool", "poetry")
    if not poetry and not (folder / "poetry.lock").is_file():
        return
    name = str(_as_table(project, "project").get("name") or poetry.get("name") or folder.name)
    settings = [
        _as_table(read_toml(place), "virtualenvs")
        for place in (folder / "poetry.toml", _config_folder(search, "pypoetry") / "config.toml")
    ]
    stored = next((str(table["path"]) for table in settings if "path" in table), "")
    chosen = search.environ.get("POETRY_VIRTUALENVS_PATH") or stored
    cache = search.environ.get("POETRY_CACHE_DIR") or str(_cache_folder(search, "pypoetry"))
    store = Path(os.path.expanduser(chosen.replace("{cache-dir}", cache))) if chosen else Path(cache) / "virtualenvs"
    base_name = f"{POETRY_UNSAFE.sub('_', name.lower())[:42]}-{_hash(os.path.realpath(folder))}"
    used = str(_as_table(read_toml(store / "envs.toml"), base_name).get("minor", ""))
    found = sorted(_list(store, f"{base_name}-py"), key=_version_key, reverse=True)
    found.sort(key=lambda place: place.name != f"{base_name}-py{used}")
    yield from (_Environment(place, "poetry") for place in found)


def _find_pdm(search: _Search, folder: Path) -> Iterator[_Environment]:
    python = _read(folder / ".pdm-python").strip()
    if os.path.isabs(python) and "\0" not in python and (environment := _environment_of(Path(python))):
        yield _Environment(environment, ".pdm-python")


def _find_hatch(search: _Search, folder: Path) -> Iterator[_Environment]:
    project = read_toml(folder / "pyproject.toml")
    backend = str(_as_table(project, "build-system").get("build-backend", ""))
    if not _as_table(project, "tool", "hatch") and "hatchling" not in backend and not (folder / "hatch.toml").is_file():
        return
    # the name as the index of packages writes it
    name = re.sub(r"[-_.]+", "-", str(_as_table(project, "project").get("name", ""))).lower()
    data = search.environ.get("HATCH_DATA_DIR") or str(_data_folder(search, "hatch"))
    config = search.environ.get("HATCH_CONFIG") or str(_config_folder(search, "hatch") / "config.toml")
    stores = [Path(data) / "env" / "virtual" / name / _hash(path) for path in (str(folder), os.path.realpath(folder))]
    if own := str(_as_table(read_toml(Path(config)), "dirs", "env").get("virtual", "")):
        place = folder / os.path.expanduser(own)
        stores.insert(0, place if place.is_relative_to(folder) else place / name / _hash(str(folder)))
    for store in dict.fromkeys(stores):
        found = [place for place in _list(store) if not place.name.startswith(("hatch-build", "hatch-static"))]
        # the environment `default` has the name of the project
        found.sort(key=lambda place: (place.name not in (name, "default"), not place.name.startswith("hatch-test")))
        yield from (_Environment(place, f"hatch ({place.name})") for place in found)


def _find_pipenv(search: _Search, folder: Path) -> Iterator[_Environment]:
    if (folder / "Pipfile").is_file():
        store = Path(search.environ.get("WORKON_HOME") or _data_folder(search, "virtualenvs"))
        for place in _list(store, f"{folder.name[:10]}"):
            if _read(place / ".project").strip() in (str(folder), os.path.realpath(folder)):
                yield _Environment(place, "pipenv")


def _find_pyenv(search: _Search, folder: Path) -> Iterator[_Environment]:
    names = (search.environ.get("PYENV_VERSION") or _read(folder / ".python-version")).split()
    root = search.variable("PYENV_ROOT") or _find_home(search) / ".pyenv"
    yield from (_Environment(place, ".python-version (pyenv)") for place in _list_releases(root, names))


def _list_releases(pyenv: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the folders of releases of Python, by names as pyenv writes them: `3.12` means its newest one."""
    for name in names:
        if "/" not in name and ".." not in name:
            releases = sorted(_list(pyenv / "versions", f"{name}."), key=_version_key, reverse=True)
            yield from (pyenv / "versions" / name, *releases)


def _find_tox(search: _Search, folder: Path) -> Iterator[_Environment]:
    stores = [Path(search.environ.get("TOX_WORK_DIR") or folder / ".tox"), folder / ".nox"]
    for store in stores:
        found = sorted(_list(store), key=_version_key, reverse=True)
        found.sort(key=lambda place: not place.name.startswith(("py", "test")))
        yield from (_Environment(place, f"{store.name.strip('.')} ({place.name})") for place in found)


FINDERS = (_find_uv, _find_poetry, _find_pdm, _find_hatch, _find_pipenv, _find_pyenv, _find_tox)
"""The programs that manage environments, in their order. Each yields the environments of one folder."""


def _find_on_path(search: _Search) -> Iterator[ProjectPython]:
    for folder in search.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in dict.fromkeys(Path(place).name for place in reversed(INTERPRETERS)):
            path = Path(folder) / name
            if os.path.isabs(folder) and path.is_file() and os.access(path, os.X_OK):
                path = _follow_shim(path) or path
                yield ProjectPython(path, _environment_of(path), f"{name} on PATH")


def _follow_shim(path: Path) -> Path | None:
    """Return the interpreter that a shim of pyenv starts by default, because the shim lies in no installation."""
    pyenv = path.parent.parent
    if path.parent.name != "shims" or not (pyenv / "versions").is_dir():
        return None
    found = (find_interpreter(place) for place in _list_releases(pyenv, _read(pyenv / "version").split()))
    return next(filter(None, found), None)


# -- places of other programs
def _find_home(search: _Search) -> Path:
    return search.variable("HOME") or find_home() or NO_HOME


def _config_folder(search: _Search, name: str) -> Path:
    if sys.platform == "darwin":
        return _find_home(search) / "Library" / "Application Support" / name
    return (search.variable("APPDATA") or search.variable("XDG_CONFIG_HOME") or _find_home(search) / ".config") / name


def _cache_folder(search: _Search, name: str) -> Path:
    if sys.platform == "darwin":
        return _find_home(search) / "Library" / "Caches" / name
    if local := search.variable("LOCALAPPDATA"):
        return local / name / "Cache"
    return (search.variable("XDG_CACHE_HOME") or _find_home(search) / ".cache") / name


def _data_folder(search: _Search, name: str) -> Path:
    if sys.platform == "darwin" and name != "virtualenvs":
        return _find_home(search) / "Library" / "Application Support" / name
    share = (
        search.variable("LOCALAPPDATA") or search.variable("XDG_DATA_HOME") or _find_home(search) / ".local" / "share"
    )
    return share / name


def _hash(path: str) -> str:
    """Return the letters by which poetry and hatch tell projects of one name apart."""
    return base64.urlsafe_b64encode(hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()).decode()[:8]


def _list(store: Path, start: str = "") -> list[Path]:
    try:
        return [store / name for name in sorted(os.listdir(store)) if name.startswith(start)]
    except OSError:
        return []


def _version_key(place: Path) -> tuple[int, ...]:
    """Return the numbers in a name, so that `py3.9` sorts before `py3.12`."""
    return tuple(map(int, re.findall(r"\d{1,9}", place.name.rpartition("-")[2])))


def _display(root: Path, place: Path) -> str:
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)


def _read(path: Path) -> str:
    try:
        return read_text(path, MAX_SETTINGS_BYTES) if path.is_file() else ""
    except (FileError, OSError):
        return ""


def read_toml(path: Path) -> Table:
    """Return the value of a TOML file, or an empty table if it cannot be read.

    It is parsed again only if the file changed, because a checker is found for each suggestion.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return {}
    return _parse_toml(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=MAX_PARSED_FILES)
def _parse_toml(path: Path, stamp: tuple[int, int, int]) -> Table:
    del stamp
    try:
        return tomllib.loads(_read(path))
    except (ValueError, RecursionError):
        return {}


def _as_table(value: Any, *names: str) -> Table:
    for name in names:
        value = cast("Table", value).get(name) if isinstance(value, dict) else None
    return cast("Table", value) if isinstance(value, dict) else {}
