"""What a removal of unused code is, for the files that find one."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.text.edit import Edit

STATEMENT_COST, NAME_COST, KEEP_VALUE_COST, PREFIX_COST = 0.1, 0.15, 0.2, 0.9
"""What a removal costs: of a statement, of one of several names, of all but a value, of no more than the use of a name."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Edits that take away what is not used, the cheaper the surer."""

    edits: tuple[Edit, ...]
    cost: float


def descendants(node: Node, without: frozenset[str] = frozenset()) -> Iterator[Node]:
    waiting = [*node.named_children]
    while waiting:
        one = waiting.pop()
        if one.type in without:
            continue
        yield one
        waiting += one.named_children
