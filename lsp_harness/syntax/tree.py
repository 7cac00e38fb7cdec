"""The syntax tree of one version of a document, and the update of a tree after an edit.

All offsets are byte offsets. py-tree-sitter holds the GIL while it parses, so every parse has an `Allowance` of
processor time. A text has no tree if it needs more, or if it is larger than `MAX_TEXT_BYTES`.
"""

from dataclasses import dataclass

from tree_sitter import Node, Tree

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.bounded_parse import parse_bytes
from lsp_harness.syntax.grammars import advise_grammar, language_for
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudget, ParseBudgetExceeded
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A parsed document. It is immutable: an edit makes a new tree."""

    language: LanguageSpec
    document: Document
    tree: Tree

    @property
    def data(self) -> bytes:
        return self.document.data

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def update(
        self, before: Document, edit: Edit, after: Document, allowance: Allowance | None = None
    ) -> "SyntaxTree | None":
        """Return the tree of a document after an edit; only the changed part is parsed again.

        Args:
            before: The document before the edit.
            edit: The edit that leads from `before` to `after`.
            after: The document after the edit.
            allowance: The processor time for the parse, by default that of one text.

        Returns:
            The new tree, or None if the parse exceeds the allowance or the new text is binary.
        """
        try:
            return self.update_within(before, edit, after, allowance or Allowance(BUDGET.text_s))
        except ParseBudgetExceeded:
            return None

    def update_within(self, before: Document, edit: Edit, after: Document, allowance: Allowance) -> "SyntaxTree | None":
        """Do the work of `update`, but raise ParseBudgetExceeded if the parse exceeds the allowance."""
        if after.is_binary:
            return None
        if before.data is not self.data and before.data != self.data:
            # This tree belongs to another text. Reusing its nodes would give a wrong tree.
            return parse_within(after, allowance)
        # `Tree.edit` changes a tree in place. The copy shares its nodes and is cheap.
        old = self.tree.copy()
        shift_nodes(old, before, edit, after)
        return SyntaxTree(self.language, after, parse_bytes(self.language, after.data, allowance, old))

    def apply_edit(self, edit: Edit, allowance: Allowance) -> "SyntaxTree | None":
        """Return the tree of this text with a proposed edit applied, or None if that text is binary.

        Raises:
            ParseBudgetExceeded: The parse exceeds the allowance.
        """
        return self.update_within(self.document, edit, self.document.apply_edit(edit, self.document.version), allowance)


def nodes_around(root: Node, start: int, end: int) -> list[Node]:
    """Return the nodes that contain the bytes from `start` to `end`, the innermost first and the root last."""
    # A cursor is used, as `Node.parent` searches from the root each time.
    nodes, cursor = [root], root.walk()
    while cursor.goto_first_child_for_byte(start) is not None:
        node = cursor.node
        if node is None or node.start_byte > start or node.end_byte < end:
            break
        nodes.append(node)
    return nodes[::-1]


def shift_nodes(tree: Tree, before: Document, edit: Edit, after: Document) -> None:
    """Move the nodes of a tree to their offsets after an edit, without parsing."""
    end = edit.start + len(edit.new)
    tree.edit(edit.start, edit.end, end, before.point(edit.start), before.point(edit.end), after.point(end))


def parse_root(
    language: LanguageSpec, data: bytes, allowance: Allowance | None = None, budget: ParseBudget = BUDGET
) -> Node:
    """Parse a text that is not edited, and return the root of its tree.

    Raises:
        ParseBudgetExceeded: The parse exceeds the allowance (by default the time for a text in `budget`) or the budget.
    """
    return parse_bytes(language, data, allowance or Allowance(budget.text_s), budget=budget).root_node


def parse(document: Document, allowance: Allowance | None = None) -> SyntaxTree | None:
    """Parse a document.

    Returns:
        The tree, or None if there is no grammar for its language, the document is binary, or the parse exceeds the
        allowance (by default that of one text).
    """
    try:
        return parse_within(document, allowance or Allowance(BUDGET.text_s))
    except ParseBudgetExceeded:
        return None


def no_tree_reason(document: Document, name: str) -> str:
    """Return a sentence that says why a document has no tree: it has no grammar, or the parse is too expensive.

    Args:
        document: The document without a tree.
        name: What the message calls the document.
    """
    try:
        parse_within(document, Allowance(BUDGET.text_s))
    except ParseBudgetExceeded as error:
        return f"{name} has no syntax tree: {error}"
    return f"there is no grammar for {document.language or name}{advise_grammar(document.language, document.uri)}"


def parse_within(document: Document, allowance: Allowance) -> SyntaxTree | None:
    """Do the work of `parse`, but raise ParseBudgetExceeded if the parse exceeds the allowance."""
    if document.is_binary or (language := language_for(document.language, document.uri)) is None:
        return None
    return SyntaxTree(language, document, parse_bytes(language, document.data, allowance))
