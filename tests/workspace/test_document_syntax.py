"""Trees and declarations of open documents, as they are edited."""

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.document_syntax import DocumentSyntax, SyntaxService

TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def list_declarations(parsed: DocumentSyntax, document: Document, *, is_current: bool = True) -> list[tuple[str, int]]:
    return [
        (declaration.name, declaration.line) for declaration in parsed.declarations(document, is_current=is_current)
    ]


def apply_and_follow(parsed: DocumentSyntax, before: Document, edit: Edit) -> Document:
    after = before.apply_edit(edit, before.version + 1)
    parsed.follow(before, edit, after)
    return after


def test_declarations_follow_the_edits():
    parsed, document = DocumentSyntax(SyntaxService()), Document.from_text("file:///a.py", TEXT)
    assert list_declarations(parsed, document) == [("one", 0), ("two", 4)]
    later = apply_and_follow(parsed, document, Edit(0, 0, b"import os\n\n"))
    assert list_declarations(parsed, later) == [("one", 2), ("two", 6)]
    last = apply_and_follow(parsed, later, Edit(len(later.data), len(later.data), b"\nclass Three: ...\n"))
    assert list_declarations(parsed, last) == [("one", 2), ("two", 6), ("Three", 9)]


def test_an_older_text_is_answered_without_a_change_of_the_state():
    parsed, document = DocumentSyntax(SyntaxService()), Document.from_text("file:///a.py", TEXT)
    list_declarations(parsed, document)
    later = apply_and_follow(parsed, document, Edit(4, 7, b"first"))
    assert list_declarations(parsed, document, is_current=False) == [("one", 0), ("two", 4)]
    assert list_declarations(parsed, later) == [("first", 0), ("two", 4)]


def test_a_tree_without_a_reader_is_not_updated():
    parsed, document = DocumentSyntax(SyntaxService()), Document.from_text("file:///a.py", TEXT)
    later = apply_and_follow(parsed, document, Edit(4, 7, b"first"))
    assert list_declarations(parsed, later) == [("first", 0), ("two", 4)]


def test_a_text_in_an_unknown_language_has_no_declarations():
    parsed, document = DocumentSyntax(SyntaxService()), Document.from_text("file:///a.odd", TEXT)
    assert parsed.tree(document, is_current=True) is None
    assert list_declarations(parsed, document) == []
    assert list_declarations(parsed, apply_and_follow(parsed, document, Edit(0, 0, b"x"))) == []
