"""Verification of edits that the user accepted or saved, for exactly the version in which something is found.

An accepted completion or an applied fix starts the verification of its document, with the text before it as the base
line; so does a save, with the text that was saved before. Each later edit is verified again after a quiet time, until
no new finding is left. A result for a version that is no longer the present one is dropped.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from lsp_harness.harness.events import FindingsChanged
from lsp_harness.harness.published_findings import Cause, PublishedFindings
from lsp_harness.harness.services import Services
from lsp_harness.harness.verdicts.verification_queue import Verification, VerificationQueue
from lsp_harness.harness.verdicts.verification_run import VerificationRun
from lsp_harness.text.document import Document
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.finding import Outcome
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot


@dataclass(slots=True)
class _DocumentVerification:
    """The part of an open document that verifies its accepted edits (see `OpenDocument.part`).

    Attributes:
        owner: The service that it belongs to.
        opened: The document.
        base: The text that is not to blame, as it lies in the workspace. None while nothing is verified.
        cause: Why it is verified.
        verification: The run that waits or is under way.
        delay_number: Counts the runs that were to begin. Only the last one begins.
        published: What was found in the last version that was checked.
        known_key: The texts, the settings and the other documents of the last run that came to its end.
        known_outcomes: Its outcomes.
    """

    owner: "AcceptedEdits"
    opened: OpenDocument
    base: Snapshot | None = None
    cause: Cause = "accepted"
    verification: Verification | None = None
    delay_number: int = 0
    published: PublishedFindings = field(default_factory=lambda: PublishedFindings(0))
    known_key: object = None
    known_outcomes: tuple[Outcome, ...] = ()

    def close(self) -> None:
        self.owner.abandon(self)
        self.base = None
        if self.published.findings:
            self.owner.clear(self)


class AcceptedEdits:
    """Verifies the accepted and the saved edits of all documents of one client.

    Args:
        services: The shared parts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queue = VerificationQueue()
        self._file_changes: Counter[str] = Counter()

    def start(self, opened: OpenDocument, base: Snapshot, cause: Cause = "accepted") -> None:
        """Verify a document whose user accepted or saved an edit of `base`.

        An earlier base line of the document stays, and an accepted edit stays more urgent than a save.
        """
        part = opened.part(_DocumentVerification, partial(_DocumentVerification, self, opened))
        if part.base is None or cause == "accepted":
            part.cause = cause
        part.base = part.base or base
        self._begin(part)

    def follow(self, opened: OpenDocument) -> None:
        """Verify a document again after an edit, if it is being verified."""
        part = opened.find_part(_DocumentVerification)
        if part is None or part.base is None:
            return
        self.abandon(part)
        delay_s = self._services.config.verification.debounce_ms / 1000
        if delay_s > 0:
            self._services.clock.call_later(delay_s, partial(self._begin_after_delay, part, part.delay_number))
        else:
            self._begin(part)

    def findings(self, opened: OpenDocument | None, text: Document) -> PublishedFindings:
        """Return what was found in this version of a document; nothing while the first check runs."""
        part = opened.find_part(_DocumentVerification) if opened else None
        if part and part.published.version == text.version:
            return part.published
        return PublishedFindings(text.version)

    def record_file_change(self, uri: str) -> None:
        """Record that a file on disk changed, so that a check of another text may find something else."""
        # files that are not open share one number: there may be very many
        self._file_changes[uri if self._services.documents.find(uri) else ""] += 1

    def stop(self, opened: OpenDocument) -> None:
        """End the verification of a document until its next edit. The user does not want to wait for it."""
        if part := opened.find_part(_DocumentVerification):
            self.abandon(part)

    def abandon(self, part: _DocumentVerification) -> None:
        """Cancel the run that waits or is under way. It ends only when its tool has ended."""
        part.delay_number += 1
        if part.verification:
            self._queue.cancel(part.verification)
            part.verification = None

    def clear(self, part: _DocumentVerification) -> None:
        """Remove the findings of a document that is closed."""
        part.published = PublishedFindings(part.published.version)
        self._services.events.publish(FindingsChanged(part.opened.uri, part.published))

    async def wait_until_idle(self) -> None:
        """Wait until no verification waits or runs, for callers that have no event to wait for."""
        await self._queue.wait_until_idle()

    async def aclose(self) -> None:
        """Wait until no tool of a cancelled check runs."""
        await self._queue.aclose()

    # -- runs
    def _begin_after_delay(self, part: _DocumentVerification, number: int) -> None:
        if part.delay_number == number:
            self._begin(part)

    def _begin(self, part: _DocumentVerification) -> None:
        """Let the present text be verified, unless a run with the same texts is under way or has just ended."""
        base, text = part.base, part.opened.text
        if base is None:
            return
        key = (base.document.hash, text.hash, self._services.config.verification, self._read_surroundings(part))
        running = part.verification
        if running and not running.is_over and running.key == (text.version, key):
            return
        self.abandon(part)
        if part.known_key == key:
            self._reuse(part, base, text)
            return
        part.verification = Verification(
            (text.version, key), partial(self._verify, part, base, key), partial(self._urgency, part)
        )
        self._queue.add(part.verification)

    def _reuse(self, part: _DocumentVerification, base: Snapshot, text: Document) -> None:
        if not (part.published.is_complete and part.published.version == text.version):
            run = VerificationRun(self._services, part.opened, base, part.published, part.cause)
            run.reuse(part.known_outcomes, partial(self._record, part))
        self._finish(part)

    async def _verify(self, part: _DocumentVerification, base: Snapshot, key: object) -> None:
        services = self._services
        run = VerificationRun(services, part.opened, base, part.published, part.cause)
        checks = services.verifier.create_checks(services.config.verification, CheckContext(services.verifier.tools))
        if await run.run(checks, partial(self._record, part)):
            part.known_key, part.known_outcomes = key, tuple(part.published.outcomes)
            self._finish(part)

    def _record(self, part: _DocumentVerification, published: PublishedFindings) -> None:
        part.published = published

    def _finish(self, part: _DocumentVerification) -> None:
        if not part.published.findings:
            # no finding is left: the next accepted edit has its own base line
            part.base = None

    def _urgency(self, part: _DocumentVerification) -> tuple[bool, ...]:
        return part.cause == "accepted", part.opened.uri == self._services.documents.focused_uri

    def _read_surroundings(self, part: _DocumentVerification) -> object:
        """Return what decides about a check beside the text itself: other open documents, and files on disk."""
        others = ((other.uri, other.text.version) for other in self._services.documents if other is not part.opened)
        files = ((uri, count) for uri, count in self._file_changes.items() if uri != part.opened.uri)
        return frozenset(others), frozenset(files)
