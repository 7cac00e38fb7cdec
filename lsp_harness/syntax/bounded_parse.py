"""A parse that ends when the time for it is used up, and trees on which nothing takes long.

tree-sitter can need minutes for a few kilobytes, holds the GIL meanwhile, and py-tree-sitter 0.26 has no way to end a parse: its
`progress_callback` crashes the process. But a parser that is given its text by a function asks that function for each piece, so the
function can end the text early: the parser then finishes what it has, and the tree, which is that of another text, is thrown away.
"""

import re
from collections.abc import Mapping

from tree_sitter import Node, Parser, Point, Tree

from lsp_harness.syntax.languages import Language, grammar
from lsp_harness.syntax.parse_budget import BUDGET, LARGEST_TEXT, Allowance, Budget, TooCostly

SMALLEST_PIECE, LARGEST_PIECE = 64, 4096
"""Bytes that the parser is given at a time."""
QUICK_S = 0.0003
"""A piece that is parsed within it is followed by a larger one, else by a smaller one."""
LAST_READS = 200
"""How often a parser may read on after its text was ended. One that reads more goes in circles; to end the text there helps most."""
CHECKED_NODES = 1_000
"""A tree with fewer nodes is cheap whatever its shape is."""
MANY = 5_000
"""Nodes beside each other that are not looked at one by one."""
SAMPLES = 200
"""Nodes of a tree that are looked at to find out how deep it is."""

YAML_NESTING = rb"(?m)^[ \t?:-]{200}"
FATAL: Mapping[str, re.Pattern[bytes]] = {"yaml": re.compile(YAML_NESTING)}
"""Texts that crash a parser, and the process with it, by language: the scanner of YAML writes more than 253 levels of blocks behind the
end of its memory. A level is at least one column further in."""


class _Source:
    """Gives a parser its text in pieces, and an early end when the allowance is spent."""

    def __init__(self, data: bytes, allowance: Allowance) -> None:
        self.cut = False
        self._data, self._allowance = data, allowance
        self._end, self._given = len(data), 0
        self._piece, self._last = SMALLEST_PIECE, allowance.clock()
        self._left = LAST_READS
        self._parsed = False

    def read(self, offset: int, _: Point) -> bytes:
        if self._parsed:
            # `Node.text`, which predicates of queries read, asks until it has all, and would ask for ever if there were nothing
            return self._data[offset : offset + SMALLEST_PIECE] or b"\0"
        if self.cut:
            self._left -= 1
            if self._left < 0:
                self._end = min(self._end, offset)
        elif self._allowance.spent:
            # What was given stays: a parser that reads a place again and finds another text there crashes.
            self.cut, self._end = True, self._given
        else:
            now = self._allowance.clock()
            quick, self._last = now - self._last < QUICK_S, now
            self._piece = min(2 * self._piece, LARGEST_PIECE) if quick else max(self._piece // 2, SMALLEST_PIECE)
        piece = self._data[offset : min(offset + self._piece, self._end)]
        self._given = max(self._given, offset + len(piece))
        return piece

    def end(self) -> None:
        """From now on only texts of nodes are read."""
        self._parsed = True


def refusal(language: Language, data: bytes) -> str:
    """Why a text is not parsed at all; empty where it is."""
    if len(data) > LARGEST_TEXT:
        return f"it is larger than {LARGEST_TEXT // 1000} kB"
    if b"\0" in data:
        # several parsers take it for the end of the text, and never get there
        return "it is not a text"
    if (fatal := FATAL.get(language.id)) and fatal.search(data):
        return f"it is nested too deeply for the parser of {language.id}"
    return ""


def parsed(
    language: Language, data: bytes, allowance: Allowance, old: Tree | None = None, budget: Budget = BUDGET
) -> Tree:
    """The tree of a text. `old` is that of the text before, with its nodes moved. Raises TooCostly."""
    if why := refusal(language, data):
        raise TooCostly(why)
    allowance.check()
    source, parser = _Source(data, allowance), Parser(grammar(language))
    tree = parser.parse(source.read, old) if old else parser.parse(source.read)
    source.end()
    if source.cut:
        raise TooCostly(f"parsing takes more than {allowance.seconds * 1000:.0f} ms")
    if old is None or _differs(old, tree):
        check_shape(tree.root_node, budget)
    return tree


def _differs(old: Tree, new: Tree) -> bool:
    """Whether the shape of a tree may be quite another one."""
    before, after = old.root_node.descendant_count, new.root_node.descendant_count
    return abs(after - before) * 20 > before


def check_shape(root: Node, budget: Budget) -> None:
    """Raises TooCostly for a tree on which queries take long."""
    count = root.descendant_count
    if count > budget.nodes:
        raise TooCostly(f"its tree has more than {budget.nodes:,} nodes")
    if count < CHECKED_NODES:
        return
    if root.has_error and any(node.child_count > budget.width for node in _given_up(root)):
        raise TooCostly(f"more than {budget.width:,} words in a row fit no rule of the grammar")
    if count > budget.depth and _depth(root, count) > budget.depth:
        raise TooCostly(f"it is nested more than {budget.depth:,} levels deep")


def _given_up(root: Node) -> list[Node]:
    """The outermost nodes that the grammar gave up on, the largest of those near the top."""
    found, level = list[Node](), [root]
    for _ in range(4):
        if len(level) > MANY:
            break
        found += (node for node in level if node.is_error)
        level = [child for node in level if node.has_error and not node.is_error for child in node.children]
    return found


def _depth(root: Node, count: int) -> int:
    """About how deep a tree is: that of some of its nodes."""
    cursor, deepest = root.walk(), 0
    for at in range(0, count, max(1, count // SAMPLES)):
        cursor.goto_descendant(at)
        deepest = max(deepest, cursor.depth)
    return deepest
