"""The input of a source of repairs: a finding in a text, and the index and packages around that text."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """A finding, and everything that helps to find its repairs.

    Attributes:
        finding: The finding.
        subject: The subject of the finding, for example the unknown name.
        tree: The syntax tree of the text.
        path: The path of the text in its workspace.
        index: The index of the workspace, or None.
        installed: The packages that are installed for the workspace, or None.
        root: The workspace folder, or None.
        file: The file of the text, or None.
        learned: The fixes that were accepted in the project, or None.
    """

    finding: Finding
    subject: Subject
    tree: SyntaxTree
    path: str = ""
    index: IndexQuery | None = None
    installed: InstalledPackages | None = None
    root: Path | None = None
    file: Path | None = None
    learned: LearnedFixes | None = None


RepairSource = Callable[[RepairRequest], Awaitable[list[Repair]]]
"""A function that returns repairs of one finding, in any order and not checked."""
