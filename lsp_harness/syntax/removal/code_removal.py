"""A proposed removal of unused code, and helpers for the modules that make one."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.text.edit import Edit

STATEMENT_COST = 0.1
"""The cost of the removal of a statement."""
NAME_COST = 0.15
"""The cost of the removal of one of several names."""
KEEP_VALUE_COST = 0.2
"""The cost of the removal of a variable whose value stays as a statement."""
PREFIX_COST = 0.9
"""The cost of an underscore before a name, which keeps the name."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Edits that remove unused code.

    A removal with a lower cost is preferred.
    """

    edits: tuple[Edit, ...]
    cost: float


def descendants(node: Node, excluded_types: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Yield the named nodes below a node, without those of the excluded types and the nodes below these."""
    stack = [*node.named_children]
    while stack:
        child = stack.pop()
        if child.type in excluded_types:
            continue
        yield child
        stack += child.named_children
