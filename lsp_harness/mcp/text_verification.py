"""Verdicts about texts that another program proposes or has written. The checks see exactly these bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.chat.tools.edit_tools import check_utf8, find_replacement
from lsp_harness.chat.tools.workspace_paths import NamedFile, WorkspacePaths
from lsp_harness.errors import IndexIncomplete, UsageError
from lsp_harness.events.code_events import ChecksCompleted
from lsp_harness.files.secrets import redact
from lsp_harness.harness.verification.verdict_document import make_document_name
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.mcp.served_project import ReportLine, ServedProject, ignore_line
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, CheckContext, run_check
from lsp_harness.verify.checks import SuiteCheck, SyntaxCheck
from lsp_harness.verify.finding import Finding, Outcome, Verdict
from lsp_harness.verify.project_tests.comparison import SuiteSkippedError
from lsp_harness.wire.verdict_words import FORM_ONLY

NOT_RUN = "not run, because the syntax is wrong"
WORDS = {"verified": "passed", "unchecked": "unknown"}
"""Kind of a verdict → the word for programs, if it is another one."""
UNTRUSTED = "no code of this folder runs: it is not one of permissions.trusted_folders"


@dataclass(frozen=True, slots=True)
class Replacement:
    """The replacement of a part of a text that occurs exactly once. With an empty `old`, the text is the whole file."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """The verdict about the text of one file.

    Attributes:
        path: The path of the file in its folder.
        verdict: The outcome of each check, and the hash of the text.
        findings: What is wrong, as lines without secrets.
        document: The name of the document with all details (see `render_document`).
    """

    path: str
    verdict: Verdict
    findings: tuple[str, ...]
    document: str

    @property
    def word(self) -> str:
        """The verdict in one word.

        It is "passed" only if tests ran the text. Else it is "form" (nothing decided the behaviour), "incomplete" (only
        the syntax was looked at), "unresolved", "failed", or "unknown" if no check ran.
        """
        return WORDS.get(self.verdict.kind, self.verdict.kind)

    @property
    def heading(self) -> str:
        """The first words of an answer: the word of the verdict, or "form ✓, behaviour not checked"."""
        return FORM_ONLY if self.verdict.kind == "form" else self.word


class TextVerifier:
    """Checks texts for other programs. Nothing is written, and nobody is asked.

    The methods raise UsageError for a file that is private, outside of the folder or not a text.

    Args:
        project: The served folder.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project
        self._paths = WorkspacePaths(project.environment, "verify_change")

    async def verify_change(
        self,
        path: str,
        text: str | None,
        replacements: Sequence[Replacement] = (),
        report: ReportLine = ignore_line,
    ) -> TextVerdict:
        """Return the verdict about a text that would replace a file.

        Args:
            path: The file. It need not exist.
            text: The whole new text. None if there are replacements.
            replacements: Replacements in the present text, one after another.
            report: Receives the progress.
        """
        if (text is None) == (not replacements):
            raise UsageError(
                "a verification needs either the whole new text or edits with old and new; give one of them"
            )
        file = await self._locate(path)
        exists = file.path.exists()
        if not exists and text is None:
            raise UsageError(f"there is no file {file.name} to edit; give the text of a new file")
        before = self._paths.read_document(file) if exists else Document.from_text(file.path.as_uri(), b"")
        after = _make_text(before, text, replacements, file.name)
        change = Change.from_documents(before, after, file.path, file.root)
        return await self._verify(file, change, self._create_checks(), report)

    async def verify_file(self, path: str, report: ReportLine = ignore_line) -> TextVerdict:
        """Return the verdict about a file as it is: whatever is wrong in it, and the tests that fail with it."""
        file = await self._locate(path)
        present = self._paths.read_document(file)
        # everything counts as new in comparison with an empty text
        empty = Document.from_text(present.uri, b"", language=present.language)
        change = Change.from_documents(empty, present, file.path, file.root)
        checks = [_PresentTests(check) if isinstance(check, SuiteCheck) else check for check in self._create_checks()]
        return await self._verify(file, change, checks, report)

    async def _locate(self, path: str) -> NamedFile:
        file = self._paths.locate(path)
        await self._project.require_reading("read", {"path": path}, file.path)
        return file

    def _create_checks(self) -> list[Check]:
        verifier, settings = self._project.services.verifier, self._project.config.verification
        return verifier.create_checks(settings, CheckContext(verifier.tools))

    async def _verify(
        self, file: NamedFile, change: Change, checks: "Sequence[Check | _PresentTests]", report: ReportLine
    ) -> TextVerdict:
        # nobody says which files changed since the last verdict
        await self._project.services.folders.refresh(self._project.root)
        if self._project.is_trusted:
            # the affected tests are known from the index
            await self._project.open_index(report)
        changes, outcomes = ChangeSet.of(change), list[Outcome]()
        for check in checks:
            if outcomes and outcomes[0].check == SyntaxCheck.name and outcomes[0].status == "failed":
                outcomes.append(Outcome(check.name, "skipped", reason=NOT_RUN, title=check.title))
                continue
            if check.name == SuiteCheck.name and not self._project.is_trusted:
                outcomes.append(Outcome(check.name, "skipped", reason=UNTRUSTED, title=check.title))
                continue
            report(f"{check.title}\n")
            outcomes.append(
                await check.judge(changes) if isinstance(check, _PresentTests) else await run_check(check, changes)
            )
        verdict = Verdict(change.after.hash, tuple(outcomes))
        lines = tuple(line for outcome in outcomes for line in _describe(outcome, change.after))
        return TextVerdict(file.name, verdict, lines, self._record(file, verdict))

    def _record(self, file: NamedFile, verdict: Verdict) -> str:
        """Record the verdict in the session of the harness, and return the name of its document."""
        session = self._project.services.session
        turn = session.begin_turn(Ingress("check", "check the text of a file for another program", file.name))
        turn.append(ChecksCompleted.from_verdict(verdict))
        session.end_turn(turn, Ending("completed", "checked", verdict.marks))
        return make_document_name(session.log, turn.number)


