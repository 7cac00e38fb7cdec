"""Sequences of changes, compared with a simple and slow implementation."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.server.features.documents import document_version, read_changes
from lsp_harness.text.document import Document
from lsp_harness.text.position import Encoding
from lsp_harness.workspace.open_documents import OpenDocuments
from tests.text import reference
from tests.text.reference import encodings

# the two halves of a surrogate pair, next to each other in JSON, arrive as one character
PIECES = [piece for piece in reference.PIECES if piece != "\ude00"]
pieces = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
positions = st.builds(
    lambda line, character: {"line": line, "character": character}, st.integers(0, 9), st.integers(0, 12)
)
ranges = st.none() | st.builds(lambda start, end: {"start": start, "end": end}, positions, positions)
single_changes = st.builds(
    lambda lsp_range, text: {"text": text} if lsp_range is None else {"range": lsp_range, "text": text}, ranges, pieces
)
versions = st.none() | st.integers(-3, 30)
notification_lists = st.lists(st.tuples(versions, st.lists(single_changes, max_size=4)), max_size=6)


def apply_change(text: str, change: dict[str, Any], encoding: Encoding) -> str:
    lsp_range = change.get("range")
    if lsp_range is None:
        return change["text"]
    offsets = [
        reference.index(text, lsp_range[end]["line"], lsp_range[end]["character"], encoding) for end in ("start", "end")
    ]
    return text[: min(offsets)] + change["text"] + text[max(offsets) :]


@settings(max_examples=150, deadline=None)
@given(pieces, notification_lists, encodings)
def test_any_sequence_of_changes_gives_the_text_of_the_client(
    text: str, notifications: list[tuple[int | None, list[dict[str, Any]]]], encoding: Encoding
) -> None:
    documents, uri = OpenDocuments(), "file:///a.py"
    documents.open(Document.from_text(uri, text, version=1))
    last_version = 1
    for version, changes in notifications:
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        next_version = documents.get(uri).next_version(document_version(params))
        for change in read_changes(params):
            documents.get(uri).edit(change.to_edit(documents.get(uri).text, encoding), next_version)
        for change in changes:
            text = apply_change(text, change, encoding)
        document = documents.get(uri).text
        assert document == Document.from_text(uri, text, version=document.version)
        assert list(document.line_starts) == list(Document.from_text(uri, text).line_starts)
        assert document.version == next_version > last_version if changes else document.version == last_version
        last_version = document.version
