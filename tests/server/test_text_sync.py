"""Sequences of changes, against a list of characters that is changed the slow way."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.server import text_sync
from lsp_harness.text.document import Document
from lsp_harness.text.position import Encoding
from lsp_harness.workspace.open_documents import OpenDocuments
from tests.text import reference
from tests.text.reference import encodings

# JSON has no two halves of a pair next to each other: they are one character when they arrive
PIECES = [piece for piece in reference.PIECES if piece != "\ude00"]
pieces = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
positions = st.builds(
    lambda line, character: {"line": line, "character": character}, st.integers(0, 9), st.integers(0, 12)
)
ranges = st.none() | st.builds(lambda start, end: {"start": start, "end": end}, positions, positions)
single = st.builds(
    lambda place, text: {"text": text} if place is None else {"range": place, "text": text}, ranges, pieces
)
versions = st.none() | st.integers(-3, 30)
notifications = st.lists(st.tuples(versions, st.lists(single, max_size=4)), max_size=6)


def changed(text: str, change: dict[str, Any], encoding: Encoding) -> str:
    place = change.get("range")
    if place is None:
        return change["text"]
    ends = [reference.index(text, place[end]["line"], place[end]["character"], encoding) for end in ("start", "end")]
    return text[: min(ends)] + change["text"] + text[max(ends) :]


@settings(max_examples=150, deadline=None)
@given(pieces, notifications, encodings)
def test_any_sequence_of_changes_leaves_the_text_that_the_client_has(
    text: str, sent: list[tuple[int | None, list[dict[str, Any]]]], encoding: Encoding
) -> None:
    documents, uri = OpenDocuments(), "file:///a.py"
    documents.open(Document.from_text(uri, text, version=1))
    last = 1
    for version, changes in sent:
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        number = documents.get(uri).next_version(text_sync.version_of(params))
        for change in text_sync.changes(params):
            documents.get(uri).edit(change.edit(documents.get(uri).text, encoding), number)
        for change in changes:
            text = changed(text, change, encoding)
        now = documents.get(uri).text
        assert now == Document.from_text(uri, text, version=now.version)
        assert list(now.line_starts) == list(Document.from_text(uri, text).line_starts)
        assert now.version == number > last if changes else now.version == last
        last = now.version
