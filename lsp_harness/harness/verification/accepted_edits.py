"""Verification of edits that the user accepted, for exactly the version in which something is found.

An accepted completion or an applied fix starts the verification of its document, with the text before it as the base
line. Each later edit is verified again after a quiet time, until no new finding is left. A result for a version that is
no longer the present one is dropped.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from lsp_harness.config.schema import Verification
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import redact
from lsp_harness.harness.verification import verdict_document
from lsp_harness.harness.verification.published_findings import PublishedFindings
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.session.events.code_events import ChecksCompleted
from lsp_harness.session.ingress import Ingress
from lsp_harness.session.limits import Ending
from lsp_harness.session.session import Session
from lsp_harness.text.document import Document
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.check_runner import run_checks
from lsp_harness.verify.finding import Verdict
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

Publish = Callable[[str, PublishedFindings], None]


@dataclass(slots=True)
class _Verification:
    """The part of an open document that verifies its accepted edits (see `OpenDocument.part`).

    Attributes:
        owner: The service that it belongs to.
        base: The text that is not to blame, as it lies in the workspace. None while nothing is verified.
        task: The check under way.
        published: What was found in the last version that was checked.
    """

    owner: "AcceptedEdits"
    base: Snapshot | None = None
    task: asyncio.Task[None] | None = None
    published: PublishedFindings = field(default_factory=lambda: PublishedFindings(0))

    def close(self) -> None:
        self.owner.abandon(self)
        if self.base and self.published.findings:
            self.owner.publish(self.base.document.uri, PublishedFindings(self.published.version))


class AcceptedEdits:
    """Verifies the accepted edits of all documents of one client.

    Args:
        verifier: The linter and the checks.
        settings: Returns the present settings of verification.
        publish: Called with the URI of a document and its findings.
        session: Returns the session of the client.
        private_reason: Returns why no model may see a document, and so the log on disk may not, either.
    """

    def __init__(
        self,
        verifier: Verifier,
        settings: Callable[[], Verification],
        publish: Publish,
        session: Callable[[], Session],
        private_reason: Callable[[str], str],
    ) -> None:
        self._verifier = verifier
        self._settings = settings
        self.publish = publish
        self._session = session
        self._private_reason = private_reason
        self._ending: set[asyncio.Task[None]] = set()
        """Cancelled checks whose tool has not ended yet."""

    def start(self, opened: OpenDocument, base: Snapshot) -> None:
        """Verify a document whose user accepted an edit of `base`. An earlier base line of the document stays."""
        part = opened.part(_Verification, partial(_Verification, self))
        part.base = part.base or base
        self._schedule(opened, part, part.base, delay_s=0.0)

    def follow(self, opened: OpenDocument) -> None:
        """Verify a document again after an edit, if it is being verified."""
        part = opened.find_part(_Verification)
        if part and part.base:
            self._schedule(opened, part, part.base, delay_s=self._settings().debounce_ms / 1000)

    def findings(self, opened: OpenDocument | None, text: Document) -> PublishedFindings:
        """Return what was found in this version of a document; nothing while the check runs."""
        part = opened.find_part(_Verification) if opened else None
        if part and part.base and part.published.version == text.version:
            return part.published
        return PublishedFindings(text.version)

    def abandon(self, part: _Verification) -> None:
        """Cancel the check under way. It ends only when its tool has ended."""
        if part.task and not part.task.done():
            part.task.cancel()
            self._ending.add(part.task)
            part.task.add_done_callback(self._ending.discard)

    async def aclose(self) -> None:
        """Wait until no tool of a cancelled check runs: an event loop that is closed before would hang."""
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _schedule(self, opened: OpenDocument, part: _Verification, base: Snapshot, delay_s: float) -> None:
        self.abandon(part)
        part.task = asyncio.ensure_future(self._verify(opened, part, base, delay_s))

    async def _verify(self, opened: OpenDocument, part: _Verification, base: Snapshot, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        text = opened.text
        try:
            change = Change.from_documents(base.document, text, base.tool_path, base.root)
            checks = self._verifier.create_checks(self._settings(), CheckContext(self._verifier.tools))
            verdict = await run_checks(ChangeSet.of(change), checks)
        except HarnessError as error:
            # ruff quotes the text that it cannot read
            sys.stderr.write(f"verification: {redact(error.message)}\n")
            return
        if opened.text.version != text.version:
            return
        had_findings, part.published = bool(part.published.findings), self._record(part, base, change, verdict)
        if had_findings or part.published.findings:
            self.publish(opened.uri, part.published)
        if not part.published.findings:
            # no finding is left: the next accepted edit has its own base line
            part.base = None

    def _record(self, part: _Verification, base: Snapshot, change: Change, verdict: Verdict) -> PublishedFindings:
        """Return the verdict as findings of this version. A turn of the session records it if it is not clean."""
        version = change.after.version
        if not verdict.findings and not part.published.findings:
            return PublishedFindings(version)
        # the session also records that earlier findings are gone
        session = self._session()
        is_saved = not self._private_reason(change.after.uri)
        turn = session.begin_turn(Ingress("check", "a suggestion that was accepted here", base.path, is_saved=is_saved))
        turn.append(ChecksCompleted.from_verdict(verdict))
        session.end_turn(turn, Ending("completed", "checked", verdict.marks))
        if not verdict.findings:
            return PublishedFindings(version)
        return PublishedFindings(
            version, verdict.findings, _changed_span(change), verdict_document.document_name(session.log, turn.number)
        )


def _changed_span(change: Change) -> Span:
    """Return the span from the first changed byte of the new text to the last."""
    start, same = common_prefix_and_suffix(change.before.data, change.after.data)
    return Span(start, len(change.after.data) - same)
