"""The syntax tree of one version of a document, and how the next version's is made from it.

Offsets are bytes everywhere. py-tree-sitter holds the GIL while it parses, so every tree is made within an `Allowance` of time; a text
that costs more, and one above `LIMIT`, has no tree.
"""

from dataclasses import dataclass

from tree_sitter import Node, Tree

from lsp_harness.syntax.bounded_parse import parsed
from lsp_harness.syntax.languages import Language, language_for
from lsp_harness.syntax.parse_budget import BUDGET, LARGEST_TEXT, Allowance, Budget, TooCostly
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit

LIMIT = LARGEST_TEXT


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

    def edited(
        self, before: Document, edit: Edit, after: Document, allowance: Allowance | None = None
    ) -> "SyntaxTree | None":
        """The tree of `after`, which is `before` with `edit` applied; only what changed is parsed again. None where that costs more
        than the allowance, by default that of a text."""
        try:
            return self.follow(before, edit, after, allowance or Allowance(BUDGET.text_s))
        except TooCostly:
            return None

    def follow(self, before: Document, edit: Edit, after: Document, allowance: Allowance) -> "SyntaxTree | None":
        """As `edited`. Raises TooCostly."""
        if after.is_binary:
            return None
        if before.data is not self.data and before.data != self.data:
            # Reusing nodes of a text we did not parse would give a tree of neither.
            return within(after, allowance)
        # An edit changes a tree in place; the copy shares its nodes and costs nothing.
        old = self.tree.copy()
        move(old, before, edit, after)
        return SyntaxTree(self.language, after, parsed(self.language, after.data, allowance, old))

    def spliced(self, edit: Edit, allowance: Allowance | None = None) -> "SyntaxTree | None":
        """The tree of this text with one edit applied: what a proposal would look like. None where that costs too much."""
        try:
            return self.splice(edit, allowance or Allowance(BUDGET.text_s))
        except TooCostly:
            return None

    def splice(self, edit: Edit, allowance: Allowance) -> "SyntaxTree | None":
        """As `spliced`. Raises TooCostly."""
        return self.follow(self.document, edit, self.document.apply_edit(edit, self.document.version), allowance)


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


def root_of(language: Language, data: bytes, allowance: Allowance | None = None, budget: Budget = BUDGET) -> Node:
    """The root of the tree of a text that nobody edits. The default allowance is that of a text. Raises TooCostly."""
    return parsed(language, data, allowance or Allowance(budget.text_s), budget=budget).root_node


def parse(document: Document, allowance: Allowance | None = None) -> SyntaxTree | None:
    """The tree of a text; None for a language we cannot parse, a binary, and what costs more than the allowance, by default that of a
    text."""
    try:
        return within(document, allowance or Allowance(BUDGET.text_s))
    except TooCostly:
        return None


def no_tree_reason(document: Document, name: str) -> str:
    """A sentence on why a text has no tree: no grammar, or what makes parsing it too costly. `name` is what the text is called."""
    try:
        within(document, Allowance(BUDGET.text_s))
    except TooCostly as error:
        return f"{name} has no syntax tree: {error}"
    return f"there is no grammar for {document.language or name}"


def within(document: Document, allowance: Allowance) -> SyntaxTree | None:
    """As `parse`. Raises TooCostly."""
    if document.is_binary or (language := language_for(document.language, document.uri)) is None:
        return None
    return SyntaxTree(language, document, parsed(language, document.data, allowance))
