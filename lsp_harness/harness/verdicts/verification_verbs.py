"""The verification of accepted and saved edits: the verdicts to show, and the saves that ask for one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsp_harness.harness.services import Services
from lsp_harness.harness.verdicts.verdict_lens import VerdictLens, create_lens
from lsp_harness.text.document import Document
from lsp_harness.verify.published_findings import Cause, PublishedFindings
from lsp_harness.workspace.open_document import OpenDocument

if TYPE_CHECKING:
    from lsp_harness.harness.verdicts.accepted_edits import AcceptedEdits
    from lsp_harness.workspace.folder_stamps import ChangedFile


class VerificationVerbs:
    """The verdicts of one client.

    Args:
        services: The shared parts.
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
            uri: The document.
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
