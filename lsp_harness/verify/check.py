"""The interface of a check: one question about a change, in one class and one file."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The tools of the checks, and the finding that an edit repairs.

    Attributes:
        ruff: The linter.
        finding: The finding to repair, or None if the edit has another purpose.
        subject: What the finding is about, or None if there is no finding.
    """

    ruff: Ruff
    finding: Finding | None = None
    subject: Subject | None = None


class Check(ABC):
    """One question about a change, which an edit must pass before it is offered.

    A check is one class in one file and one line in `check_registry.CHECKS`. Its attributes give its texts to the table
    of candidates, the verdict document, the prompt of a retry and `docs/checks.md`.

    Attributes:
        name: The name in events, in the session log and in JSON. It never changes.
        title: The name that people read, in the head of a column and in messages.
        feedback_label: The first words of a line about a finding, such as "LINT".
        criterion: The condition to pass, as Markdown. It continues the words "passes if".
        setting: The key of `[verification]` that turns the check on. A check without a setting always runs.
        is_about_finding: Whether the question is about the finding that an edit repairs. Other edits are then not
            checked.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    feedback_label: ClassVar[str]
    criterion: ClassVar[str]
    setting: ClassVar[str] = ""
    is_about_finding: ClassVar[bool] = False

    @classmethod
    def create(cls, context: CheckContext) -> Self | None:
        """Return the check, or None if an edit of this purpose is not checked."""
        del context
        return cls()

    def skip_reason(self, change: Change) -> str | None:
        """Return why the check cannot run for a change, or None if it can. This may parse a long text."""
        del change
        return None

    @abstractmethod
    async def run(self, change: Change) -> Outcome:
        """Return the outcome. Never raise because of the text, only because of a bug."""

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a finding about `document` as one line, for prompts, messages and the log."""
        del document
        return " ".join(part for part in (f"{self.feedback_label}:", finding.code, finding.message) if part)
