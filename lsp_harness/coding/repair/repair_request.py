"""What a source of repairs is asked: a finding in a text, and what may be known around that text."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """A finding, its subject, and the tree of the text that both are about.

    `path` is the text's path in its workspace. `known` is the index of that workspace, `installed` are the packages that are
    installed for it, `root` is its folder and `file` the file; each is None where there is none.
    """

    finding: Finding
    subject: Subject
    tree: SyntaxTree
    path: str = ""
    known: IndexQuery | None = None
    installed: InstalledPackages | None = None
    root: Path | None = None
    file: Path | None = None


Source = Callable[[RepairRequest], Awaitable[list[Repair]]]
"""Something that finds repairs of one finding, unjudged and in any order."""
