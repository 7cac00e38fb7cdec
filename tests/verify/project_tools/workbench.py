"""A small project on disk, and the comparisons of its tools before and after a proposal."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_harness.process.sandbox.sandbox import Confinement
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, run_check
from lsp_harness.verify.checks import LintCheck, TypesCheck
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool


class Workbench:
    """The tools of a project.

    Attributes:
        asked: The commands that the permission gate was asked about.
        confinements: The sandboxes that the gate was told of.
        objection: The answer of the gate.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[Sequence[str]] = []
        self.confinements: list[Confinement | None] = []
        self.objection = ""
        self.sandbox: SandboxChoice | None = None
        self.pool = CheckerPool()
        self.tools = ToolComparison(ToolAccess(self._find_objection, lambda: self.sandbox or machine_sandbox()))
        self.types = TypeComparison(self.pool, self.tools)

    async def _find_objection(self, argv: Sequence[str], confinement: Confinement | None) -> str:
        self.asked.append(argv)
        self.confinements.append(confinement)
        return self.objection

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def propose(self, texts: Mapping[str, str], language: str = "") -> ChangeSet:
        """Return the proposal that files get these texts."""
        changes: list[Change] = []
        for name, text in texts.items():
            file = self.root / name
            before = Document.from_text(file.as_uri(), file.read_text(), language=language)
            after = Document.from_text(before.uri, text, language=language)
            changes.append(Change.from_documents(before, after, file, self.root))
        return ChangeSet(tuple(changes))

    async def find_types(self, texts: Mapping[str, str], language: str = "") -> list[str]:
        """Return the lines of the check `types` about a proposal, or why it was skipped."""
        return await self._judge(TypesCheck(self.types), self.propose(texts, language))

    async def find_lint(self, texts: Mapping[str, str]) -> list[str]:
        """Return the lines of the check `lint` about a proposal, or why it was skipped."""
        return await self._judge(LintCheck(Ruff(), self.tools), self.propose(texts))

    async def _judge(self, check: Check, changes: ChangeSet) -> list[str]:
        outcome = await run_check(check, changes)
        if outcome.status == "skipped":
            return [f"skipped: {outcome.reason}"]
        assert (outcome.status == "failed") == bool(outcome.lines)
        return [*outcome.lines]

    async def aclose(self) -> None:
        await self.pool.aclose()
        await self.tools.aclose()
