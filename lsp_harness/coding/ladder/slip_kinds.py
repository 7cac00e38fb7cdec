"""The table of the kinds of slips, and the edits that undo one of them in suspicious statements."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.coding.ladder.suspicion import SuspiciousStatement
from lsp_harness.syntax.slips.code_parts import FileVocabulary, SlipPlace
from lsp_harness.syntax.slips.form_slips import add_return, move_statement, negate, shift_by_one, swap_parts
from lsp_harness.syntax.slips.name_slips import add_calls, change_constants, change_names, drop_parts
from lsp_harness.syntax.slips.token_slips import change_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit

Finder = Callable[[SlipPlace], Iterator[tuple[float, tuple[Edit, ...]]]]
"""Yields edits that undo a slip in a statement, each with how unlikely it is among those of its kind, from 0."""


@dataclass(frozen=True, slots=True)
class SlipKind:
    """A kind of slip.

    Attributes:
        name: The name, as a user reads it.
        cost: How unlikely it is, from 0.
        find: Finds the edits that undo it.
    """

    name: str
    cost: float
    find: Finder


SLIP_KINDS = (
    SlipKind("other operator", 0.0, change_tokens),
    SlipKind("one more or less", 0.7, shift_by_one),
    SlipKind("other negation", 0.7, negate),
    SlipKind("other order", 1.0, swap_parts),
    SlipKind("other name", 0.9, change_names),
    SlipKind("other constant", 1.0, change_constants),
    SlipKind("missing return", 0.7, add_return),
    SlipKind("one part less", 1.5, drop_parts),
    SlipKind("missing call", 1.5, add_calls),
    SlipKind("other place", 1.5, move_statement),
)
"""All kinds. A new one is a function and a row."""
SLIP_NAMES = frozenset(kind.name for kind in SLIP_KINDS)
RANK_STEP, FORM_STEP, SUSPICION_COST = 0.6, 0.4, 2.0
"""The costs of a repair: of a statement with twice as many before it, of a form with another one before it, and of a
statement that is not suspicious at all."""


@dataclass(frozen=True, slots=True)
class SlipRepair:
    """An edit that undoes a slip.

    Attributes:
        kind: The name of the kind.
        edits: The edits.
        cost: How unlikely it is. It grows with the number of more suspicious statements.
    """

    kind: str
    edits: tuple[Edit, ...]
    cost: float


def find_slip_repairs(tree: SyntaxTree, statements: Sequence[SuspiciousStatement], limit: int) -> list[SlipRepair]:
    """Return the edits that undo one slip each, the likeliest first.

    Args:
        tree: The syntax tree of the text.
        statements: The statements, the most suspicious first.
        limit: The largest number of edits to return.
    """
    vocabulary = FileVocabulary.read(tree)
    found: dict[tuple[Edit, ...], SlipRepair] = {}
    highest = max((statement.suspicion for statement in statements), default=0.0)
    for number, statement in enumerate(statements):
        place = SlipPlace(tree, statement.span, vocabulary)
        base = RANK_STEP * math.log2(number + 1) + SUSPICION_COST * (highest - statement.suspicion)
        for kind in SLIP_KINDS:
            for rank, edits in kind.find(place):
                cost = base + kind.cost + FORM_STEP * rank
                if edits and (edits not in found or cost < found[edits].cost):
                    found[edits] = SlipRepair(kind.name, edits, cost)
    return sorted(found.values(), key=lambda repair: repair.cost)[:limit]
