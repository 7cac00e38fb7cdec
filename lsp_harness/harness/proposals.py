"""Proposals that were given out, remembered so that applying one can be told from typing."""

from dataclasses import dataclass

from lsp_harness.coding.turn_context import Job
from lsp_harness.errors import StaleDocument
from lsp_harness.session.log import Turn
from lsp_harness.session.results import Proposal
from lsp_harness.text.document import Document
from lsp_harness.workspace.documents import Documents

KEPT = 32
"""The last so many."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The text before it, the hash of the text with it, and its turn."""

    before: Document
    hash: str
    turn: Turn


class Proposals:
    """Those about the documents of one front end, by the proposal's id."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._given: dict[str, Proposed] = {}

    def give(self, job: Job, proposal: Proposal) -> Proposal:
        """What came of a job is given out. Raises StaleDocument where its document is not the open text any more."""
        document, uri = job.document, job.document.uri
        if uri in self._documents and self._documents.get(uri).hash != document.hash:
            job.turn.tell("edit.stale", hash=proposal.verdict.hash)
            raise StaleDocument("the document changed while the edit was computed; request it again")
        self._given[proposal.id] = Proposed(document, proposal.verdict.hash, job.turn)
        while len(self._given) > KEPT:
            del self._given[next(iter(self._given))]
        return proposal

    def made(self, document: Document) -> list[str]:
        """The ids of those that make a text what this one is now."""
        # a hash is not made at every key
        if not any(known.before.uri == document.uri for known in self._given.values()):
            return []
        return [id for id, known in self._given.items() if known.hash == document.hash]

    def take(self, id: str) -> Proposed | None:
        """One that is in its document, once; None where it was taken already or is too old."""
        known = self._given.pop(id, None)
        if known:
            known.turn.tell("edit.applied", proposal=id)
        return known
