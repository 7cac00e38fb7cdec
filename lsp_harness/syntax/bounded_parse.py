"""Parsing within a budget of time, and checks that a tree is small enough for queries.

tree-sitter can need minutes for a few kilobytes and holds the GIL meanwhile. py-tree-sitter 0.26 has no way to cancel a
parse: its `progress_callback` crashes the process. A parser can however read its text through a function that returns
one piece at a time. This module uses such a function to end the text early. The parser then finishes with the truncated
text, and the resulting tree is discarded.
"""

import re

from tree_sitter import Node, Parser, Point, Tree

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import grammar
from lsp_harness.syntax.parse_budget import BUDGET, MAX_TEXT_BYTES, Allowance, ParseBudget, ParseBudgetExceeded

MIN_PIECE_BYTES, MAX_PIECE_BYTES = 64, 4096
"""Limits of the size of one piece of text that the parser reads."""
QUICK_PIECE_S = 0.0003
"""If a piece is parsed within this time, the next piece is twice as large. Otherwise it is half as large."""
MAX_READS_AFTER_END = 200
"""How often a parser may read again after its text was ended early. A parser that reads more often is in a loop, and
ending the text at its current offset stops most such loops."""
MIN_CHECKED_NODES = 1_000
"""A tree with fewer nodes is not checked: queries over it are cheap, whatever its shape is."""
MAX_LEVEL_NODES = 5_000
"""The search for error nodes stops at a level of the tree that has more nodes."""
DEPTH_SAMPLES = 200
"""Number of nodes whose depth is measured to estimate the depth of the tree."""


class _PieceReader:
    """Passes a text to a parser in pieces, and ends the text early when the allowance is spent."""

    def __init__(self, data: bytes, allowance: Allowance) -> None:
        self.is_truncated = False
        self._data, self._allowance = data, allowance
        self._end, self._delivered_end = len(data), 0
        self._piece_bytes, self._last_read_s = MIN_PIECE_BYTES, allowance.clock()
        self._reads_left = MAX_READS_AFTER_END
        self._is_parsed = False

    def read(self, offset: int, _: Point) -> bytes:
        """Return the next piece of the text from `offset` on; an empty piece ends the text."""
        if self._is_parsed:
            # Predicates of queries read `Node.text`, which calls this function until it has all bytes. It would never
            # stop if it got none.
            return self._data[offset : offset + MIN_PIECE_BYTES] or b"\0"
        if self.is_truncated:
            self._reads_left -= 1
            if self._reads_left < 0:
                self._end = min(self._end, offset)
        elif self._allowance.is_spent:
            # Bytes that were delivered once stay readable: a parser crashes if it reads an offset again and gets
            # another text.
            self.is_truncated, self._end = True, self._delivered_end
        else:
            now = self._allowance.clock()
            is_quick, self._last_read_s = now - self._last_read_s < QUICK_PIECE_S, now
            if is_quick:
                self._piece_bytes = min(2 * self._piece_bytes, MAX_PIECE_BYTES)
            else:
                self._piece_bytes = max(self._piece_bytes // 2, MIN_PIECE_BYTES)
        piece = self._data[offset : min(offset + self._piece_bytes, self._end)]
        self._delivered_end = max(self._delivered_end, offset + len(piece))
        return piece

    def finish(self) -> None:
        """Mark the parse as finished. Later reads come from `Node.text` and get the whole text."""
        self._is_parsed = True


def refusal_reason(language: LanguageSpec, data: bytes) -> str:
    """Return why a text must not be parsed at all, or an empty string if it may be parsed."""
    if len(data) > MAX_TEXT_BYTES:
        return f"it is larger than {MAX_TEXT_BYTES // 1000} kB"
    if b"\0" in data:
        # Several parsers take a NUL byte for the end of the text and then loop, as they never reach the real end.
        return "it is not a text"
    if language.crash_pattern and re.search(language.crash_pattern, data):
        return f"it is nested too deeply for the parser of {language.id}"
    return ""


def parse_bytes(
    language: LanguageSpec, data: bytes, allowance: Allowance, old: Tree | None = None, budget: ParseBudget = BUDGET
) -> Tree:
    """Parse a text.

    Args:
        language: The language whose grammar is used.
        data: The bytes of the text, in UTF-8.
        allowance: The processor time that the parse may take.
        old: The tree of the previous version, after `Tree.edit`. Its unchanged nodes are reused.
        budget: The limits on the shape of the tree.

    Raises:
        ParseBudgetExceeded: The text may not be parsed, or the parse or its tree exceeds the budget.
    """
    if reason := refusal_reason(language, data):
        raise ParseBudgetExceeded(reason)
    allowance.check()
    reader, parser = _PieceReader(data, allowance), Parser(grammar(language))
    tree = parser.parse(reader.read, old) if old else parser.parse(reader.read)
    reader.finish()
    if reader.is_truncated:
        raise ParseBudgetExceeded(f"parsing takes more than {allowance.seconds * 1000:.0f} ms")
    if old is None or _is_reshaped(old, tree):
        check_shape(tree.root_node, budget)
    return tree


def _is_reshaped(old: Tree, new: Tree) -> bool:
    """Return whether the number of nodes differs so much that the shape must be checked again."""
    before, after = old.root_node.descendant_count, new.root_node.descendant_count
    return abs(after - before) * 20 > before


def check_shape(root: Node, budget: ParseBudget) -> None:
    """Check that queries over a tree are cheap.

    Raises:
        ParseBudgetExceeded: The tree has too many nodes, too many levels or too many children below one error node.
    """
    count = root.descendant_count
    if count > budget.max_nodes:
        raise ParseBudgetExceeded(f"the tree has more than {budget.max_nodes:,} nodes")
    if count < MIN_CHECKED_NODES:
        return
    if root.has_error and any(node.child_count > budget.max_error_children for node in _outermost_errors(root)):
        raise ParseBudgetExceeded(f"more than {budget.max_error_children:,} words in a row fit no rule of the grammar")
    if count > budget.max_depth and _estimate_depth(root, count) > budget.max_depth:
        raise ParseBudgetExceeded(f"the code is nested more than {budget.max_depth:,} levels deep")


def _outermost_errors(root: Node) -> list[Node]:
    """Return the outermost ERROR nodes of the first four levels, where the largest ones are."""
    errors, level = list[Node](), [root]
    for _ in range(4):
        if len(level) > MAX_LEVEL_NODES:
            break
        errors += (node for node in level if node.is_error)
        level = [child for node in level if node.has_error and not node.is_error for child in node.children]
    return errors


def _estimate_depth(root: Node, count: int) -> int:
    """Return the largest depth among a sample of the nodes."""
    cursor, deepest = root.walk(), 0
    for index in range(0, count, max(1, count // DEPTH_SAMPLES)):
        cursor.goto_descendant(index)
        deepest = max(deepest, cursor.depth)
    return deepest
