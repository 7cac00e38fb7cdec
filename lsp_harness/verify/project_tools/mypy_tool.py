"""`mypy`. It reads the texts of a proposal by `--shadow-file`, so that it needs no copy of the project."""

import configparser
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import find_interpreter
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tools.project_tool import ProjectTool, ToolJob
from lsp_harness.verify.types.project_settings import MAX_SETTINGS_BYTES, find_configuration, has_line, read_table
from lsp_harness.verify.types.ty_checker import find_in_environments

OWN_FILES = ("mypy.ini", ".mypy.ini")
LISTS = re.compile(r"[,\n]")
"""The separators of the items of a list in an INI file."""
CONFIG_FOLDER = "$MYPY_CONFIG_FILE_DIR"
SOURCE_FOLDERS = ("", "src/")
"""The folders in which the packages lie that the settings name, apart from `mypy_path`."""


class Mypy(ProjectTool):
    """The command of mypy on the changed files and those that use them. Its cache makes later questions fast."""

    name = "mypy"
    check = "types"
    reader = "mypy"
    suffixes = (".py", ".pyi")
    install_hint = "pip install mypy"
    needs_files = False
    names_users = True
    stopped_status = 2

    def configures(self, folder: Path) -> str:
        name = find_configuration(folder, OWN_FILES, self.name)
        return name or ("setup.cfg" if has_line(folder / "setup.cfg", "[mypy") else "")

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        """Return the mypy of the project's environment, or else that on PATH or beside this interpreter."""
        return find_in_environments(root, file, str(environment or ""), "mypy") or find_tool("mypy")

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return whether the settings leave a file out. A command that names the file would check it nevertheless."""
        name = file.relative_to(folder).as_posix()
        return "" if _selects(_read_settings(folder), name) else f"mypy's configuration excludes {name}"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        shadows = [word for file, text in job.texts.items() for word in ("--shadow-file", str(file), str(text))]
        options = ["--show-column-numbers", "--no-error-summary", "--no-color-output", "--no-pretty"]
        options += ["--hide-error-context", "--cache-dir", str(job.cache)]
        python = find_interpreter(job.environment) if job.environment else None
        if python and python.parent != Path(job.program).parent:
            # a mypy of another installation does not know the packages of the project
            options += ["--python-executable", str(python)]
        settings = _read_settings(job.root)
        # an excluded file is read if one that is not excluded imports it
        files = [file for file in (*job.texts, *job.users) if _selects(settings, file.as_posix())]
        return [[job.program, *options, *shadows, "--", *map(str, files)]]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the environment of mypy, and the installation of Python that it is made from."""
        folder = Path(program).resolve().parent
        return (*super().list_folders(program), (folder / "python").resolve().parent.parent)


def _read_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings of the file that mypy reads in a folder, or an empty table."""
    for name in OWN_FILES:
        if (folder / name).is_file():
            return _read_ini(folder / name)
    if table := read_table(folder / "pyproject.toml", "tool", "mypy"):
        return table
    return _read_ini(folder / "setup.cfg")


def _read_ini(file: Path) -> Mapping[str, Any]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(read_text(file, MAX_SETTINGS_BYTES))
        return dict(parser["mypy"])
    except (FileError, configparser.Error, KeyError):
        return {}


def _selects(settings: Mapping[str, Any], path: str) -> bool:
    """Return whether mypy would check a file by its settings alone.

    Args:
        settings: The settings.
        path: The file, relative to the folder of the settings.
    """
    if any(_finds(pattern, path) for pattern in _list_exclusions(settings.get("exclude"))):
        return False
    files = [*_list_names(settings.get("files"))]
    modules = [*_list_names(settings.get("modules")), *_list_names(settings.get("packages"))]
    if not files and not modules:
        return True
    return any(_is_below(path, name) for name in files) or any(_is_module(settings, path, name) for name in modules)


def _finds(pattern: str, path: str) -> bool:
    """Return whether a regular expression of `exclude` finds something in a path or in a folder above it."""
    folders = [f"{parent.as_posix()}/" for parent in PurePosixPath(path).parents if parent.name]
    try:
        return any(re.search(pattern, place) for place in (path, *folders))
    except re.error:
        # mypy itself says what is wrong
        return False


def _list_exclusions(value: Any) -> list[str]:
    """Return the regular expressions of `exclude`: a list, or a single one."""
    if isinstance(value, list):
        return [str(pattern) for pattern in cast("list[Any]", value)]
    text = str(value or "").strip()
    return [text] if text else []


def _list_names(value: Any) -> Iterator[str]:
    names = cast("list[Any]", value) if isinstance(value, list) else LISTS.split(str(value or ""))
    yield from (text for name in names if (text := str(name).strip()))


def _is_below(path: str, pattern: str) -> bool:
    """Return whether a file is one that `files` names, or lies in a folder that it names."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if pattern in ("", "."):
        return True
    above = [PurePosixPath(path), *PurePosixPath(path).parents]
    return any(_matches(place.parts, PurePosixPath(pattern).parts) for place in above)


def _matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether a path fits a pattern part by part. `**` is any number of folders, also none."""
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_matches(parts[start:], patterns[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])


def _is_module(settings: Mapping[str, Any], path: str, name: str) -> bool:
    listed: Any = settings.get("mypy_path")
    words = cast("list[Any]", listed) if isinstance(listed, list) else re.split(r"[,:\n]", str(listed or ""))
    names = (str(word).strip().removeprefix(CONFIG_FOLDER).strip("/").removeprefix("./") for word in words)
    folders = [f"{folder}/" for folder in names if folder]
    places = (f"{folder}{name.replace('.', '/')}" for folder in (*SOURCE_FOLDERS, *folders))
    return any(path.startswith((f"{place}/", f"{place}.py")) for place in places)
