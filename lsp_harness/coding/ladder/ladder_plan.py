"""The rungs of the ladder: what is replaced, by how many candidates, and in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from lsp_harness.coding.candidates.sampling import CandidatePlan
from lsp_harness.coding.ladder.operator_changes import change_operators
from lsp_harness.coding.ladder.suspicious_code import SuspiciousStatement, find_insertion_lines
from lsp_harness.syntax.replaceable_code import find_expressions
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span

ItemT = TypeVar("ItemT")
HoleKind = Literal[
    "other operator",
    "statement fill",
    "sampled statement",
    "expression fill",
    "insertion",
    "two fills",
    "rewrite",
]
WITHOUT_HOLES: frozenset[HoleKind] = frozenset({"other operator", "two fills", "rewrite"})
"""The kinds for which the model fills no hole."""
MAX_OPERATORS = 96
OPERATOR_GROUP_SIZE = 12
"""Changed operators of one round."""
MAX_STATEMENTS = 24
MAX_EXPRESSION_STATEMENTS = 12
MAX_INSERTIONS = 12
MAX_PAIRS = 24
NO_HOLE = Span(0, 0)
GROUP_SIZE = 4
"""Holes whose candidates are generated in one batch."""
SAMPLE_TEMPERATURE = 0.8
FIRST_SAMPLE_SEED = 1


@dataclass(frozen=True, slots=True)
class HolePlan(CandidatePlan):
    """Candidates for one hole.

    Attributes:
        hole: The bytes that are replaced. It is empty for an insertion.
        is_hinted: Whether the prompt quotes the old code as wrong.
        edits: What the candidates change, if no model writes them.
    """

    hole: Span = NO_HOLE
    is_hinted: bool = False
    edits: tuple[Edit, ...] = ()


@dataclass(slots=True)
class LadderPlan:
    """Plans the rounds of the ladder. Numbers of candidates go on from round to round.

    Attributes:
        tree: The syntax tree of the text.
        statements: The statements to suspect, the most suspicious first.
        samples: The number of samples of each hole.
        rewrites: The number of rewrites of the function at the end.
        rewrite_temperature: The temperature of all rewrites but the first.
        next_number: The number of the next candidate.
    """

    tree: SyntaxTree
    statements: Sequence[SuspiciousStatement]
    samples: int
    rewrites: int
    rewrite_temperature: float
    next_number: int = 1

    def rounds(self) -> Iterator[list[HolePlan]]:
        """Yield the rounds, the cheapest first."""
        statements = [statement.span for statement in self.statements[:MAX_STATEMENTS]]
        # what needs no model costs least
        for edits in _split(change_operators(self.tree, statements, MAX_OPERATORS), OPERATOR_GROUP_SIZE):
            yield [replace(self._plan("other operator", NO_HOLE, len(edits), 0.0), edits=tuple(edits))]
        # then the most likely text of every hole, with and without a hint
        for group in _split(statements, GROUP_SIZE):
            yield [
                self._plan("statement fill", span, 1, 0.0, is_hinted=is_hinted)
                for span in group
                for is_hinted in (False, True)
            ]
        half = max(1, self.samples // 2)
        for span in statements:
            yield [
                self._plan("sampled statement", span, max(1, self.samples - half), SAMPLE_TEMPERATURE),
                self._plan("sampled statement", span, half, SAMPLE_TEMPERATURE, is_hinted=True),
            ]
        for span in statements[:MAX_EXPRESSION_STATEMENTS]:
            if expressions := find_expressions(self.tree, span):
                yield [self._plan("expression fill", hole, 4, SAMPLE_TEMPERATURE) for hole in expressions]
        insertions = find_insertion_lines(self.tree, self.statements[:MAX_INSERTIONS])
        for group in _split(insertions, GROUP_SIZE):
            yield [self._plan("insertion", Span(offset, offset), 4, SAMPLE_TEMPERATURE) for offset in group]
        yield [self._plan("two fills", NO_HOLE, MAX_PAIRS, 0.0)]
        for number in range(self.rewrites):
            yield [self._plan("rewrite", NO_HOLE, 1, self.rewrite_temperature if number else 0.0)]

    def _plan(self, kind: HoleKind, hole: Span, count: int, temperature: float, *, is_hinted: bool = False) -> HolePlan:
        numbers = tuple(range(self.next_number, self.next_number + count))
        self.next_number += count
        return HolePlan(kind, temperature, FIRST_SAMPLE_SEED + numbers[0], numbers, hole, is_hinted)


def _split(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
