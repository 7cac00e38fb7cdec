"""Verifications of versions of a document: which wait and run, their checks, and the publication of each result."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from lsp_harness.errors import HarnessError
from lsp_harness.events.code_events import ChecksCompleted
from lsp_harness.files.secrets import redact
from lsp_harness.harness.events import FindingsChanged, VerificationReported
from lsp_harness.harness.services import Services
from lsp_harness.harness.verification.verdict_document import make_document_name
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, run_checks
from lsp_harness.verify.checks import SyntaxCheck
from lsp_harness.verify.finding import Outcome, Verdict
from lsp_harness.verify.published_findings import Cause, PublishedFindings
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

log = logging.getLogger(__name__)

MAX_PARALLEL = 2
"""Verifications that run at once. With one, tests that take long would delay the syntax check of another document."""


@dataclass(eq=False, slots=True)
class DocumentVerification:
    """The verification of one version of one document.

    Attributes:
        key: The text before, the text after and the settings. A second request with this key needs no other run.
        run: Runs the checks.
        urgency: Returns the present urgency. The largest runs first.
        task: The run. None while it waits.
    """

    key: object
    run: Callable[[], Coroutine[Any, Any, None]]
    urgency: Callable[[], tuple[bool, ...]]
    task: "asyncio.Task[None] | None" = None

    @property
    def is_over(self) -> bool:
        """Return whether the run has ended or was cancelled."""
        return self.task is not None and (self.task.done() or self.task.cancelling() > 0)


class VerificationQueue:
    """The verifications that wait or run.

    Args:
        limit: How many run at once. One that was cancelled counts until its tool has ended.
    """

    def __init__(self, limit: int = MAX_PARALLEL) -> None:
        self._limit = limit
        self._waiting: list[DocumentVerification] = []
        self._running: set[asyncio.Task[None]] = set()

    def add(self, verification: DocumentVerification) -> None:
        """Run a verification as soon as none that is more urgent waits."""
        self._waiting.append(verification)
        self._start_next()

    def cancel(self, verification: DocumentVerification) -> None:
        """Drop a verification. If it runs, it ends only when its tool has ended."""
        if verification in self._waiting:
            self._waiting.remove(verification)
        elif verification.task and not verification.task.done():
            verification.task.cancel()

    async def wait_until_idle(self) -> None:
        """Wait until nothing waits or runs."""
        while self._running:
            await asyncio.wait(self._running)

    async def aclose(self) -> None:
        """Cancel everything and wait until no tool runs: an event loop that is closed before would hang."""
        self._waiting.clear()
        for task in self._running:
            # a second cancellation would end the wait for a tool
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start_next(self) -> None:
        while self._waiting and len(self._running) < self._limit:
            verification = max(self._waiting, key=lambda waiting: waiting.urgency())
            self._waiting.remove(verification)
            verification.task = asyncio.ensure_future(verification.run())
            self._running.add(verification.task)
            verification.task.add_done_callback(self._finish)

    def _finish(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a verification failed", exc_info=error)
        self._start_next()


REQUESTS: dict[Cause, str] = {
    "accepted": "a suggestion that was accepted here",
    "saved": "a change that was saved here",
    "opened": "a document that was opened here",
}
"""Cause of a verification → the request in words, for the log."""


class VerificationRun:
    """The checks of the present text of a document. The first failed check is not the last one, unless it is `syntax`.

    A turn of the session records the verdict. It is written to disk only if something was found, or is gone now.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        opened: The open document.
        base: The text that is not to blame.
        displayed: What the editor shows at present, perhaps about an earlier version.
        cause: Why the document is verified.
    """

    def __init__(
        self, services: Services, opened: OpenDocument, base: Snapshot, displayed: PublishedFindings, cause: Cause
    ) -> None:
        self._services = services
        self._opened = opened
        self._base = base
        self._cause: Cause = cause
        self.displayed = displayed
        """The findings that the editor shows at present."""
        self._text = opened.text
        self._change = Change.from_documents(base.document, self._text, base.tool_path, base.root)
        self._outcomes: list[Outcome] = []
        self._turn: Turn | None = None

    async def run(
        self,
        checks: Sequence[Check],
        on_publish: Callable[[PublishedFindings], None],
        is_current: Callable[[], Awaitable[bool]],
    ) -> bool:
        """Run the checks, from cheap to expensive, and publish what each of them found.

        Args:
            checks: The checks to run.
            on_publish: Called with all results until now, before the editor learns of them.
            is_current: Returns whether the files on disk are still those at the start of the run.

        Returns:
            Whether all checks ended, and the text and the files are still the present ones.
        """
        try:
            for number, check in enumerate(checks):
                self._report(check.title, number, len(checks))
                with self._services.background.count_checks():
                    verdict = await run_checks(ChangeSet.of(self._change), [check])
                if self._opened.text is not self._text:
                    return False
                is_last = check is checks[-1]
                if (is_last or verdict.outcomes[0].status == "failed") and not await is_current():
                    return False
                self._record(verdict.outcomes[0], on_publish)
                # a text that does not parse fails every other check, too
                if verdict.findings and isinstance(check, SyntaxCheck):
                    break
        except HarnessError as error:
            # ruff quotes the text that it cannot read
            sys.stderr.write(f"verification: {redact(error.message)}\n")
            return False
        else:
            self._finish(self._outcomes, on_publish)
            return True
        finally:
            self._end_turn(Ending("cancelled", "cancelled"))
            self._report("", len(checks), len(checks))

    def reuse(self, outcomes: Sequence[Outcome], on_publish: Callable[[PublishedFindings], None]) -> None:
        """Publish the outcomes of an earlier run with the same texts."""
        self._finish(outcomes, on_publish)

    def _record(self, outcome: Outcome, on_publish: Callable[[PublishedFindings], None]) -> None:
        self._outcomes.append(outcome)
        was_displayed = any(check == outcome.check for check, *_ in self.displayed.by_check())
        if outcome.status == "failed" or was_displayed:
            self._publish(self._describe(self._outcomes), on_publish)

    def _finish(self, outcomes: Sequence[Outcome], on_publish: Callable[[PublishedFindings], None]) -> None:
        self._outcomes = list(outcomes)
        published = self._describe(outcomes, is_complete=True)
        is_shown = self.displayed.findings == published.findings and (
            not published.findings or self.displayed.version == published.version
        )
        if is_shown:
            self.displayed = published
            on_publish(published)
        else:
            self._publish(published, on_publish)
        self._end_turn(Ending("completed", "checked", self._verdict.marks))

    def _publish(self, published: PublishedFindings, on_publish: Callable[[PublishedFindings], None]) -> None:
        self.displayed = published
        on_publish(published)
        self._services.events.publish(FindingsChanged(self._text.uri, published))

    def _describe(self, outcomes: Sequence[Outcome], *, is_complete: bool = False) -> PublishedFindings:
        turn = self._begin_turn(is_clean=not self.displayed.findings and not any(o.findings for o in outcomes))
        start, same = common_prefix_and_suffix(self._change.before.data, self._text.data)
        return PublishedFindings(
            self._text.version,
            tuple(outcomes),
            Span(start, len(self._text.data) - same),
            make_document_name(self._services.session.log, turn.number),
            self._cause,
            is_complete,
        )

    # -- the session
    @property
    def _verdict(self) -> Verdict:
        return Verdict(self._text.hash, tuple(self._outcomes))

    def _begin_turn(self, *, is_clean: bool) -> Turn:
        """Return the turn of this run. A clean verdict stays in memory: it must not fill the log of a typing user."""
        if self._turn is None:
            is_saved = not is_clean and not self._services.workspace.private_files.reason(self._text.uri)
            ingress = Ingress("check", REQUESTS[self._cause], self._base.path, is_saved=is_saved)
            self._turn = self._services.session.begin_turn(ingress)
        return self._turn

    def _end_turn(self, ending: Ending) -> None:
        turn, self._turn = self._turn, None
        if turn:
            turn.append(ChecksCompleted.from_verdict(self._verdict))
            self._services.session.end_turn(turn, ending)

    def _report(self, check: str, done: int, total: int) -> None:
        self._services.events.publish(VerificationReported(self._text.uri, self._text.version, check, done, total))
