"""`gopls`, the language server of Go. It is untested with the real program, so it runs only if the user names it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_chosen_program

PROGRAM_VARIABLE = "LSP_HARNESS_GOPLS"
"""The environment variable with the path of `gopls`."""


class GoplsChecker(TypeChecker):
    """The language server of Go. Versions that answer no requests for findings publish them."""

    name: ClassVar[str] = "gopls"
    install_hint: ClassVar[str] = f"{PROGRAM_VARIABLE} names the program"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names, also those of packages
        **dict.fromkeys(("UndeclaredName", "UndeclaredImportedName", "UnexportedName"), "always"),
        # members, and fields of a literal
        **dict.fromkeys(("MissingFieldOrMethod", "MissingLitField"), "always"),
        "BrokenImport": "environment",
        # too few arguments are reported at the closing bracket
        "WrongArgCount": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the program of the environment variable."""
        program = find_chosen_program(PROGRAM_VARIABLE)
        return Program([program, "serve"]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that let it answer requests for findings, and leave out the analyses that do not count."""
        return {"pullDiagnostics": True, "staticcheck": False, "diagnosticsDelay": "0s"}
