"""The linter behind the permission gate."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.harness.verification.edit_permission import CheckPermission
from lsp_harness.permission.action import LINT_TOOL, Action
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed, RuffReport

LINT = Action(LINT_TOOL, "execute", argv=("ruff", "check", "--no-cache", "-"))
"""The action of linting: ruff reads a text from its standard input, and writes nothing."""


class GatedRuff(Ruff):
    """A linter that runs only if the permission gate allows it.

    Args:
        linter: The linter.
        permission: Asks the gate.
    """

    def __init__(self, linter: Ruff, permission: CheckPermission) -> None:
        super().__init__()
        self._linter, self._permission = linter, permission

    @property
    def missing_reason(self) -> str:
        return self._linter.missing_reason

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[RuffReport, ...]:
        if not self.missing_reason and (problem := await self._permission.find_problem(LINT, "the linter")):
            raise RuffFailed(problem)
        return await self._linter.check(document, file, root, select=select, isolated=isolated)

    def forget_answers(self) -> None:
        self._linter.forget_answers()

    async def find_findings(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        if not self.missing_reason and (problem := await self._permission.find_problem(LINT, "the linter")):
            raise RuffFailed(problem)
        return await self._linter.find_findings(document, file, root)

    async def name_by_code(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        if self.missing_reason or await self._permission.find_problem(LINT, "the linter"):
            return tuple(findings)
        return await self._linter.name_by_code(findings)
