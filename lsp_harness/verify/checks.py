"""The checks of edits, and the list of them from cheap to expensive. Whatever shows or names checks reads this list."""

import asyncio
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from lsp_harness.config.schema import Verification
from lsp_harness.errors import HarnessError, IndexIncomplete
from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import (
    find_error_regions,
    find_new_faults,
    find_python_fault,
    find_remaining_faults,
)
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import AbsentCheck, Check, CheckContext, ComparisonCheck, DocumentCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import UNKNOWN_NAME, find_new_findings, find_remaining, find_targets
from lsp_harness.verify.finding_rules import select_counting
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.preservation.preservation_check import PreservationCheck
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError, join_comparisons
from lsp_harness.verify.project_tools.project_tool import ProjectTool
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.project_tools.tools import find_configured_tool
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

BEHAVIOUR_RULES = ("invalid-syntax", "E9", "F", "B", "PLE", "PLW", "ASYNC", "RUF0")
"""Prefixes of ruff's rules about what the code does. The other rules are about its style."""


def is_python(document: Document, file: Path) -> bool:
    """Return whether ruff can read a text."""
    language = find_language_of_file(file.name)
    return any(spec and spec.linter == "ruff" for spec in (find_language(document.language), language))


class SyntaxCheck(DocumentCheck):
    """Fails an edit that adds a syntax error."""

    name = "syntax"
    title = "parse"
    feedback_label = "SYNTAX ERROR"
    criterion = "the edit adds no syntax error"
    setting = "parse_check"

    def skip_reason(self, change: Change) -> str | None:
        """Return why the syntax of a change is not checked, or None if it can be checked.

        A text that could be parsed before the edit, but not after it, is checked: `run` reports the failure.
        """
        if change.tree_before is None or (change.tree_after is None and not change.parse_failure_after):
            return change.no_tree_reason
        return None

    async def run(self, change: Change) -> Outcome:
        """Compare the syntax errors before and after the edit."""
        # other requests are answered while the texts are compared
        return await offload(len(change.after.data), lambda: self._compare(change))

    def format_finding(self, finding: Finding, document: Document) -> str:
        return f"{self.feedback_label} at line {document.line_of(finding.start) + 1}: {finding.message}"

    def _compare(self, change: Change) -> Outcome:
        before, after = change.tree_before, change.tree_after
        if before is None or after is None:
            # a text that cannot be parsed in time any more was broken by the edit
            place = change.start
            reason = change.no_tree_reason
            return Outcome(self.name, "failed", (Finding(place, place, reason, "lsp-harness", self.name),), reason)
        findings = tuple(
            Finding(fault.start, fault.end, fault.message, "lsp-harness", self.name)
            for fault in find_new_faults(before, after, change.edits)
        )
        return Outcome(self.name, "failed" if findings else "passed", findings)


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
        """Return the findings of ruff that an edit of one document adds."""
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


RULE_CODE = re.compile(r"[A-Z]{1,5}\d{1,4}\Z")
"""The form of ruff's rules."""


SHARED_RULES = ("F", "E9", "invalid-syntax")
"""Prefixes of ruff's rules about what type checkers and compilers report too: unknown names, unused code, syntax
errors."""


