"""The formatters of projects: ruff, black, prettier, rustfmt and gofmt.

A formatter runs only in a project that configures it. gofmt has no settings, and every module of Go is written by it.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tools.project_tool import ProjectProgram
from lsp_harness.verify.project_tools.tools import (
    MANIFEST,
    RUST_HINT,
    find_node_program,
    list_node_folders,
    list_rust_folders,
    list_rust_variables,
)
from lsp_harness.verify.ruff_linter import RUFF_SETTINGS_NAMES
from lsp_harness.verify.types.checkers import find_in_environments
from lsp_harness.verify.types.project_settings import MAX_SETTINGS_BYTES, find_configuration, read_table

HOOKS_FILE = ".pre-commit-config.yaml"


class Formatter(ProjectProgram):
    """A program that reads a text from its standard input and prints it in the form of the project.

    There is one class for each, and its line in `FORMATTERS`.

    Attributes:
        hooks: The ids of its hooks of pre-commit. A project that has one of them uses the formatter.
    """

    hooks: ClassVar[tuple[str, ...]] = ()

    def configures(self, folder: Path) -> str:
        """Return the settings of the formatter in a folder, or else the file with its hook, or an empty text."""
        return self.find_settings(folder) or (HOOKS_FILE if has_hook(folder, self.hooks) else "")

    @abstractmethod
    def find_settings(self, folder: Path) -> str:
        """Return how the settings in one folder configure the formatter, or an empty text."""

    @abstractmethod
    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        """Return the command that formats a text.

        Args:
            program: The path of the program.
            root: The workspace folder.
            file: The file of the text, by which the formatter chooses its settings.
        """

    def list_variables(self) -> Mapping[str, str]:
        """Return more variables of the environment."""
        return {}


def has_hook(folder: Path, ids: Sequence[str]) -> bool:
    """Return whether the settings of pre-commit in a folder have a hook with one of these ids."""
    try:
        text = read_text(folder / HOOKS_FILE, MAX_SETTINGS_BYTES) if ids else ""
    except FileError:
        return False
    return any(
        re.search(rf"^\s*(?:-\s+)?id:\s*['\"]?{re.escape(name)}['\"]?\s*(?:#|$)", text, re.MULTILINE) for name in ids
    )


class PythonFormatter(Formatter):
    """A formatter of the project's environment, or else the one on PATH or beside this interpreter."""

    suffixes = (".py", ".pyi")

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        name = self.name.split()[0]
        return find_in_environments(root, file, str(environment or ""), name) or find_tool(name)

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the environment of the program, and the installation of Python that it is made from."""
        folder = Path(program).resolve().parent
        return (*super().list_folders(program), (folder / "python").resolve().parent.parent)


class RuffFormat(PythonFormatter):
    """The formatter of ruff. Settings for its linter alone do not mean that a project uses it."""

    name = "ruff format"
    install_hint = "pip install ruff"
    hooks = ("ruff-format",)

    def find_settings(self, folder: Path) -> str:
        if name := next((name for name in RUFF_SETTINGS_NAMES if "format" in read_table(folder / name)), ""):
            return f"[format] in {name}"
        is_in_project = "format" in read_table(folder / "pyproject.toml", "tool", "ruff")
        return "[tool.ruff.format] in pyproject.toml" if is_in_project else ""

    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        # without the last option, files that the settings exclude would be formatted
        return [program, "format", "--no-cache", "--quiet", "--force-exclude", "--stdin-filename", str(file), "-"]


class Black(PythonFormatter):
    """The formatter black."""

    name = "black"
    install_hint = "pip install black"
    hooks = ("black", "black-jupyter")

    def find_settings(self, folder: Path) -> str:
        return find_configuration(folder, (), "black")

    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        return [program, "--quiet", "--stdin-filename", str(file), "-"]


PROGRAM_SUFFIXES = (".js", ".ts", ".mjs", ".mts", ".cjs", ".cts")
PRETTIER_FILES = (
    *(f".prettierrc{suffix}" for suffix in ("", ".json", ".yml", ".yaml", ".json5", ".toml", *PROGRAM_SUFFIXES)),
    *(f"prettier.config{suffix}" for suffix in PROGRAM_SUFFIXES),
)


class Prettier(Formatter):
    """The prettier that the project itself installed. Its configuration may be a program."""

    name = "prettier"
    suffixes = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".css", ".scss", ".less")
    install_hint = "npm install"

    def find_settings(self, folder: Path) -> str:
        if name := find_configuration(folder, PRETTIER_FILES):
            return name
        return "package.json" if "prettier" in read_table(folder / "package.json") else ""

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_node_program(root, file, self.name)

    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        return [program, "--stdin-filepath", str(file)]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), *list_node_folders(program))


class Rustfmt(Formatter):
    """The formatter of Rust. It gets the edition of the crate, which only cargo would tell it."""

    name = "rustfmt"
    suffixes = (".rs",)
    install_hint = f"{RUST_HINT}, then: rustup component add rustfmt"

    def find_settings(self, folder: Path) -> str:
        return find_configuration(folder, ("rustfmt.toml", ".rustfmt.toml"))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool(self.name)

    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        edition = _find_edition(root, file)
        return [program, "--emit", "stdout", *(("--edition", edition) if edition else ())]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), *list_rust_folders())

    def list_variables(self) -> Mapping[str, str]:
        return list_rust_variables()


def _find_edition(root: Path, file: Path) -> str:
    """Return the edition of the crate of a file, which may be that of its workspace. Empty if no manifest names one."""
    for folder in folders_up_to(root, file):
        for names in (("package",), ("workspace", "package")):
            edition = read_table(folder / MANIFEST, *names).get("edition")
            if isinstance(edition, str):
                return edition
    return ""


class Gofmt(Formatter):
    """The formatter of Go."""

    name = "gofmt"
    suffixes = (".go",)
    install_hint = "install Go from go.dev"

    def find_settings(self, folder: Path) -> str:
        return find_configuration(folder, ("go.mod",))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool(self.name)

    def create_command(self, program: str, root: Path, file: Path) -> Sequence[str]:
        return [program]


FORMATTERS: tuple[Formatter, ...] = (RuffFormat(), Black(), Prettier(), Rustfmt(), Gofmt())


def find_formatter(root: Path, file: Path) -> Formatter | None:
    """Return the formatter that a project configures for a file, that of the nearest folder, or None.

    It need not be installed.

    Args:
        root: The workspace folder.
        file: A file in it.
    """
    fitting = [one for one in FORMATTERS if file.suffix in one.suffixes and one.find_configuration(root, file)]
    return max(fitting, key=lambda one: len(one.find_folder(root, file).parts), default=None)
