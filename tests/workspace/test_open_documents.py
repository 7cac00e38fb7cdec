"""Tests of open documents, whose versions only increase."""

import pytest

from lsp_harness.errors import DocumentNotOpen, DocumentOutOfSync
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.open_documents import OpenDocuments

URI = "file:///a.py"


def open_document(text: str = "x = 1\n", version: int = 3) -> OpenDocuments:
    documents = OpenDocuments()
    documents.open(Document.from_text(URI, text, version=version))
    return documents


def test_a_change_gives_the_text_before_and_after() -> None:
    documents = open_document()
    before = documents.get(URI).edit(Edit(4, 5, b"22"), 4)
    assert before == Document.from_text(URI, "x = 1\n", version=3)
    assert documents.get(URI).text == Document.from_text(URI, "x = 22\n", version=4)


@pytest.mark.parametrize(
    ("versions", "numbers"),
    [
        ([4, 5], [4, 5]),
        ([3, 3], [4, 5]),
        ([1, 2, 9], [4, 5, 9]),
        ([None, None, 2], [4, 5, 6]),
        ([-7, 10], [4, 10]),
    ],
)
def test_versions_increase_whatever_the_client_sends(versions: list[int | None], numbers: list[int]) -> None:
    documents, result = open_document(version=3), list[int]()
    for version in versions:
        number = documents.get(URI).next_version(version)
        for new in (b"y", b"z"):
            documents.get(URI).edit(Edit(0, 1, new), number)
        result.append(documents.get(URI).text.version)
        assert documents.get(URI).client_version(documents.get(URI).text) == version
    assert result == numbers
    assert documents.get(URI).text.text == "z = 1\n"


def test_the_client_version_of_an_earlier_text_is_unknown() -> None:
    documents = open_document(version=3)
    before = documents.get(URI).text
    assert documents.get(URI).client_version(before) == 3
    documents.get(URI).edit(Edit(0, 1, b"y"), documents.get(URI).next_version(2))
    assert documents.get(URI).client_version(before) is None


def test_an_unknown_text_is_not_returned() -> None:
    documents = open_document()
    assert documents.lose(URI, "it was lost")
    assert not documents.lose(URI, "again")
    assert URI not in documents
    assert list(documents) == []
    with pytest.raises(DocumentOutOfSync, match="it was lost"):
        documents.get(URI)
    assert {uri: lost.reason for uri, lost in documents.lost_texts.items()} == {URI: "it was lost"}
    documents.open(Document.from_text(URI, "y"))
    assert documents.get(URI).text.text == "y"
    assert documents.lost_texts == {}


def test_several_changes_may_make_one_version() -> None:
    documents = open_document()
    documents.get(URI).edit(Edit(0, 1, b"y"), 4)
    documents.get(URI).edit(Edit(4, 5, b"2"), 4)
    assert documents.get(URI).text == Document.from_text(URI, "y = 2\n", version=4)


def test_a_document_that_was_taken_before_a_change_does_not_change() -> None:
    documents = open_document()
    taken = documents.get(URI).text
    documents.get(URI).edit(Edit(0, 1, b"y\n"), 4)
    assert (taken.text, list(taken.line_starts)) == ("x = 1\n", [0, 6])


def test_opening_a_document_again_replaces_its_text() -> None:
    documents = open_document()
    documents.open(Document.from_text(URI, "new", version=1))
    assert documents.get(URI).text == Document.from_text(URI, "new", version=1)


def test_a_closed_document_is_not_known_any_more() -> None:
    documents = open_document()
    assert [d.uri for d in documents] == [URI]
    assert URI in documents
    assert not documents.is_closed(URI)
    closed = documents.close(URI)
    assert closed
    assert closed.text == Document.from_text(URI, "x = 1\n", version=3)
    assert documents.is_closed(URI)
    assert URI not in documents
    for use in (documents.get, documents.close):
        with pytest.raises(DocumentNotOpen, match="send textDocument/didOpen first"):
            use(URI)
