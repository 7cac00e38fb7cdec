"""`ty`, a type checker for Python that answers within some milliseconds.

Its version is 0.0, so its rules may get other names. A rule that is not listed here does not count.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.project_settings import find_configuration
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_chosen_program, find_in_folder

PROGRAM_VARIABLE = "LSP_HARNESS_TY"
"""The environment variable with the path of another `ty`. If there is no such file, none is used."""
OWN_FOLDER = ".venv"
"""The folder that ty finds by itself."""
OTHER_FOLDERS = ("venv", "env")


class TyChecker(TypeChecker):
    """The language server of ty."""

    name: ClassVar[str] = "ty"
    install_hint: ClassVar[str] = "pip install ty"
    only_reads: ClassVar[bool] = True
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

    def find_program(self, root: Path, file: Path) -> Program | None:
        """Return the workspace's own ty, or else that on PATH or beside this interpreter."""
        folders = (root / folder / "bin" for folder in (OWN_FOLDER, *OTHER_FOLDERS))
        own = next(filter(None, (find_in_folder(folder, "ty") for folder in folders)), None)
        if own and not os.environ.get(PROGRAM_VARIABLE):
            return Program([own, "server"])
        return self.find_static_program()

    def find_static_program(self) -> Program | None:
        chosen = os.environ.get(PROGRAM_VARIABLE)
        program = find_chosen_program(PROGRAM_VARIABLE) if chosen else find_tool("ty")
        return Program([program, "server"]) if program else None

    def find_configuration(self, root: Path, file: Path) -> str:
        return find_configuration(root, ("ty.toml",), self.name)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment if ty would not find it."""
        environment = root / os.path.expanduser(python) if python else None
        if environment is None and not (root / OWN_FOLDER).is_dir():
            folders = (root / folder for folder in OTHER_FOLDERS)
            environment = next((folder for folder in folders if (folder / "pyvenv.cfg").is_file()), None)
        settings: dict[str, Any] = {"diagnosticMode": "openFilesOnly", "showSyntaxErrors": False}
        if environment:
            settings["configuration"] = {"environment": {"python": str(environment)}}
        return settings
