"""The proposals that a client received for a document, so that an applied proposal can be told from typing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileError, FileMissing, StaleDocument, UsageError
from lsp_harness.events.code_events import EditApplied, EditRejected, EditStale
from lsp_harness.kernel.results import Proposal
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.workspace.open_document import OpenDocument

if TYPE_CHECKING:
    from lsp_harness.coding.turn.turn_context import TurnContext
    from lsp_harness.kernel.log.turn import Turn
    from lsp_harness.verify.change import Change


def require_unchanged(files: "Sequence[tuple[Path, Change]]") -> None:
    """Raise StaleDocument if a file is not as it was when its change was computed.

    Args:
        files: The path of each file, as messages name it, and its change.
    """
    for path, change in files:
        try:
            present = read_file(path, MAX_TEXT_BYTES)
        except FileMissing:
            # an empty text may be that of a new file
            present = b""
        if present != change.before.data:
            raise StaleDocument(f"{path} changed while the edit was computed; run it again")


def write_changes(files: "Sequence[tuple[Path, Change]]") -> None:
    """Write the new text of each file, or none if one of them has changed. Folders of new files are created.

    Raises:
        StaleDocument: Somebody changed a file meanwhile.
        FileError: A file cannot be read or written.
    """
    require_unchanged(files)
    for path, change in files:
        if not change.before.data:
            _make_folder(path)
        replace_file(path, change.after.data, change.before.data)


def _make_folder(file: Path) -> None:
    """Create the folder of a new file.

    Raises:
        FileError: It cannot be created.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{file} was not written: its folder cannot be created ({error.strerror})") from error


NO_PROPOSAL = "there is no open proposal {id!r} for this document; it was applied or rejected, or is too old"
MAX_PROPOSALS = 32
"""Number of proposals of a document that are remembered."""


@dataclass(frozen=True, slots=True)
class SentProposal:
    """A proposal that a client received.

    Attributes:
        base: The text that the proposal edits.
        result_hash: The hash of the text with the proposal.
        turn: The turn that made it.
        proposal: The proposal.
    """

    base: Document
    result_hash: str
    turn: "Turn"
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """A proposal, and the document that it edits, which may be another one than the user was in.

    Attributes:
        proposal: The verified edit.
        document: The text that it edits.
        is_new: Whether the file does not exist yet.
    """

    proposal: Proposal
    document: Document
    is_new: bool = False


class DocumentProposals:
    """The part of an open document that remembers its proposals (see `OpenDocument.part`)."""

    def __init__(self) -> None:
        self._sent: dict[str, SentProposal] = {}

    def add(self, proposal: Proposal, base: Document, turn: "Turn") -> None:
        self._sent[proposal.id] = SentProposal(base, proposal.changes.main.after.hash, turn, proposal)
        while len(self._sent) > MAX_PROPOSALS:
            del self._sent[next(iter(self._sent))]

    def find_applied(self, text: Document) -> list[str]:
        """Return the ids of the proposals that lead to exactly this text."""
        # a hash of the text at every key would cost too much
        if not self._sent:
            return []
        return [id for id, sent in self._sent.items() if sent.result_hash == text.hash]

    def take(self, id: str) -> SentProposal | None:
        """Return a proposal that was applied and forget it. None if it was taken already, or is too old."""
        sent = self._sent.pop(id, None)
        if sent:
            sent.turn.append(EditApplied(id))
        return sent

    def find(self, id: str) -> SentProposal | None:
        """Return a proposal that was neither applied nor rejected, or None."""
        return self._sent.get(id)

    def reject(self, id: str, reason: str) -> SentProposal | None:
        """Record that the user refused a proposal, and return it. None if there is none."""
        sent = self._sent.pop(id, None)
        if sent:
            sent.turn.append(EditRejected(id, reason))
        return sent

    def close(self) -> None:
        self._sent.clear()


def find_proposal(opened: OpenDocument | None, id: str) -> DocumentEdit:
    """Return a proposal that is neither applied nor rejected, as an edit of the present text.

    Raises:
        UsageError: There is no such proposal.
        StaleDocument: The document changed since.
    """
    proposals = opened.find_part(DocumentProposals) if opened else None
    sent = proposals.find(id) if proposals else None
    if opened is None or sent is None:
        raise UsageError(NO_PROPOSAL.format(id=id))
    if opened.text.hash != sent.base.hash:
        raise StaleDocument("the document changed since this edit was proposed; request it again")
    return DocumentEdit(sent.proposal, opened.text)


def reject_proposal(opened: OpenDocument | None, id: str, reason: str) -> Proposal:
    """Record that the user refused a proposal, and return it. Raise UsageError if there is no such proposal."""
    proposals = opened.find_part(DocumentProposals) if opened else None
    sent = proposals.reject(id, reason) if proposals else None
    if sent is None:
        raise UsageError(NO_PROPOSAL.format(id=id))
    return sent.proposal


def register(opened: OpenDocument | None, context: "TurnContext", proposal: Proposal) -> Proposal:
    """Remember a proposal before the client receives it, and return it.

    Args:
        opened: The document, if it is open.
        context: The turn that made the proposal.
        proposal: The proposal.

    Raises:
        StaleDocument: The document changed while the turn ran.
    """
    if opened:
        if opened.text.hash != context.document.hash:
            context.turn.append(EditStale(proposal.verdict.hash))
            raise StaleDocument("the document changed while the edit was computed; request it again")
        opened.part(DocumentProposals).add(proposal, context.document, context.turn)
    return proposal
