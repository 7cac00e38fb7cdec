"""The ladder of the model: the rungs at which suspicious places are replaced, and the candidates of each rung."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import combinations
from time import monotonic
from typing import Literal, TypeVar

from lsp_harness.coding.candidates.candidate_generator import CandidateGenerator
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate
from lsp_harness.coding.candidates.sampling import (
    Candidate,
    CandidatePlan,
    CandidateRequest,
    Hole,
    build_fill,
    generate_candidates,
)
from lsp_harness.coding.ladder.suspicion import SuspiciousStatement
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secrets
from lsp_harness.inference.request import Usage
from lsp_harness.syntax.replaceable_code import find_expressions
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import indentation_of
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.checks import SuiteCheck


def find_insertion_lines(tree: SyntaxTree, statements: Sequence[SuspiciousStatement]) -> list[int]:
    """Return the offsets of the lines before which a statement may be missing, in the order of the statements."""
    document = tree.document
    offsets: dict[int, None] = {}
    for statement in statements:
        offsets.setdefault(document.line_starts[document.line_of(statement.span.start)])
    return list(offsets)


ItemT = TypeVar("ItemT")
HoleKind = Literal[
    "statement fill",
    "sampled statement",
    "expression fill",
    "insertion",
    "two fills",
    "rewrite",
]
WITHOUT_HOLES: frozenset[HoleKind] = frozenset({"two fills", "rewrite"})
"""The kinds for which the model fills no hole."""
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
    """

    hole: Span = NO_HOLE
    is_hinted: bool = False


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
        # first the most likely text of every hole, with and without a hint
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


MAX_FILL_TOKENS = 160
MAX_HINT_LINES = 8
MAX_HINT_CHARS = 160


@dataclass(slots=True)
class LadderSource:
    """Generates the candidates for each rung (see `CandidateSource`).

    Attributes:
        context: The document and the tools.
        tree: The syntax tree of the document.
        region: The function or the text that may contain the fault.
        notes: What the code should do and what its tests say, as lines. Prompts show them as a comment.
        failing_count: The number of tests that fail before any edit.
        rewriter: Writes the whole function again, or None if it is too long.
        results: The candidates that were checked. The driver adds to them.
        deadline_s: The time, by `monotonic`, after which nothing is generated any more.
    """

    context: TurnContext
    tree: SyntaxTree
    region: Span
    notes: Sequence[str]
    failing_count: int
    rewriter: CandidateGenerator | None
    results: Sequence[CheckedCandidate]
    deadline_s: float
    refusal: str = ""
    _described: tuple[Document, int] | None = field(default=None, init=False)

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        """Yield the candidates of a plan when they are complete."""
        assert isinstance(plan, HolePlan)
        if monotonic() > self.deadline_s:
            self.refusal = "the time for this repair is over"
            return
        if plan.kind == "two fills":
            for candidate in self._pair_fills(plan):
                yield candidate
            return
        if plan.kind == "rewrite":
            if self.rewriter:
                async with aclosing(self.rewriter.generate(plan, feedback, on_evaluated)) as rewrites:
                    async for candidate in rewrites:
                        yield candidate
                self.refusal = self.refusal or self.rewriter.refusal
            return
        try:
            request = await self._request_fill(plan)
            async with aclosing(generate_candidates(self.context.engine, plan, request, on_evaluated)) as candidates:
                async for candidate in candidates:
                    yield candidate
        except (EngineRefused, NoAnswer) as error:
            # another hole may be shorter, or the model can only rewrite
            self.refusal = error.message

    async def _request_fill(self, plan: HolePlan) -> CandidateRequest:
        """Return the request to fill a hole. Raises NoAnswer if the model's context has no room for it."""
        document, (start, end) = self.context.document, plan.hole
        described, shift = self._describe()
        is_insertion = start == end
        place, line_count = Span(start + shift, end + shift), document.data.count(b"\n", start, end) + 1
        indent = self._indent_of(start) if is_insertion else ""
        if is_insertion:
            hole = Hole(place, indent, document.newline)
        else:
            hole = Hole(place, self._write_hint(plan) if plan.is_hinted else "", line_count=line_count)
        context = replace(self.context, document=described)
        fill = await build_fill(context, "ladder fill", self.tree.language, hole, plan, MAX_FILL_TOKENS)
        comment = self.tree.language.comment

        def parse_edit(answer: str) -> Edit | None:
            text = fill.read(answer)
            if not text.strip() or (comment and text.strip().startswith(comment)):
                return None
            return Edit(start, end, encode(indent + text + document.newline if is_insertion else text))

        return CandidateRequest(fill.request, parse_edit)

    def _describe(self) -> tuple[Document, int]:
        """Return the document with the notes as a comment above the region, and the number of bytes that it adds."""
        if self._described is None:
            document, comment = self.context.document, self.tree.language.comment
            start = document.line_starts[document.line_of(self.region.start)]
            indent = self._indent_of(start)
            lines = [f"{indent}{comment} {line[:MAX_HINT_CHARS]}{document.newline}" for line in self.notes]
            text = encode("".join(lines[:MAX_HINT_LINES])) if comment else b""
            if find_secrets(text):
                text = b""
            data = document.data[:start] + text + document.data[start:]
            self._described = Document.from_text(document.uri, data, language=document.language), len(text)
        return self._described

    def _indent_of(self, offset: int) -> str:
        return indentation_of(decode(self.context.document.line(self.context.document.line_of(offset))))

    def _write_hint(self, plan: HolePlan) -> str:
        """Return comment lines that quote the old code as wrong. They are in the prompt, not in the edit."""
        comment = self.tree.language.comment
        if not comment:
            return ""
        start, end = plan.hole
        line_start = self.context.document.line_starts[self.context.document.line_of(start)]
        indent = self._indent_of(start)
        if self.context.document.data[line_start:start].strip():
            return ""
        old = " ".join(decode(self.context.document.data[start:end]).split())
        return f"{comment} wrong: {old}\n{indent}{comment} right:\n{indent}"

    def _pair_fills(self, plan: HolePlan) -> list[Candidate]:
        """Return pairs of fills of two holes that each made fewer tests fail, the most helpful first."""
        helpful = [
            (count, result)
            for result in self.results
            if (count := _count_failures(result)) is not None
            and count < self.failing_count
            and len(result.candidate.edits) == 1
        ]
        helpful.sort(key=lambda item: (item[0], item[1].candidate.number))
        pairs = sorted(combinations(helpful, 2), key=lambda pair: pair[0][0] + pair[1][0])
        edits = [
            (first.candidate.edits[0], second.candidate.edits[0])
            for (_, first), (_, second) in pairs
            if not _are_overlapping(first.candidate.edits[0], second.candidate.edits[0])
        ]
        return [Candidate(number, plan, pair, Usage()) for number, pair in zip(plan.numbers, edits, strict=False)]


def _count_failures(result: CheckedCandidate) -> int | None:
    """Return the number of tests that fail with a candidate, or None if no tests ran."""
    for outcome in result.verdict.outcomes:
        if outcome.check == SuiteCheck.name and outcome.status == "failed":
            # a finding without the name of a test says that the tests did not come to their end
            return outcome.count or len([finding for finding in outcome.findings if finding.code]) or None
    return None


def _are_overlapping(first: Edit, second: Edit) -> bool:
    return first.start <= second.end and second.start <= first.end
