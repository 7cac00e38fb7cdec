"""`ruff server`, which lints a text within some milliseconds. The command takes several times as long to start."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.process.tool_run import find_tool
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker


class RuffServer(TypeChecker):
    """The language server of ruff. It reports what `ruff check` reports, but not which fixes are safe."""

    name: ClassVar[str] = "ruff"
    install_hint: ClassVar[str] = "pip install ruff"
    counting_rules: ClassVar[Mapping[str, Condition]] = {}

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the ruff that `ruff_linter` runs. It has no plug-ins."""
        return self.find_static_program()

    def find_static_program(self) -> Program | None:
        program = find_tool("ruff")
        return Program([program, "server"]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that leave all rules to the files of the project."""
        return {"settings": {"showSyntaxErrors": True}}

    def interpret(self, finding: Finding, document: Document) -> Finding:
        """Return a finding with the code and severity that `ruff_linter` gives it."""
        is_syntax = finding.code in ("", "invalid-syntax")
        return replace(
            finding,
            code="invalid-syntax" if is_syntax else finding.code,
            severity="error" if is_syntax else "warning",
        )
