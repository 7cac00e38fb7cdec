"""The type gate: would a suggestion add a type error about names, attributes, arguments or imports?

A type checker that runs all the time looks at the text with the suggestion in it. What it does not answer in time is
`skipped`, and a skipped text is shown.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_identity import find_new_findings
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.type_checker import TypeChecker
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.workspace import Workspace

NAME = "types"
"""The name of the check in outcomes and figures."""
MAX_TEXT_BYTES = 500_000
"""Larger texts are not checked, because each candidate is sent as a whole text."""


class TypeGate:
    """The type check of suggestions.

    Args:
        workspace: The folders, and whether the user trusts them. For folders that are not trusted, nothing is started.
        read_settings: Returns the present settings.
        pool: The type checkers.
    """

    def __init__(self, workspace: Workspace, read_settings: Callable[[], Config], pool: CheckerPool) -> None:
        self._workspace = workspace
        self._read_settings = read_settings
        self._pool = pool
        self._warming: set[asyncio.Task[None]] = set()

    def prepare(self, document: Document) -> None:
        """Let the checker look at a text while the model writes. The checker is started if it does not run."""
        session, _ = self._find_session(document)
        if session and session.prepare(document) and not session.is_busy:
            task = asyncio.ensure_future(_look(session, document))
            self._warming.add(task)
            task.add_done_callback(self._warming.discard)

    async def check(self, cursor: Cursor, texts: Sequence[str], *, is_cut: bool = False) -> list[Outcome]:
        """Return for each text whether it may be inserted at a cursor.

        All texts share one budget of time, `completion.type_gate_ms`.

        Args:
            cursor: The place of the cursor in the text.
            texts: The texts.
            is_cut: Whether the texts may end in the middle of a name. Then an error at their end does not count.
        """
        session, reason = self._find_session(cursor.document)
        if session and not session.prepare(cursor.document):
            reason = session.reason or f"{session.checker.name} is starting"
        if session is None or reason:
            return [Outcome(NAME, "skipped", reason=reason) for _ in texts]
        deadline_s = asyncio.get_running_loop().time() + self._read_settings().completion.type_gate_ms / 1000
        return [await self._check_text(session, cursor, text, deadline_s, is_cut=is_cut) for text in texts]

    async def _check_text(
        self, session: CheckerSession, cursor: Cursor, text: str, deadline_s: float, *, is_cut: bool
    ) -> Outcome:
        start_s, name = perf_counter(), session.checker.name
        candidate = _Candidate(session.checker, cursor, text, is_cut=is_cut)
        status, findings, reason = "passed", tuple[Finding, ...](), ""
        try:
            async with asyncio.timeout_at(deadline_s):
                suspects = candidate.find_suspects(await session.find_findings(candidate.document))
                if suspects:
                    findings = candidate.find_new(await session.find_findings(cursor.document), suspects)
                    status = "failed" if findings else "passed"
        except TimeoutError:
            status, reason = "skipped", f"{name} did not answer in time"
        except HarnessError as error:
            status, reason = "skipped", error.message
        return Outcome(NAME, status, findings, reason, round(1000 * (perf_counter() - start_s), 1))

    # -- sessions
    def _find_session(self, document: Document) -> tuple[CheckerSession | None, str]:
        """Return the session for a document, or None and the reason why there is none."""
        settings = self._read_settings()
        if not settings.completion.type_gate:
            return None, "completion.type_gate is off"
        if not self._workspace.is_trusted:
            return None, "this workspace is not trusted, so no type checker runs on it"
        name, root = find_language(document.language).type_checker, self._workspace.snapshot(document).root
        if root is None and name:
            return None, "the file is in no workspace folder"
        if is_too_large(document):
            return None, "the text is too large"
        session = self._pool.find(name, root, local_path(document.uri)) if root else None
        if session is None:
            return None, f"no type checker is known for {document.language or 'this text'}"
        return session, ""

    async def aclose(self) -> None:
        """End the checks that nobody waits for."""
        for task in self._warming:
            task.cancel()
        await asyncio.gather(*self._warming, return_exceptions=True)


def is_too_large(document: Document) -> bool:
    """Return whether a text is too large for a type checker, or no text."""
    return len(document.data) > MAX_TEXT_BYTES or document.is_binary


async def _look(session: CheckerSession, document: Document) -> None:
    # the check itself will say why the checker does not answer
    with suppress(HarnessError, TimeoutError):
        await session.find_findings(document)


class _Candidate:
    """A text at a cursor, and the findings that count against it.

    Attributes:
        document: The whole text with the candidate in it.
    """

    def __init__(self, checker: TypeChecker, cursor: Cursor, text: str, *, is_cut: bool) -> None:
        self._rules = checker.counting_rules
        new = encode(text)
        self._edit = Edit(cursor.offset, cursor.offset, new)
        self._end = cursor.offset + len(new)
        self._cut_end = cursor.offset + len(new.rstrip()) if is_cut else -1
        before = cursor.document
        self.document = before.apply_edit(self._edit, before.version)
        self._change = Change(before, self.document, (self._edit,), Path(cursor.path))

    def find_suspects(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings of counting rules, if one of them is on the lines of the candidate. Else return none."""
        counting = [finding for finding in findings if finding.code in self._rules]
        return counting if any(map(self._does_count, counting)) else []

    def find_new(self, before: Iterable[Finding], suspects: list[Finding]) -> tuple[Finding, ...]:
        """Return the findings that count and that the text did not have before."""
        old = [finding for finding in before if finding.code in self._rules and not self._is_unfinished(finding)]
        old_codes = {finding.code for finding in old}
        new = find_new_findings(self._change, old, suspects)
        return tuple(
            finding
            for finding in new
            if self._does_count(finding)
            and not (self._rules[finding.code] == "environment" and finding.code in old_codes)
        )

    def _does_count(self, finding: Finding) -> bool:
        line_of, last = self.document.line_of, max(finding.start, finding.end - 1)
        is_on_lines = line_of(finding.start) <= line_of(self._end) and line_of(last) >= line_of(self._edit.start)
        if not is_on_lines or finding.end == self._cut_end:
            return False
        return self._rules[finding.code] != "closed" or self._does_close(finding)

    def _is_unfinished(self, finding: Finding) -> bool:
        """Return whether a finding of the text is about a call that the user still types."""
        is_around = finding.start < self._edit.start <= finding.end
        return is_around and self._rules[finding.code] == "closed"

    def _does_close(self, finding: Finding) -> bool:
        """Return whether the candidate has the last bracket of the call that a finding is about."""
        is_inside = self._edit.start < finding.end <= self._end
        return is_inside and self.document.data[finding.end - 1 : finding.end] == b")"