class ResolvedCheck(DocumentCheck):
    """Fails an edit that leaves the finding in the text.

    We can ask ruff about its own rules and the parser about syntax errors. A finding of another tool counts as resolved
    if a finding of ours at the same place disappears. If we have no finding there, the check is skipped and names the
    tool that could answer.

    A rule that is still reported at the place of the finding, moved through the edits, is still there, whatever names
    it speaks of now. Elsewhere, a finding is recognized by its rule and the names that it is about.
    """

    name = "gone"
    title = "gone"
    feedback_label = "STILL THERE"
    criterion = (
        "the diagnostic is gone. It is still there if its rule is reported at its place, whatever names the message "
        "has now, or with its names elsewhere. A syntax error that only moved is still there"
    )
    setting = "lint"
    is_about_finding = True

    def __init__(self, ruff: Ruff, finding: Finding, names: NameErrors | None = None) -> None:
        self._ruff = ruff
        self._finding = finding
        self._names = names

    @classmethod
    def create(cls, context: CheckContext) -> "ResolvedCheck | None":
        """Return the check for the repair of a finding."""
        names = context.tools.names if context.settings.type_check != "off" else None
        return cls(context.tools.ruff, context.finding, names) if context.finding else None

    async def run(self, change: Change) -> Outcome:
        """Look for the finding in the proposed text. Skip if neither the parser nor ruff knows it."""
        try:
            outcome = await offload(len(change.after.data), lambda: self._check_syntax(change))
            return outcome or await self._check_lint(change)
        except RuffFailed as error:
            return Outcome(self.name, "skipped", reason=error.message)

    def _check_syntax(self, change: Change) -> Outcome | None:
        """Return the outcome for a syntax error, or None if the finding is about something else."""
        before, after = change.tree_before, change.tree_after
        if before is None or after is None or find_subject(self._finding, change.before, before).kind != "syntax":
            return None
        if not find_error_regions(before) and (
            not before.language.compiles_in_process or find_python_fault(before.data) is None
        ):
            return Outcome(self.name, "skipped", reason="the text parses without it")
        remaining = find_remaining_faults(before, after, change.edits, Span(self._finding.start, self._finding.end))
        findings = tuple(Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in remaining[:1])
        return Outcome(self.name, "failed" if remaining else "passed", findings)

    async def _check_lint(self, change: Change) -> Outcome:
        """Return the outcome by the findings of ruff, or else of the type checker. Raises RuffFailed."""
        for read in (self._read_findings, self._read_name_errors):
            before = await read(change.before, change)
            if targets := find_targets(self._finding, before):
                remaining = find_remaining(change, targets, before, await read(change.after, change))
                return Outcome(self.name, "failed" if remaining else "passed", tuple(remaining[:1]))
        tool = self._finding.source or "the tool that reported it"
        return Outcome(self.name, "skipped", reason=f"only {tool} can say whether it is gone")

    async def _read_name_errors(self, document: Document, change: Change) -> list[Finding]:
        """Return the errors of the type checker about names, or none if it cannot say anything."""
        if self._names is None or RULE_CODE.match(self._finding.code):
            return []
        try:
            return [*await self._names.find(document, change.file, change.root)]
        except NothingComparedError:
            return []

    async def _read_findings(self, document: Document, change: Change) -> list[Finding]:
        """Return ruff's findings by the rule of the finding, or by the shared rules. Raises RuffFailed."""
        if not is_python(document, change.file) or self._ruff.missing_reason:
            return []
        code = self._finding.code if RULE_CODE.match(self._finding.code) else ""
        reports = await self._ruff.check(document, change.file, change.root, select=code)
        return [report.finding for report in reports if code or report.finding.code.startswith(SHARED_RULES)]


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


NO_TESTS = "this workspace is not trusted, so no tests run"


