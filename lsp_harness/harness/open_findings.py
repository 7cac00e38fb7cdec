"""The errors in documents that are open, for an editor in which no other server reports them.

They need no model: syntax errors, and what the linter says about code that fails when it runs. Findings about style are
left out. When another server turns out to report the same problem, ours are withdrawn for that language.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import redact
from lsp_harness.harness.events import OpenFindingsChanged
from lsp_harness.harness.services import Services
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.verify.current_findings import Examination
    from lsp_harness.workspace.folder_stamps import ChangedFile

DELAY_S = 0.5
"""Time without a change after which a text is examined."""
CHECK_NAMES = {"syntax": "syntax", "invalid-syntax": "syntax"}
"""Rule → the check that reports it in edits, too. The rules of ruff belong to `lint`, all others to `types`."""
Diagnose = Callable[[Snapshot], Awaitable["Examination"]]


@dataclass(slots=True)
class _Examined:
    """The part of an open document with its errors (see `OpenDocument.part`).

    Attributes:
        owner: The service that it belongs to.
        opened: The open document.
        number: Counts the examinations that were to begin. Only the last one begins.
        published: The errors in the last version that was examined.
    """

    owner: "OpenFindings"
    opened: OpenDocument
    number: int = 0
    published: PublishedFindings = field(default_factory=lambda: PublishedFindings(-1))

    def close(self) -> None:
        self.number += 1


class OpenFindings:
    """The errors in the open documents of one client.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        diagnose: Returns the findings of a text.
    """

    def __init__(self, services: Services, diagnose: Diagnose) -> None:
        self._services = services
        self._diagnose = diagnose
        self._covered: set[str] = set()
        """The languages for which another server reports these errors."""
        self._tasks: set[asyncio.Task[None]] = set()
        services.closers.append(self.aclose)

    def follow(self, opened: OpenDocument) -> None:
        """Examine a document that was opened or changed, when it has not changed for a moment."""
        if not self._is_wanted(opened.text):
            return
        part = opened.part(_Examined, partial(_Examined, self, opened))
        part.number += 1
        self._services.clock.call_later(DELAY_S, partial(self._begin, part, part.number))

    def record_file_changes(self, changes: "Sequence[ChangedFile]") -> None:
        """Examine all open documents again whose errors may depend on files that changed on disk."""
        own = {change.path.as_uri() for change in changes}
        for opened in self._services.documents:
            if opened.find_part(_Examined) and own != {opened.uri}:
                self.follow(opened)

    def find(self, text: Document) -> list[PublishedFindings]:
        """Return the errors in this version of a document, or nothing while it is not examined."""
        opened = self._services.documents.find(text.uri)
        part = opened.find_part(_Examined) if opened else None
        if part is None or part.published.version != text.version or not self._is_wanted(text):
            return []
        return [part.published]

    def record_foreign(self, document: Document, findings: Iterable[Finding]) -> None:
        """Withdraw the errors of a language if another server reports one of them, too.

        Args:
            document: The text.
            findings: What other servers report about it.
        """
        from lsp_harness.verify.same_problem import is_same_problem

        own = [finding for published in self.find(document) for finding in published.findings]
        findings = [*findings]
        if any(is_same_problem(finding, other, document) for finding in own for other in findings):
            self._covered.add(document.language)
            for opened in self._services.documents:
                part = opened.find_part(_Examined)
                if part and opened.text.language == document.language:
                    self._publish(part, PublishedFindings(opened.text.version, cause="opened"))

    async def wait_until_idle(self) -> None:
        """Wait until no document is examined, for callers that have no event to wait for."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """End all examinations."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- examinations
    def _is_wanted(self, text: Document) -> bool:
        services = self._services
        is_on = services.works_ahead and services.config.verification.on_open
        is_covered = text.language in self._covered or text.is_binary
        return is_on and not is_covered and find_language(text.language).has_sure_errors

    def _begin(self, part: _Examined, number: int) -> None:
        opened = part.opened
        if part.number == number and opened is self._services.documents.find(opened.uri):
            task = asyncio.ensure_future(self._examine(part, number))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _examine(self, part: _Examined, number: int) -> None:
        text = part.opened.text
        snapshot = self._services.workspace.snapshot(text)
        try:
            await self._services.documents.tree_when_ready(text)
            examined = await self._diagnose(snapshot)
        except HarnessError as error:
            # nobody asked, so it is no message for the user
            sys.stderr.write(f"the errors of an open document: {redact(error.message)}\n")
            return
        if part.number != number or part.opened.text is not text or not self._is_wanted(text):
            return
        self._publish(part, PublishedFindings(text.version, _make_outcomes(examined.findings), cause="opened"))

    def _publish(self, part: _Examined, published: PublishedFindings) -> None:
        was_empty, part.published = not part.published.findings, published
        if published.findings or not was_empty:
            self._services.events.publish(OpenFindingsChanged(part.opened.uri, published.version))


def _make_outcomes(findings: Iterable[Finding]) -> tuple[Outcome, ...]:
    """Return the errors among findings, as outcomes of the checks that report them for edits, too."""
    from lsp_harness.verify.finding_rules import BREAKING_RULES

    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.source == "ruff" and not finding.code.startswith(BREAKING_RULES):
            continue
        if finding.severity in ("information", "hint"):
            continue
        check = CHECK_NAMES.get(finding.code) or ("lint" if finding.source == "ruff" else "types")
        by_check.setdefault(check, []).append(finding)
    return tuple(Outcome(check, "failed", tuple(found)) for check, found in by_check.items())
