"""The linter behind the permission gate."""

from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from lsp_harness.session.log.turn import Turn, current_turn
from lsp_harness.session.permission.action import LINT_TOOL, Action
from lsp_harness.session.permission.permission_gate import PermissionGate
from lsp_harness.text.document import Document
from lsp_harness.verify.ruff_linter import Report, Ruff, RuffFailed

LINT = Action(LINT_TOOL, "execute", argv=("ruff", "check", "--no-cache", "-"))
"""The action of linting: ruff reads a text from its standard input, and writes nothing."""


class GatedRuff(Ruff):
    """A linter that runs only if the permission gate allows it.

    The gate decides once for each turn, and the turn records it. Outside of a turn, such as for a list of fixes, the
    settings alone decide.

    Args:
        linter: The linter.
        gate: Returns the gate of the session.
    """

    def __init__(self, linter: Ruff, gate: Callable[[], PermissionGate]) -> None:
        super().__init__()
        self._linter, self._gate = linter, gate
        self._problems: WeakKeyDictionary[Turn, str] = WeakKeyDictionary()

    @property
    def missing_reason(self) -> str:
        return self._linter.missing_reason

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[Report, ...]:
        if not self.missing_reason and (problem := await self._find_problem()):
            raise RuffFailed(problem)
        return await self._linter.check(document, file, root, select=select, isolated=isolated)

    async def _find_problem(self) -> str:
        """Return why the linter may not run, or an empty text."""
        turn, gate = current_turn.get(), self._gate()
        if turn is None:
            explained = gate.explain(LINT)
            decision = explained.decision
            reason = decision.reason if decision else explained.question
            return "" if decision and decision.is_allowed else f"the linter is not allowed to run: {reason}"
        if turn not in self._problems:
            decision = await gate.check(LINT)
            self._problems[turn] = "" if decision.is_allowed else f"the linter is not allowed to run: {decision.reason}"
        return self._problems[turn]