class _PresentTests:
    """The check of a file as it is: the affected tests that fail with it.

    `SuiteCheck` would only say what an edit breaks.

    Args:
        check: The check of edits.
    """

    name, title = SuiteCheck.name, SuiteCheck.title

    def __init__(self, check: SuiteCheck) -> None:
        self._suites = check.suites

    async def judge(self, changes: ChangeSet) -> Outcome:
        present = Change.from_documents(changes.main.after, changes.main.after, changes.main.file, changes.main.root)
        try:
            trace = await self._suites.trace(present)
        except (SuiteSkippedError, IndexIncomplete) as error:
            return Outcome(self.name, "skipped", reason=str(error), title=self.title)
        if not trace.run.is_complete:
            return Outcome(self.name, "skipped", reason="the tests did not run to their end", title=self.title)
        failures, count = trace.failures, trace.run.digest.passed
        if failures:
            findings = tuple(Finding(0, 0, failure.message, "tests", failure.title) for failure in failures)
            lines = tuple(failure.feedback for failure in failures)
            return Outcome(self.name, "failed", findings, lines=lines, title=self.title, count=len(failures))
        ran = {line for test in trace.tests.values() for line in test.lines}
        if not count or (trace.tests and not ran):
            reason = f"{format_count(count, 'test')} ran no line of this file" if count else "no test ran"
            return Outcome(self.name, "skipped", reason=reason, title=self.title)
        lines_said = f", {format_count(len(ran), 'line')} of this file" if ran else "; the lines are not recorded"
        return Outcome(self.name, "passed", reason=f"{format_count(count, 'test')}{lines_said}", title=self.title)


def _make_text(before: Document, text: str | None, replacements: Sequence[Replacement], name: str) -> Document:
    data = before.data
    if text is not None:
        data = encode(text)
    for replacement in replacements:
        present = Document.from_text(before.uri, data, language=before.language)
        check_utf8(present, name)
        if not replacement.old:
            raise UsageError("old is empty; copy the text to replace from the file, or give the whole text")
        edit = find_replacement(present, replacement.old, replacement.new, name)
        data = data[: edit.start] + edit.new + data[edit.end :]
    if len(data) > MAX_TEXT_BYTES:
        raise UsageError(f"the text is larger than {MAX_TEXT_BYTES:,} bytes")
    after = Document.from_text(before.uri, data, language=before.language, version=before.version)
    if after.is_binary:
        raise UsageError(f"the new text of {name} is binary; only texts can be checked")
    return after


def _describe(outcome: Outcome, document: Document) -> list[str]:
    """Return what a check that failed has found, as lines with their places."""
    if outcome.status != "failed":
        return []
    if len(outcome.findings) != len(outcome.lines) or outcome.check in (SyntaxCheck.name, SuiteCheck.name):
        return [redact(line) for line in outcome.lines or (outcome.reason or f"{outcome.check} failed",)]
    pairs = zip(outcome.findings, outcome.lines, strict=True)
    return [redact(f"line {document.line_of(finding.start) + 1}: {line}") for finding, line in pairs]
