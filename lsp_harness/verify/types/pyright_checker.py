"""`pyright` and `basedpyright`, type checkers for Python. They are used where a project configures them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.project_settings import find_configuration
from lsp_harness.verify.types.ty_checker import OTHER_FOLDERS, OWN_FOLDER, TyChecker
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_in_folder


class PyrightChecker(TypeChecker):
    """The language server of pyright, or that of basedpyright if only this one is installed."""

    name: ClassVar[str] = "pyright"
    install_hint: ClassVar[str] = "pip install pyright"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        "reportMissingImports": "environment",
        "reportMissingModuleSource": "environment",
    }
    stands_for = TyChecker.name
    servers: ClassVar[tuple[str, ...]] = ("pyright-langserver", "basedpyright-langserver")
    files: ClassVar[tuple[str, ...]] = ("pyrightconfig.json",)

    def find_program(self, root: Path, file: Path) -> Program | None:
        """Return the server of the workspace's own environment, or else that on PATH or beside this interpreter."""
        folders = [root / folder / "bin" for folder in (OWN_FOLDER, *OTHER_FOLDERS)]
        folders.append(root / "node_modules" / ".bin")
        for server in self.servers:
            own = next(filter(None, (find_in_folder(folder, server) for folder in folders)), None)
            if program := own or find_tool(server):
                return Program([program, "--stdio"])
        return None

    def find_configuration(self, root: Path, file: Path) -> str:
        return find_configuration(root, self.files, self.name)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment, and let it report open files only. It asks for them by parts."""
        analysis = {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True, "useLibraryCodeForTypes": True}
        names = (os.path.expanduser(python),) if python else (OWN_FOLDER, *OTHER_FOLDERS)
        interpreters = (root / name / "bin" / "python" for name in names)
        interpreter = next((path for path in interpreters if path.exists()), None)
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
