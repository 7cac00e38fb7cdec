"""`ty`, a type checker for Python that answers within some milliseconds.

Its version is 0.0, so its rules may get other names. A rule that is not listed here does not count.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.knowledge.project_python import (
    ENVIRONMENT_FOLDERS,
    find_environment,
    find_python_project,
    folders_up_to,
    program_folders,
)
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.project_settings import find_configuration, find_configured_folder, read_table
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_chosen_program, find_in_folder

PROGRAM_VARIABLE = "LSP_HARNESS_TY"
"""The environment variable with the path of another `ty`. If there is no such file, none is used."""
TABLE_NAMES = ("tool", "ty", "environment")
"""The names of the table of `pyproject.toml` by which a project names its environment."""


class PythonChecker(TypeChecker):
    """A checker that runs in the project of a file: the nearest one that configures it, or else the nearest one."""

    def find_folder(self, root: Path, file: Path) -> Path:
        return find_configured_folder(root, file, self.configures) or find_python_project(root, file)

    def find_environment(self, root: Path, file: Path, setting: str) -> str:
        found = find_environment(root, file, setting)
        return str(found) if found else ""


def find_in_environments(root: Path, file: Path, environment: str, name: str) -> str | None:
    """Return a program of the environment of a file's project, or of one in the folders of the file, or None."""
    chosen = (Path(environment),) if environment else ()
    around = (folder / env for folder in folders_up_to(root, file) for env in ENVIRONMENT_FOLDERS)
    places = (folder for place in (*chosen, *around) for folder in program_folders(place))
    return next(filter(None, (find_in_folder(place, name) for place in places)), None)


class TyChecker(PythonChecker):
    """The language server of ty."""

    name: ClassVar[str] = "ty"
    install_hint: ClassVar[str] = "pip install ty"
    only_reads: ClassVar[bool] = True
    canary: ClassVar[str] = 'import no_such_module_here\nno_such_name_here\nx: int = ""\n'
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names
        "unresolved-reference": "always",
        # attributes: `missing-attribute` and `missing-module-member` were `unresolved-attribute` before ty 0.0.100
        "missing-attribute": "always",
        "missing-module-member": "always",
        "unresolved-attribute": "always",
        # imports, with the older name
        "import-not-found": "environment",
        "unresolved-import": "environment",
        # arguments
        "unknown-argument": "always",
        "positional-only-parameter-as-kwarg": "always",
        "parameter-already-assigned": "always",
        "too-many-positional-arguments": "always",
        "missing-argument": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the ty of the project's environment, or else that on PATH or beside this interpreter."""
        own = find_in_environments(root, file, environment, "ty")
        if own and not os.environ.get(PROGRAM_VARIABLE):
            return Program([own, "server"])
        return self.find_static_program()

    def find_static_program(self) -> Program | None:
        chosen = os.environ.get(PROGRAM_VARIABLE)
        program = find_chosen_program(PROGRAM_VARIABLE) if chosen else find_tool("ty")
        return Program([program, "server"]) if program else None

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, ("ty.toml",), self.name)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment, unless the project itself does."""
        settings: dict[str, Any] = {"diagnosticMode": "openFilesOnly", "showSyntaxErrors": False}
        tables = (read_table(root / "ty.toml", "environment"), read_table(root / "pyproject.toml", *TABLE_NAMES))
        if python and not any("python" in table for table in tables):
            settings["configuration"] = {"environment": {"python": python}}
        return settings
