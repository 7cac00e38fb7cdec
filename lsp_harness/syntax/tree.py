"""The syntax tree of one version of a document, and how the next version's is made from it.

Offsets are bytes everywhere. py-tree-sitter holds the GIL while it parses, so a large text is a pause for every
thread; texts above `LIMIT` are not parsed at all.
"""

from dataclasses import dataclass

from tree_sitter import Node, Parser, Tree

from lsp_harness.syntax.languages import Language, grammar, language_for
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

LIMIT = 2_000_000


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A parsed document. A value: edits make a new one."""

    language: Language
    document: Document
    tree: Tree

    @property
    def data(self) -> bytes:
        return self.document.data

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def edited(self, before: Document, edit: Edit, after: Document) -> "SyntaxTree | None":
        """The tree of `after`, which is `before` with `edit` applied; only what changed is parsed again."""
        if before.data is not self.data and before.data != self.data:
            # Reusing nodes of a text we did not parse would give a tree of neither.
            return parse(after)
        if len(after.data) > LIMIT or after.binary:
            return None
        # An edit changes a tree in place; the copy shares its nodes and costs nothing.
        old = self.tree.copy()
        move(old, before, edit, after)
        return SyntaxTree(self.language, after, Parser(grammar(self.language)).parse(after.data, old))

    def spliced(self, edit: Edit) -> "SyntaxTree | None":
        """The tree of this text with one edit applied: what a proposal would look like."""
        return self.edited(self.document, edit, self.document.edited(edit, self.document.version))


def around(root: Node, start: int, end: int) -> list[Node]:
    """The nodes that have all of a range in them, the innermost first."""
    # not by `parent`, which looks for each from the root
    found, cursor = [root], root.walk()
    while cursor.goto_first_child_for_byte(start) is not None:
        node = cursor.node
        if node is None or node.start_byte > start or node.end_byte < end:
            break
        found.append(node)
    return found[::-1]


def move(tree: Tree, before: Document, edit: Edit, after: Document) -> None:
    """Let the nodes of a tree be where they are after an edit, before anything is parsed."""
    end = edit.start + len(edit.new)
    tree.edit(edit.start, edit.end, end, before.point(edit.start), before.point(edit.end), after.point(end))


def root_of(language: Language, data: bytes) -> Node:
    """The root of the tree of a text that nobody edits."""
    return Parser(grammar(language)).parse(data).root_node


def parse(document: Document) -> SyntaxTree | None:
    """The tree of a text; None for a language we cannot parse, a binary and what is too large."""
    if len(document.data) > LIMIT or document.binary:
        return None
    language = language_for(document.language, document.uri)
    if language is None:
        return None
    return SyntaxTree(language, document, Parser(grammar(language)).parse(document.data))
