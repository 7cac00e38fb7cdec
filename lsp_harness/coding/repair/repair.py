"""A repair that was found without a model, and the finding with its surroundings for which a source looks for one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.index.index_query import IndexQuery
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import Author
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that may resolve a finding and that need no model.

    Attributes:
        kind: The kind that a user reads in the table of candidates, for example "nearest name" or "import".
        edits: The edits of the text.
        cost: Orders the repairs of one finding. 0 is certain and 1 is one typing error. A repair that costs 1 or more
            than the cheapest one is a guess. If two repairs cost almost the same, the text does not show which is
            correct.
        author: The author of the edits. A linter's own fix may change the code that its rule is about.
        learned_id: The fix in the error cache that it repeats, or an empty text.
    """

    kind: str
    edits: tuple[Edit, ...]
    cost: float
    author: Author = "repair"
    learned_id: str = ""


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