class SuiteCheck(Check):
    """Fails an edit that breaks a test, or that does not repair the tests that it has to repair.

    Attributes:
        suites: Runs the tests.

    Args:
        suites: Runs the tests.
        must_pass: Ids of failing tests that the edit has to repair.
        wants_repairs: Whether the edit has to repair the failing tests that are about what it changes.
        task: The instruction in words.
        mends_tests: Whether the edit is to repair what fails, so that tests that still fail are no success.
    """

    name = "tests"
    title = "tests"
    feedback_label = "TEST FAIL"
    criterion = (
        "the test files that depend on the changed files fail no test that passed before. They run in a sandbox, on "
        "texts that are not on disk. An edit for a failing test must make it pass. See "
        "[Tests as a check](project-tests.md)"
    )
    setting = "test"
    is_slow: ClassVar[bool] = True

    def __init__(
        self,
        suites: SuiteComparison,
        must_pass: frozenset[str] = frozenset(),
        *,
        wants_repairs: bool = False,
        task: str = "",
        mends_tests: bool = False,
    ) -> None:
        self.suites, self._must_pass = suites, must_pass
        self._wants_repairs, self._task, self._mends_tests = wants_repairs, task, mends_tests

    @classmethod
    def create(cls, context: CheckContext) -> "SuiteCheck | None":
        """Return the check, or None if no tests may run."""
        suites = context.tools.suites
        if suites is None:
            return None
        return cls(
            suites,
            context.must_pass,
            wants_repairs=context.wants_repairs,
            task=context.task,
            mends_tests=context.mends_tests,
        )

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return why the tests of the project are not run."""
        return super().explain_absence(context) or NO_TESTS

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Run the tests before and after the proposal."""
        try:
            outcome = await self.suites.compare(
                changes, self._must_pass, wants_repairs=self._wants_repairs, task=self._task
            )
        except IndexIncomplete as error:
            # nobody knows which tests depend on the change, so not even that there are none
            outcome = Outcome(self.name, "skipped", reason=error.message, is_temporary=error.is_temporary)
        if outcome.status == "passed" and outcome.still_failing and (self._mends_tests or self._must_pass):
            # the edit broke nothing, but the tests that it was to mend are not all mended
            return replace(outcome, status="skipped", is_unresolved=True)
        if not self._must_pass or outcome.status != "skipped":
            return outcome
        # without the tests nobody knows whether they are repaired
        start = changes.main.start
        return replace(outcome, status="failed", findings=(Finding(start, start, outcome.reason, "tests"),))

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return a line such as "TEST FAIL: test_area — assert 3 == 4"."""
        return f"{self.feedback_label}: {finding.message}"


class ReviewCheck(Check):
    """Asks for an opinion. It is recorded, and it fails an edit only if the settings say so.

    Args:
        reviewer: Asks the model about a change.
        task: The request in words.
        can_veto: Whether a NO fails the edit.
    """

    name = "review"
    title = "review"
    feedback_label = "REVIEW"
    criterion = (
        "the model answers YES when it is asked whether the change addresses the task. A NO fails the edit only with "
        '`diff_review = "veto"`, and a YES alone never lets it pass. See [Review](review.md)'
    )
    setting = "diff_review"
    is_slow: ClassVar[bool] = True

    def __init__(self, reviewer: Reviewer, task: str, *, can_veto: bool = False) -> None:
        self._reviewer, self._task, self._can_veto = reviewer, task, can_veto

    @classmethod
    def create(cls, context: CheckContext) -> "ReviewCheck | None":
        """Return the check, or None if there is no task or no model."""
        reviewer = context.tools.reviewer
        if reviewer is None or not context.task.strip():
            return None
        return cls(reviewer, context.task, can_veto=context.settings.diff_review == "veto")

    @classmethod
    def explain_absence(cls, context: CheckContext) -> str:
        """Return an empty text: the opinion of a model is no evidence, so nobody misses it."""
        del context
        return ""

    async def judge(self, changes: ChangeSet) -> Outcome:
        """Ask the model, and record its answer with the probability."""
        try:
            review = await self._reviewer.review(self._task, changes)
        except HarnessError as error:
            return Outcome(self.name, "skipped", reason=error.message)
        if review.is_yes:
            return Outcome(self.name, "passed", reason=str(review), is_opinion=True)
        if not self._can_veto:
            return Outcome(self.name, "skipped", reason=f"{review}; it has no veto", is_opinion=True)
        start = changes.main.start
        finding = Finding(start, start, "the model says that this change does not address the task", "review", "NO")
        return Outcome(self.name, "failed", (finding,), str(review), is_opinion=True)

    def format_finding(self, finding: Finding, document: Document) -> str:
        """Return the line "REVIEW: NO" with the reason, for the feedback in a prompt."""
        del document
        return f"{self.feedback_label}: {finding.code}"


# an edit that throws the code away is not worth asking a linter about, so PreservationCheck runs before LintCheck
CHECKS: tuple[type[Check], ...] = (
    SyntaxCheck,
    PreservationCheck,
    LintCheck,
    ResolvedCheck,
    TypesCheck,
    SuiteCheck,
    ReviewCheck,
)


def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
    """Return the checks that the settings enable for an edit of this purpose, from cheap to expensive."""
    return [check for check in list_checks(settings, context) if not isinstance(check, AbsentCheck)]


def list_checks(settings: Verification, context: CheckContext) -> list[Check]:
    """Return the checks of an edit of this purpose, from cheap to expensive, also those that do not run.

    One that the settings switch off, or that cannot run in this workspace, is an `AbsentCheck`, so that every verdict
    names it.
    """
    context = replace(context, settings=settings)
    checks: list[Check] = []
    for check_class in CHECKS:
        is_on = not check_class.setting or getattr(settings, check_class.setting) not in (False, "off")
        check = check_class.create(context) if is_on else None
        if check is None and (reason := check_class.explain_absence(context)):
            check = AbsentCheck(check_class, reason)
        checks += [check] if check else []
    return checks


def check_titles() -> dict[str, str]:
    """Return the name of each check → its title, in the order of the checks."""
    return {check.name: check.title for check in CHECKS}
