"""The syntax trees of the open documents, kept up to date with every edit, and what they declare."""

from typing import TYPE_CHECKING

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

if TYPE_CHECKING:
    from lsp_harness.syntax.declarations import Declaration
    from lsp_harness.syntax.tree import SyntaxTree


class Parsed:
    """A tree is made when somebody asks for it first."""

    def __init__(self) -> None:
        self._trees: dict[str, SyntaxTree | None] = {}

    def changed(self, before: Document, edit: Edit, after: Document) -> None:
        """One edit of an open document; call in order."""
        if tree := self._trees.get(after.uri):
            self._trees[after.uri] = tree.edited(before, edit, after)

    def forget(self, uri: str) -> None:
        self._trees.pop(uri, None)

    def tree(self, document: Document, *, live: bool) -> "SyntaxTree | None":
        """The tree of a text; None in a language we do not know. That of a `live` one, which is what is open, is kept."""
        from lsp_harness.syntax.tree import parse

        known = self._trees.get(document.uri)
        if known and known.document.data == document.data:
            return known
        tree = parse(document)
        if live:
            self._trees[document.uri] = tree
        return tree

    def declarations(self, document: Document, *, live: bool) -> "list[Declaration]":
        """What a text declares, in its order, outer ones first."""
        from lsp_harness.syntax.declarations import declared

        tree = self.tree(document, live=live)
        return declared(tree.language, tree.data, tree.root)[0] if tree else []
