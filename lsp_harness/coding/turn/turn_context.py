"""The input of every turn on code: one document version, the turn of the session, and the tools that it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.config.schema import Config, Verification
from lsp_harness.context.context_inputs import PackageScope, WorkspaceScope
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Owner
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.results import Report
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
from lsp_harness.text.document import Document
from lsp_harness.verify.check import Check, CheckContext, CheckTools
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The document version of one turn, with the engine, the settings and the tools.

    Attributes:
        engine: The client of the model.
        config: The settings.
        tools: The programs that check edits.
        turn: The turn of the session, which records the events.
        document: The document version.
        file: The path of the document, by which tools choose their settings.
        root: The workspace folder, or None if the file lies in none.
        path: The path of the document that prompts and the log name.
        report: Receives the progress.
        workspace: The workspace that prompts may quote from, or None if there is no index.
        may_persist: Whether the engine may write what it computes for this document to disk.
        installed: The packages that are installed for the workspace, if a model may know them.
        output: The output of a tool about the document, if the turn is about one.
        session_lines: What the session did before this turn with this document, as lines for a prompt.
        make_checks: Creates the checks that the settings enable.
        base: The text that the recorded edits of candidates are about, if the document is an attempt at its edit. None
            means the document.
        learned: The fixes that were accepted in the project, or None if they are not used.
        place: The code that was found for the request, in words. Empty if the user named it.
        task: The request in words.
        states: The states of a turn that has begun already, or None.
        item: The number of this edit among the items of a plan, from 0, or None. The edits of all items are proposed
            together, so that one of them neither completes nor fails the turn.
        mends_tests: Whether the turn is to repair what fails, so that tests that still fail are no success.
    """

    engine: Engine
    config: Config
    tools: CheckTools
    turn: Turn
    document: Document
    file: Path
    root: Path | None
    path: str
    report: Report
    workspace: WorkspaceScope | None = None
    may_persist: bool = False
    installed: InstalledPackages | None = None
    output: Digest | None = None
    session_lines: tuple[str, ...] = ()
    make_checks: Callable[[Verification, CheckContext], list[Check]] = create_checks
    place: str = ""
    task: str = ""
    states: TurnStates | None = None
    item: int | None = None
    base: Document | None = None
    learned: LearnedFixes | None = None
    mends_tests: bool = False

    @property
    def owner(self) -> Owner:
        """The owner of the requests to the engine. Nothing of a text with a secret is written to disk."""
        return Owner(persist=self.may_persist and not find_secret_lines(self.document), affinity=self.document.uri)

    @property
    def packages(self) -> PackageScope | None:
        """The installed packages that prompts may quote, or None if they may not be read."""
        return PackageScope(self.installed, self.root, self.file) if self.installed and self.root else None

    @property
    def ruff(self) -> Ruff:
        """The linter."""
        return self.tools.ruff

    def create_checks(
        self,
        finding: Finding | None = None,
        subject: Subject | None = None,
        *,
        must_pass: frozenset[str] = frozenset(),
        wants_repairs: bool = False,
    ) -> list[Check]:
        """Return the checks that an edit must pass.

        Args:
            finding: The finding to repair, or None if the edit has another purpose.
            subject: What the finding is about.
            must_pass: Ids of failing tests that the edit has to repair.
            wants_repairs: Whether the edit has to repair the failing tests that are about what it changes.
        """
        context = CheckContext(
            self.tools, finding, subject, self.task, must_pass, wants_repairs, mends_tests=self.mends_tests
        )
        return self.make_checks(self.config.verification, context)
