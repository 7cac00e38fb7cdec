"""What every piece of work on code is given: one document version, the turn it belongs to, and what it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config.schema import Config, Verification
from lsp_harness.context.context_inputs import PackageScope, WorkspaceScope
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.client import Engine
from lsp_harness.inference.request import Owner
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.session.log import Turn
from lsp_harness.session.results import Report
from lsp_harness.text.document import Document
from lsp_harness.verify.check import Check, CheckContext
from lsp_harness.verify.check_registry import create_checks
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class Job:
    """One turn about one document version.

    `path` is what the model is told, `file` what tools choose their settings by.
    """

    engine: Engine
    config: Config
    ruff: Ruff
    turn: Turn
    document: Document
    file: Path
    root: Path | None
    path: str
    report: Report
    workspace: WorkspaceScope | None = None
    """The workspace that prompts may quote from; None if there is no index."""
    persist: bool = False
    """What the engine makes of this document may be written to disk."""
    installed: InstalledPackages | None = None
    """What the packages of the workspace say of themselves, where a model may be told that."""
    output: Digest | None = None
    """What a tool has printed of the document, and the tests that fail, where somebody brought that."""

    session: tuple[str, ...] = ()
    """What the session has come to before this turn, as far as it has to do with the document: lines for a prompt."""
    create_checks: Callable[[Verification, CheckContext], list[Check]] = create_checks
    """Creates the checks that an edit must pass."""

    @property
    def owner(self) -> Owner:
        """Whose requests these are; of a text with a secret in it nothing is written to disk."""
        return Owner(persist=self.persist and not secret_lines(self.document), affinity=self.document.uri)

    @property
    def packages(self) -> PackageScope | None:
        """The installed packages that prompts may quote; None if they may not be read."""
        return PackageScope(self.installed, self.root, self.file) if self.installed and self.root else None

    def checks(self, finding: Finding | None = None, subject: Subject | None = None) -> list[Check]:
        """Return the checks that an edit must pass: an edit for a finding, which is about a subject, or any other."""
        return self.create_checks(self.config.verification, CheckContext(self.ruff, finding, subject))
