"""The open documents: what is known, and that versions only go up."""

import pytest

from lsp_harness.errors import NotOpen, Stale
from lsp_harness.text.document import Document
from lsp_harness.text.documents import Documents
from lsp_harness.text.edit import Edit

URI = "file:///a.py"


def opened(text: str = "x = 1\n", version: int = 3) -> Documents:
    documents = Documents()
    documents.open(Document.of(URI, text, version=version))
    return documents


def test_a_change_gives_the_text_before_and_after() -> None:
    documents = opened()
    before, after = documents.change(URI, Edit(4, 5, b"22"), 4)
    assert before == Document.of(URI, "x = 1\n", version=3)
    assert after == Document.of(URI, "x = 22\n", version=4) == documents.get(URI)


def test_an_older_version_is_refused_and_changes_nothing() -> None:
    documents = opened()
    with pytest.raises(Stale, match="version 3; a change to version 2 came too late"):
        documents.change(URI, Edit(0, 1, b"y"), 2)
    assert documents.get(URI) == Document.of(URI, "x = 1\n", version=3)


def test_several_changes_may_make_one_version() -> None:
    documents = opened()
    documents.change(URI, Edit(0, 1, b"y"), 4)
    documents.change(URI, Edit(4, 5, b"2"), 4)
    assert documents.get(URI) == Document.of(URI, "y = 2\n", version=4)


def test_what_was_taken_before_a_change_does_not_change() -> None:
    documents = opened()
    taken = documents.get(URI)
    documents.change(URI, Edit(0, 1, b"y\n"), 4)
    assert (taken.text, list(taken.starts)) == ("x = 1\n", [0, 6])


def test_opening_again_starts_anew() -> None:
    documents = opened()
    documents.open(Document.of(URI, "new", version=1))
    assert documents.get(URI) == Document.of(URI, "new", version=1)


def test_a_closed_document_is_not_known_any_more() -> None:
    documents = opened()
    assert [d.uri for d in documents] == [URI]
    assert URI in documents
    assert documents.close(URI).text == "x = 1\n"
    assert URI not in documents
    for use in (documents.get, documents.close, lambda uri: documents.change(uri, Edit(0, 0, b""), 9)):
        with pytest.raises(NotOpen, match="send textDocument/didOpen first"):
            use(URI)
