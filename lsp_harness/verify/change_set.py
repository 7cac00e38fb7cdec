"""The changes of one proposal, one for each document that it edits."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change


@dataclass(frozen=True)
class ChangeSet:
    """The changes of one proposal, which are checked, offered and applied together.

    Each change has the text before, with its hash and version, and the text after. The first change is the main one: it
    is about the document of the request, and a check that is about a finding reads only this change.
    """

    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        uris = [change.before.uri for change in self.changes]
        if not uris or len(set(uris)) < len(uris):
            raise ValueError("a change set needs at least one change, and only one for each document")

    @classmethod
    def of(cls, *changes: Change) -> "ChangeSet":
        """Return the set of these changes, the main change first."""
        return cls(changes)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    @property
    def main(self) -> Change:
        """The change of the document that the request is about."""
        return self.changes[0]

    @property
    def hash(self) -> str:
        """The hash of all texts with their edits. For one document it is the hash of its text."""
        return hash_texts([change.after for change in self.changes])


def hash_texts(documents: Sequence[Document]) -> str:
    """Return the hash of texts. For a single text it is its own hash."""
    if len(documents) == 1:
        return documents[0].hash
    lines = (f"{document.uri} {document.hash}\n" for document in documents)
    return hashlib.blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
