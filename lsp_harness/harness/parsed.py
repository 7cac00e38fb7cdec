"""The syntax trees of the open documents, kept up to date with every edit, and what they declare."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

if TYPE_CHECKING:
    from lsp_harness.syntax.declarations import Declaration
    from lsp_harness.syntax.incremental import Declarations
    from lsp_harness.syntax.tree import SyntaxTree


class Parsed:
    """A tree is made when somebody asks for it first, and so is what it declares."""

    def __init__(self) -> None:
        self._trees: dict[str, SyntaxTree | None] = {}
        self._declared: dict[str, Declarations] = {}
        self.edited: dict[str, None] = {}
        """The documents that were edited since they are open."""

    def changed(self, before: Document, edit: Edit, after: Document) -> None:
        """One edit of an open document; call in order."""
        self.edited[after.uri] = None
        if tree := self._trees.get(after.uri):
            self._trees[after.uri] = tree.edited(before, edit, after)
            if declared := self._declared.get(after.uri):
                declared.edited(before, edit, after)

    def forget(self, uri: str) -> None:
        self._trees.pop(uri, None)
        self._declared.pop(uri, None)
        self.edited.pop(uri, None)

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

    def declarations(self, document: Document, *, live: bool) -> "Sequence[Declaration]":
        """What a text declares, in its order, outer ones first."""
        from lsp_harness.syntax.declarations import declared
        from lsp_harness.syntax.incremental import Declarations

        tree = self.tree(document, live=live)
        if tree is None:
            return []
        if not live:
            return declared(tree.language, tree.data, tree.root)[0]
        if document.uri not in self._declared:
            self._declared[document.uri] = Declarations(tree)
        return self._declared[document.uri].of(tree)
