"""Verification of edits that the user accepted or saved, for exactly the version in which something is found.

An accepted completion or an applied fix starts the verification of its document, with the text before it as the base
line; so does a save, with the text that was saved before. Each later edit is verified again after a quiet time, until
no new finding is left. A result for a version that is no longer the present one is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from lsp_harness.harness.events import FindingsChanged, HarnessEvent, IndexReported, VerificationReported
from lsp_harness.harness.services import Services
from lsp_harness.harness.verdicts.verification_run import DocumentVerification, VerificationQueue, VerificationRun
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.published_findings import Cause, PublishedFindings
from lsp_harness.workspace.folder_stamps import ChangedFile
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

MAX_DISTURBANCES = 5
"""How often changes of files on disk let the checks of one text begin again. Then something writes all the time."""
MAX_RETRIES = 5
RETRY_S = 5.0
"""Time after which a check is tried again that was skipped for a reason that passes."""
LOOK_S = 5.0
"""Time between two looks at the disk while findings are shown."""


@dataclass(slots=True)
class _DocumentVerification:
    """The part of an open document that verifies its accepted edits (see `OpenDocument.part`).

    Attributes:
        owner: The service that it belongs to.
        opened: The open document.
        base: The text that is not to blame, as it lies in the workspace. None while nothing is verified.
        cause: Why it is verified.
        verification: The run that waits or is under way.
        delay_number: Counts the runs that were to begin. Only the last one begins.
        published: What was found in the last version that was checked.
        known_key: The texts, the settings and the other documents of the last run that came to its end.
        known_outcomes: The outcomes of checks that are known for the document.
        last_base: The base line of the last run that found nothing.
        unresolved_base: The same, if that text is no base line, because tests fail in it.
        is_looking: Whether the run that begins looks at the disk.
        is_watched: Whether the disk is looked at while findings are shown.
        disturbances: How often files changed since the text did, so that the checks began again.
        retries: How often a check of this text was skipped for a reason that passes.
    """

    owner: "AcceptedEdits"
    opened: OpenDocument
    base: Snapshot | None = None
    cause: Cause = "accepted"
    verification: DocumentVerification | None = None
    delay_number: int = 0
    published: PublishedFindings = field(default_factory=lambda: PublishedFindings(0))
    known_key: object = None
    known_outcomes: tuple[Outcome, ...] = ()
    last_base: Snapshot | None = None
    unresolved_base: Snapshot | None = None
    is_looking: bool = False
    is_watched: bool = False
    disturbances: int = 0
    retries: int = 0

    def close(self) -> None:
        self.owner.abandon(self)
        self.base = None
        if self.published.findings:
            self.owner.clear(self)


class AcceptedEdits:
    """Verifies the accepted and the saved edits of all documents of one client.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queue = VerificationQueue()
        services.events.subscribe(self._handle_event)

    def _handle_event(self, event: HarnessEvent) -> None:
        if isinstance(event, IndexReported) and event.message["state"] == "ready":
            self.record_index()

    def start(self, opened: OpenDocument, base: Snapshot, cause: Cause = "accepted") -> None:
        """Verify a document whose user accepted or saved an edit of `base`.

        An earlier base line of the document stays, and an accepted edit stays more urgent than a save.
        """
        part = opened.part(_DocumentVerification, partial(_DocumentVerification, self, opened))
        if part.base is None or cause == "accepted":
            part.cause = cause
        part.base = part.base or part.unresolved_base or base
        part.disturbances = part.retries = 0
        self._begin(part)

    def follow(self, opened: OpenDocument) -> None:
        """Verify a document again after an edit, if it is being verified."""
        part = opened.find_part(_DocumentVerification)
        if part is None or part.base is None:
            return
        part.disturbances = part.retries = 0
        self._begin_later(part)

    def _begin_later(self, part: _DocumentVerification) -> None:
        """Begin after the quiet time, instead of the run that waits or is under way."""
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

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Follow files that were created, changed or deleted on disk.

        A document that is being verified, or that has findings, is checked again. A verdict without findings says that
        it is older than the change: its base line is gone, and to run the tests of each open document would take long.
        """
        changes = [change for change in changes if not change.is_noise]
        for opened in self._services.documents:
            part = opened.find_part(_DocumentVerification)
            others = [change.path for change in changes if change.path.as_uri() != opened.uri] if part else []
            if part is None or not others or part.is_looking:
                continue
            if part.base is None:
                self._mark_outdated(part, others[0])
            elif part.disturbances < MAX_DISTURBANCES:
                part.disturbances += 1
                self._begin_later(part)

    def record_index(self) -> None:
        """Check the documents again for which a check was skipped until the index is complete."""
        for opened in self._services.documents:
            part = opened.find_part(_DocumentVerification)
            if part and part.base and _is_temporary(part.published.outcomes):
                self._begin_later(part)

    def check_again(self, opened: OpenDocument) -> None:
        """Check a document again that was saved without a change, if other files may have changed its verdict."""
        part = opened.find_part(_DocumentVerification)
        if part is None or part.published.version != opened.text.version:
            return
        part.base = part.base or part.last_base
        if part.base:
            part.disturbances = 0
            # what is known may be older than files that nobody watches
            self._begin(part, may_reuse=False)

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

    def _begin(self, part: _DocumentVerification, *, may_reuse: bool = True) -> None:
        """Let the present text be verified, unless a run with the same texts is under way or has just ended."""
        base, text = part.base, part.opened.text
        if base is None:
            return
        key = self._make_key(part, base)
        running = part.verification
        if running and not running.is_over and running.key == (text.version, key):
            return
        self.abandon(part)
        if part.known_key == key and may_reuse:
            self._reuse_outcomes(part, base, text)
            return
        part.verification = DocumentVerification(
            (text.version, key), partial(self._verify, part, base, key), partial(self._rate_urgency, part)
        )
        self._queue.add(part.verification)

    def _reuse_outcomes(self, part: _DocumentVerification, base: Snapshot, text: Document) -> None:
        if not (part.published.is_complete and part.published.version == text.version):
            run = VerificationRun(self._services, part.opened, base, part.published, part.cause)
            run.reuse(part.known_outcomes, partial(self._record, part))
        self._finish(part)

    def _make_key(self, part: _DocumentVerification, base: Snapshot) -> object:
        """Return everything that the outcomes depend on."""
        settings = self._services.config.verification
        return base.document.hash, part.opened.text.hash, settings, self._read_surroundings(part)

    async def _verify(self, part: _DocumentVerification, base: Snapshot, key: object) -> None:
        services, folders = self._services, self._services.folders
        part.is_looking = True
        try:
            await folders.refresh(base.root)
        finally:
            part.is_looking = False
        if part.base is not base:
            return
        key, text = self._make_key(part, base), part.opened.text
        if part.known_key == key:
            self._reuse_outcomes(part, base, text)
            return

        own, number = local_path(part.opened.uri), part.delay_number
        state = folders.changes_without(own)

        async def is_current() -> bool:
            if part.disturbances < MAX_DISTURBANCES:
                await folders.refresh(base.root)
                return folders.changes_without(own) == state
            # something writes to the folder all the time
            return True

        run = VerificationRun(services, part.opened, base, part.published, part.cause)
        checks = services.verifier.create_checks(services.config.verification, CheckContext(services.verifier.tools))
        is_complete = await run.run(checks, partial(self._record, part), is_current)
        is_outdated = folders.changes_without(own) != state
        if is_complete:
            if not _is_temporary(part.published.outcomes):
                part.known_key, part.known_outcomes = key, tuple(part.published.outcomes)
            self._finish(part)
            if is_outdated:
                self._mark_outdated(part, None)
                self._retry_later(part)
        elif is_outdated and part.delay_number == number:
            # nobody has begun another run for what changed
            part.disturbances += 1
            self._begin_later(part)

    def _record(self, part: _DocumentVerification, published: PublishedFindings) -> None:
        part.published = published

    def _finish(self, part: _DocumentVerification) -> None:
        outcomes, base = part.published.outcomes, part.base
        part.unresolved_base = None
        part.disturbances = 0
        if part.published.findings:
            self._look_again_later(part)
        elif _is_temporary(outcomes):
            if part.retries < MAX_RETRIES:
                part.retries += 1
                self._retry_later(part)
        else:
            # no finding is left: the next accepted edit has its own base line, but not a text whose tests fail
            if any(outcome.is_unresolved for outcome in outcomes):
                part.unresolved_base = base
            part.base, part.last_base = None, base

    def _retry_later(self, part: _DocumentVerification) -> None:
        self._services.clock.call_later(RETRY_S, partial(self._begin_after_delay, part, part.delay_number))

    def _look_again_later(self, part: _DocumentVerification) -> None:
        """While findings are shown, look now and then whether their cause is gone. Nobody may watch the disk."""
        if self._services.works_ahead and not part.is_watched:
            part.is_watched = True
            self._services.clock.call_later(LOOK_S, partial(self._look_again, part))

    def _look_again(self, part: _DocumentVerification) -> None:
        part.is_watched = False
        if part.base and part.published.findings:
            self._services.folders.look_soon(part.base.root)
            self._look_again_later(part)

    def _mark_outdated(self, part: _DocumentVerification, file: Path | None) -> None:
        """Say of a verdict that a file changed after it."""
        published = part.published
        if published.is_complete and not published.outdated_by and published.version == part.opened.text.version:
            part.published = replace(published, outdated_by=file.name if file else "a file")
            uri, version = part.opened.uri, published.version
            self._services.events.publish(VerificationReported(uri, version, "", 1, 1))

    def _rate_urgency(self, part: _DocumentVerification) -> tuple[bool, ...]:
        return part.cause == "accepted", part.opened.uri == self._services.documents.focused_uri

    def _read_surroundings(self, part: _DocumentVerification) -> object:
        """Return what decides about a check beside the text itself: other open documents, and files on disk."""
        others = ((other.uri, other.text.version) for other in self._services.documents if other is not part.opened)
        return frozenset(others), self._services.folders.changes_without(local_path(part.opened.uri))


def _is_temporary(outcomes: Sequence[Outcome]) -> bool:
    return any(outcome.is_temporary for outcome in outcomes)
