"""`rust-analyzer`, the language server of Rust. It runs only if the user names it: untested with the real program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_chosen_program

PROGRAM_VARIABLE = "LSP_HARNESS_RUST_ANALYZER"
"""The environment variable with the path of `rust-analyzer`."""


class RustAnalyzerChecker(TypeChecker):
    """The language server of Rust, with the findings that it computes itself."""

    name: ClassVar[str] = "rust-analyzer"
    install_hint: ClassVar[str] = f"{PROGRAM_VARIABLE} names the program"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names, fields and methods that do not exist
        **dict.fromkeys(("E0425", "E0559", "E0560", "E0599", "E0609"), "always"),
        **dict.fromkeys(("E0432", "E0433"), "environment"),
        # the number of arguments; a missing one is reported at the closing bracket
        "E0107": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the program of the environment variable."""
        program = find_chosen_program(PROGRAM_VARIABLE)
        return Program([program]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings without `cargo check`, whose findings are about files on disk."""
        return {
            "checkOnSave": False,
            "cachePriming": {"enable": False},
            "diagnostics": {"experimental": {"enable": True}},
        }
