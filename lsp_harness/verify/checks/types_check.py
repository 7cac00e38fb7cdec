"""The check by the type checker of the project: does a proposal add a type error?"""

from dataclasses import replace

from lsp_harness.text.document import Document
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.checks.comparison_check import ComparisonCheck
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_identity import UNKNOWN_NAME
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

UNRESOLVED_NAME = "unresolved-reference"
"""ty's rule about a name that is not defined, which ruff reports too."""


class TypesCheck(ComparisonCheck):
    """Fails an edit that adds an error of the type checker.

    Args:
        types: The type checkers. None if none may run.
        names: Finds errors about names. With it, other errors do not count, and `types` is not used.
        linter: The linter whose check runs, too. None if there is none.
        is_automatic: Whether only projects that use types are checked.
    """

    name = "types"
    title = "types"
    feedback_label = "TYPE ERROR"
    criterion = (
        "the type checker has no new error about a name, an attribute, an argument or an import in the changed texts, "
        "which it sees together. With `on`, the checker of the project has no new error at all. Warnings do not count. "
        "See [Types of edits](types.md#types-of-edits)"
    )
    setting = "type_check"

    def __init__(
        self,
        types: TypeComparison | None,
        names: NameErrors | None = None,
        linter: Ruff | None = None,
        *,
        is_automatic: bool = False,
    ) -> None:
        self._types, self._names, self._linter, self._is_automatic = types, names, linter, is_automatic

    @classmethod
    def create(cls, context: CheckContext) -> "TypesCheck | None":
        """Return the check, or None if it is about names alone and this client has no such checker."""
        mode, tools = context.settings.type_check, context.tools
        if mode == "names":
            return cls(None, tools.names, tools.ruff if context.settings.lint else None) if tools.names else None
        return cls(tools.types, is_automatic=mode == "auto")

    async def compare(self, changes: ChangeSet) -> Comparison:
        if self._names:
            comparison = await self._names.compare(changes)
            return replace(comparison, new=tuple([new for new in comparison.new if not await self._is_known(new)]))
        if self._types is None:
            raise NothingComparedError("this workspace is not trusted, so no type checker runs on it")
        if self._is_automatic and not self._types.is_in_use(changes):
            raise NothingComparedError("the project configures no type checker, and none is running")
        return await self._types.compare(changes)

    async def _is_known(self, new: NewFinding) -> bool:
        """Return whether the linter reports the same unknown name: one problem is one finding."""
        change, finding = new.change, new.finding
        if finding.code != UNRESOLVED_NAME or self._linter is None or self._linter.missing_reason:
            return False
        try:
            reported = await self._linter.find_findings(change.after, change.file, change.root)
        except RuffFailed:
            return False
        place = (finding.start, finding.end)
        return any((other.start, other.end) == place and other.code == UNKNOWN_NAME for other in reported)

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a line such as "TYPE ERROR at line 5: Incompatible return value type"."""
        return f"{self.feedback_label} at line {document.line_of(finding.start) + 1}: {finding.message}"
