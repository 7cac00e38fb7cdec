"""The interface of a check: one question about a proposal, in one class and one file."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Self

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.review.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class CheckTools:
    """The programs that the checks of one client use.

    Attributes:
        ruff: The linter.
        suites: Runs the tests of projects. None if no tests may run.
        linters: Runs the linters that read files. None if none may run.
        types: Finds type errors. None if no type checker may run.
        names: Finds errors about names, attributes, arguments and imports. None if no type checker may run.
        reviewer: Asks a model for its opinion. None if there is no model.
    """

    ruff: Ruff
    suites: SuiteComparison | None = None
    linters: ToolComparison | None = None
    types: TypeComparison | None = None
    reviewer: Reviewer | None = None
    names: NameErrors | None = None


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The tools of the checks, and the purpose of the edit.

    Attributes:
        tools: The programs.
        finding: The finding to repair, or None if the edit has another purpose.
        subject: What the finding is about, or None if there is no finding.
        task: The request in words. It may be empty.
        must_pass: Ids of failing tests that the edit has to repair.
        wants_repairs: Whether the edit has to repair the failing tests that are about what it changes.
        settings: The settings of the checks.
        mends_tests: Whether the turn is to repair what fails, so that tests that still fail are no success.
    """

    tools: CheckTools
    finding: Finding | None = None
    subject: Subject | None = None
    task: str = ""
    must_pass: frozenset[str] = frozenset()
    wants_repairs: bool = False
    settings: Verification = field(default_factory=Verification)
    mends_tests: bool = False


class Check(ABC):
    """One question about a proposal, which an edit must pass before it is offered.

    A check is one class in one file and one line in `check_registry.CHECKS`. Its attributes give its texts to the table
    of candidates, the verdict document, the prompt of a retry and `docs/checks.md`. Most checks read one document at a
    time (`DocumentCheck`).

    Attributes:
        name: The name in events, in the session log and in JSON. It never changes.
        title: The name that people read, in the head of a column and in messages.
        feedback_label: The first words of a line about a finding, such as "LINT".
        criterion: The condition to pass, as Markdown. It continues the words "passes if".
        setting: The key of `[verification]` that turns the check on. A check without a setting always runs.
        is_about_finding: Whether the question is about the finding that an edit repairs. Other edits are then not
            checked.
        is_slow: Whether it may take seconds. Edits that no model made are shown before such a check has run.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    feedback_label: ClassVar[str]
    criterion: ClassVar[str]
    setting: ClassVar[str] = ""
    is_about_finding: ClassVar[bool] = False
    is_slow: ClassVar[bool] = False

    @classmethod
    def create(cls, context: CheckContext) -> Self | None:
        """Return the check, or None if an edit of this purpose is not checked."""
        del context
        return cls()

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return why an edit of this purpose is not checked although it could be, or an empty text.

        It is asked if there is no check. A check that is about a finding is not missed by edits without one.
        """
        if cls.is_about_finding and context.finding is None:
            return ""
        value = getattr(context.settings, cls.setting, True) if cls.setting else True
        return f"verification.{cls.setting} is off" if value in (False, "off") else ""

    @abstractmethod
    async def judge(self, changes: ChangeSet) -> Outcome:
        """Return the outcome for a proposal. Never raise because of the texts, only because of a bug."""

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a finding about `document` as one line, for prompts, messages and the log."""
        del document
        return " ".join(part for part in (f"{self.feedback_label}:", finding.code, finding.message) if part)
