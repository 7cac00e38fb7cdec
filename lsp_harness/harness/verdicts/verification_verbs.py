"""The verdicts to show of accepted and saved edits, the line above a function that says them, and the saves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_harness.harness.services import Services
from lsp_harness.text.document import Document
from lsp_harness.text.wording import format_count
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.published_findings import Cause, PublishedFindings
from lsp_harness.wire.verdict_words import STATUS_MARKS
from lsp_harness.workspace.open_document import OpenDocument

if TYPE_CHECKING:
    from lsp_harness.harness.verdicts.accepted_edits import AcceptedEdits
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.workspace.folder_stamps import ChangedFile

TEST_COUNT = re.compile(r"[\d,]+ tests?\b")
"""The number of tests in the remark of the check that ran them."""


@dataclass(frozen=True, slots=True)
class VerdictLens:
    """A verdict as one line at a place of a text.

    Attributes:
        offset: The first byte of the changed function, or of the change if it lies in no function.
        title: The verdict, such as "verified ✓ 3 checks, 12 tests".
        verdict: The name of the document that lists the checks.
    """

    offset: int
    title: str
    verdict: str


def create_lens(published: PublishedFindings, tree: "SyntaxTree | None") -> VerdictLens | None:
    """Return the lens of a complete verdict, or None while checks run."""
    from lsp_harness.syntax.scope import enclosing_function

    if not published.is_complete or published.accepted is None:
        return None
    function = enclosing_function(tree, published.accepted.start) if tree else None
    offset = function.start if function else published.accepted.start
    return VerdictLens(offset, describe_verdict(published), published.verdict)


def describe_verdict(published: PublishedFindings) -> str:
    """Return a verdict in a few words. A check that did not run is never counted as passed.

    Without tests that ran the change, it is not called verified: "form ✓, behaviour not checked".
    """
    text = _describe_outcomes(published)
    return f"{text}; {published.outdated_by} has changed since" if published.outdated_by else text


def _describe_outcomes(published: PublishedFindings) -> str:
    outcomes, verdict = published.outcomes, Verdict("", tuple(published.outcomes))
    waiting = [outcome for outcome in outcomes if outcome.is_temporary]
    if waiting and verdict.kind != "failed":
        # these checks run as soon as they can, and until then nobody knows
        return f"not verified yet {STATUS_MARKS['skipped']} {waiting[0].title or waiting[0].check}: {waiting[0].reason}"
    if not verdict.is_verified:
        return f"verification {verdict.words}" if verdict.kind == "failed" else verdict.words
    passed = [outcome for outcome in outcomes if outcome.status == "passed"]
    counts = ((outcome, TEST_COUNT.match(outcome.reason)) for outcome in passed)
    tests = [match[0] + (f" in {outcome.extent}" if outcome.extent else "") for outcome, match in counts if match]
    return ", ".join([f"{verdict.words} {format_count(len(passed), 'check')}", *tests])


class VerificationVerbs:
    """The verdicts of one client.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._edits: AcceptedEdits | None = None

    # -- what the user did
    def start(self, opened: OpenDocument, base: Document, cause: Cause = "accepted") -> None:
        """Verify a document whose user accepted or saved an edit of `base`."""
        if self._edits is None:
            from lsp_harness.harness.verdicts.accepted_edits import AcceptedEdits

            self._edits = AcceptedEdits(self._services)
            self._services.closers.append(self._edits.aclose)
        self._edits.start(opened, self._services.workspace.snapshot(base), cause)

    def follow(self, opened: OpenDocument) -> None:
        """Verify a document again after an edit, if it is being verified."""
        if self._edits:
            self._edits.follow(opened)

    def record_save(self, uri: str) -> None:
        """Record that the user saved a document. Its changes since the last save are verified, if the settings say so.

        Args:
            uri: The URI of the document.
        """
        opened = self._services.documents.find(uri)
        if opened is None:
            return
        before, text = opened.save(), opened.text
        if before.data != text.data and self._services.config.verification.on_save and not text.is_binary:
            self.start(opened, before, "saved")
        elif before.data == text.data and self._edits:
            self._edits.check_again(opened)

    def record_file_changes(self, changes: "Sequence[ChangedFile]") -> None:
        """Record that files on disk changed, so that a check of another text may find something else."""
        if self._edits:
            self._edits.record_file_changes(changes)

    def stop(self, uri: str) -> None:
        """End the verification of a document until its next edit."""
        if self._edits and (opened := self._services.documents.find(uri)):
            self._edits.stop(opened)

    # -- what there is to show
    def findings(self, text: Document) -> PublishedFindings:
        """Return the findings about accepted and saved edits in this version of a document."""
        if self._edits is None:
            return PublishedFindings(text.version)
        return self._edits.findings(self._services.documents.find(text.uri), text)

    def find_lens(self, text: Document) -> VerdictLens | None:
        """Return the verdict to show at the changed place of this version of a document, or None if there is none."""
        return create_lens(self.findings(text), self._services.documents.tree(text))

    async def wait_until_idle(self) -> None:
        """Wait until no verification waits or runs, for callers that have no event to wait for."""
        if self._edits:
            await self._edits.wait_until_idle()
