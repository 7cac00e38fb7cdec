"""`pyright` and `basedpyright`, type checkers for Python. They are used where a project configures them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

from lsp_harness.knowledge.project_python import find_interpreter, folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.project_settings import find_configuration, read_table
from lsp_harness.verify.types.ty_checker import PythonChecker, TyChecker, find_in_environments
from lsp_harness.verify.types.type_checker import Condition, Program, find_in_folder

OWN_FILE = "pyrightconfig.json"


class PyrightChecker(PythonChecker):
    """The language server of pyright, or that of basedpyright if only this one is installed."""

    name: ClassVar[str] = "pyright"
    install_hint: ClassVar[str] = "pip install pyright"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        "reportMissingImports": "environment",
        "reportMissingModuleSource": "environment",
    }
    stands_for = TyChecker.name
    servers: ClassVar[tuple[str, ...]] = ("pyright-langserver", "basedpyright-langserver")
    files: ClassVar[tuple[str, ...]] = (OWN_FILE,)

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the server of the project's environment, or else that on PATH or beside this interpreter."""
        modules = [folder / "node_modules" / ".bin" for folder in folders_up_to(root, file)]
        for server in self.servers:
            own = find_in_environments(root, file, environment, server)
            own = own or next(filter(None, (find_in_folder(folder, server) for folder in modules)), None)
            if program := own or find_tool(server):
                return Program([program, "--stdio"])
        return None

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, self.files, self.name)

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return whether `include`, `exclude` or `ignore` leave a file out. The server looks at it nevertheless."""
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""
        table = self._read_settings(folder)
        included, excluded = _read_patterns(table, "include"), _read_patterns(table, "exclude", "ignore")
        is_out = any(map(_create_matcher(name), excluded))
        if name and (is_out or (included and not any(map(_create_matcher(name), included)))):
            return f"{self.name}'s configuration excludes {name}"
        return ""

    def _read_settings(self, folder: Path) -> Mapping[str, Any]:
        """Return the settings of a folder. The file of pyright comes before `pyproject.toml`."""
        if (folder / OWN_FILE).is_file():
            return read_table(folder / OWN_FILE)
        names = (self.name, PyrightChecker.name)
        tables = [read_table(folder / "pyproject.toml", "tool", name) for name in names]
        return next(filter(None, tables), tables[0])

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment, and let it report open files only. It asks for them by parts."""
        analysis = {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True, "useLibraryCodeForTypes": True}
        interpreter = find_interpreter(Path(python)) if python else None
        settings: dict[str, Any] = {"analysis": analysis, **analysis}
        if interpreter:
            settings["pythonPath"] = str(interpreter)
        return settings


class BasedPyrightChecker(PyrightChecker):
    """The language server of basedpyright."""

    name: ClassVar[str] = "basedpyright"
    install_hint: ClassVar[str] = "pip install basedpyright"
    servers: ClassVar[tuple[str, ...]] = ("basedpyright-langserver",)
    files: ClassVar[tuple[str, ...]] = ()


def _read_patterns(settings: Mapping[str, Any], *names: str) -> list[str]:
    """Return the patterns of some lists of settings."""
    lists = (cast("Any", settings.get(name)) for name in names)
    return [str(pattern) for patterns in lists if isinstance(patterns, list) for pattern in cast("list[Any]", patterns)]


def _create_matcher(path: str) -> Callable[[str], bool]:
    """Return a function that says whether a pattern of pyright names a path or a folder above it.

    `**` stands for any folders, `*` for any characters of a name, and `?` for one.
    """

    def matches(pattern: str) -> bool:
        words = [_translate(word) for word in pattern.removeprefix("./").strip("/").split("/") if word not in ("", ".")]
        return re.match("".join(words) + r"(?:/|\Z)", f"{path}") is not None if words else True

    return matches


def _translate(word: str) -> str:
    """Return the regular expression for one part of a pattern, whose parts are joined by slashes."""
    if word == "**":
        return r"(?:(?:\A|/)[^/]+)*"
    name = "".join({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)) for letter in word)
    return rf"(?:\A|/){name}"
