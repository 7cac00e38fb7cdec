"""The second check: does the linter report something about the proposed text that it did not report before?"""

import asyncio
from functools import partial
from pathlib import Path

from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.checks.comparison_check import ComparisonCheck
from lsp_harness.verify.finding_identity import find_new_findings
from lsp_harness.verify.finding_rules import select_counting
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError, join_comparisons
from lsp_harness.verify.project_tools.project_tool import ProjectTool
from lsp_harness.verify.project_tools.project_tool_registry import find_configured_tool
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

BEHAVIOUR_RULES = ("invalid-syntax", "E9", "F", "B", "PLE", "PLW", "ASYNC", "RUF0")
"""Prefixes of ruff's rules about what the code does. The other rules are about its style."""


def is_python(document: Document, file: Path) -> bool:
    """Return whether ruff can read a text."""
    language = find_language_of_file(file.name)
    return any(spec and spec.linter == "ruff" for spec in (find_language(document.language), language))


class LintCheck(ComparisonCheck):
    """Fails an edit that adds findings of the linter: of ruff for Python, else of the one that the project configures.

    Args:
        ruff: The linter for Python.
        tools: Runs the linters of other languages. None if none may run.
    """

    name = "lint"
    title = "lint"
    feedback_label = "LINT"
    criterion = (
        "the linter has no new diagnostic: ruff, or else the one that the project configures "
        "([Linters](lint.md)). New style diagnostics do not count in a project without settings of ruff, nor for a "
        "repair of one token, because the fault had hidden them"
    )
    setting = "lint"

    def __init__(self, ruff: Ruff, tools: ToolComparison | None = None) -> None:
        self._ruff, self._tools = ruff, tools

    @classmethod
    def create(cls, context: CheckContext) -> "LintCheck":
        return cls(context.tools.ruff, context.tools.linters)

    async def compare(self, changes: ChangeSet) -> Comparison:
        """Compare the findings of each linter that reads one of the documents."""
        groups = await asyncio.to_thread(_group, changes)
        return await join_comparisons([partial(self._compare_group, tool, some) for tool, some in groups])

    async def _compare_group(self, tool: ProjectTool | None, changes: ChangeSet) -> list[NewFinding]:
        if tool is None:
            return await self._compare_document(changes.main)
        if self._tools is None:
            raise NothingComparedError("this workspace is not trusted, so no linter runs on it")
        return await self._tools.compare(tool, changes, "warning")

    async def _compare_document(self, change: Change) -> list[NewFinding]:
        """Compare the findings of ruff."""
        if not is_python(change.before, change.file):
            raise NothingComparedError(f"no linter is known for {change.file.suffix or 'this text'}")
        if self._ruff.missing_reason:
            raise NothingComparedError(self._ruff.missing_reason)
        try:
            before = await self._ruff.find_findings(change.before, change.file, change.root)
            after = await self._ruff.find_findings(change.after, change.file, change.root)
        except RuffFailed as error:
            raise NothingComparedError(error.message) from error
        was_broken = any(finding.code == "invalid-syntax" for finding in before)
        new = select_counting(find_new_findings(change, before, after, was_broken=was_broken), change.file)
        if change.author == "repair":
            # a rule about style may object to the correct name and not to the misspelt one; the repair is right
            # nevertheless
            new = [finding for finding in new if finding.code.startswith(BEHAVIOUR_RULES)]
        return [NewFinding(change, finding) for finding in new]


def _group(changes: ChangeSet) -> list[tuple[ProjectTool | None, ChangeSet]]:
    """Return the changes by the linter of their files. Those that ruff reads stand alone, without a tool."""
    alone: list[tuple[ProjectTool | None, ChangeSet]] = []
    groups: dict[tuple[str, Path], tuple[ProjectTool, list[Change]]] = {}
    for change in changes:
        tool, root = None, change.root
        if root and not is_python(change.before, change.file):
            tool = find_configured_tool("lint", root, change.file)
        if tool is None or root is None:
            alone.append((None, ChangeSet.of(change)))
        else:
            key = tool.name, tool.find_folder(root, change.file)
            groups.setdefault(key, (tool, []))[1].append(change)
    return [*alone, *((tool, ChangeSet(tuple(some))) for tool, some in groups.values())]
