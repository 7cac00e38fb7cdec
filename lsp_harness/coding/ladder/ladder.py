"""The ladder: suspicious places of a text, the rungs at which they are replaced, and the candidates of each rung.

Operators, constants and truth values need no model (`<` for `>`, one too many, `and` for `or`): the tests judge each
change of them before a model has read its prompt.
"""

import math
import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
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
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.files.secrets import find_secrets
from lsp_harness.inference.request import Usage
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.replaceable_code import find_expressions, find_statement_spans
from lsp_harness.syntax.tokens import Token, read_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.code_lines import indentation_of
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.checks import SuiteCheck
from lsp_harness.verify.project_tests.suite_worker import TracedTest

MAX_STATEMENT_CHANGES = 16
"""Most changes of one statement."""
QUOTES = b"\"'`"
OTHER_FORMS: Mapping[str, tuple[str, ...]] = {
    "<": (">", "<=", ">="),
    ">": ("<", ">=", "<="),
    "<=": ("<", ">=", ">"),
    ">=": (">", "<=", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "===": ("!==",),
    "!==": ("===",),
    "and": ("or",),
    "or": ("and",),
    "&&": ("||",),
    "||": ("&&",),
    "not": ("",),
    "!": ("",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "//", "+"),
    "/": ("*", "//"),
    "//": ("/", "%", "*"),
    "%": ("//", "/"),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=", "+="),
    "/=": ("*=", "//="),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("&", "|"),
    "&=": ("|=", "^="),
    "|=": ("&=", "^="),
    "^=": ("&=", "|="),
    "<<": (">>",),
    ">>": ("<<",),
    "True": ("False",),
    "False": ("True",),
    "true": ("false",),
    "false": ("true",),
    "break": ("continue",),
    "continue": ("break",),
    "min": ("max",),
    "max": ("min",),
    "any": ("all",),
    "all": ("any",),
}
"""Text of a token → what may have been meant, the likeliest first. What does not parse fails the first check."""


def change_operators(tree: SyntaxTree, statements: Sequence[Span], limit: int) -> list[Edit]:
    """Return edits that each change one token of a statement.

    Args:
        tree: The syntax tree of the text.
        statements: The statements, the most suspicious first.
        limit: The largest number of edits to return.
    """
    edits: dict[Edit, None] = {}
    for statement in statements:
        edits |= dict.fromkeys([*_change_statement(tree, statement)][:MAX_STATEMENT_CHANGES])
    return [*edits][:limit]


def _change_statement(tree: SyntaxTree, statement: Span) -> Iterator[Edit]:
    """Yield the changes of one statement: first the likeliest of each token, then the next."""
    tokens = [
        token
        for token in read_tokens(tree, *statement)
        if token.start >= statement.start and token.end <= statement.end and token.kind != "comment"
    ]
    # `is not` and `not in` may be two tokens: without `not`, both are the other operator
    texts = [token.text for token in tokens]
    doubled = {
        tokens[index + (texts[index] == "not")].start
        for index in range(len(texts) - 1)
        if (texts[index], texts[index + 1]) in (("is", "not"), ("not", "in"))
    }
    forms = [(token, _find_forms(tree, token)) for token in tokens if token.start not in doubled]
    for rank in range(max((len(other) for _, other in forms), default=0)):
        for token, other in forms:
            if rank < len(other):
                end = token.end
                while not other[rank] and tree.data[end : end + 1] == b" ":
                    # a negation goes with the blank behind it
                    end += 1
                yield Edit(token.start, end, encode(other[rank]))


def _find_forms(tree: SyntaxTree, token: Token) -> tuple[str, ...]:
    if token.kind == "literal" and token.text.isdecimal():
        is_in_string = tree.data[token.start - 1 : token.start] in QUOTES if token.start else False
        number = int(token.text)
        is_plain = str(number) == token.text and not is_in_string
        return (str(number + 1), *([str(number - 1)] if number else [])) if is_plain else ()
    return OTHER_FORMS.get(token.text, ())


MISSING_NAME = re.compile(r"\b(?:name|attribute|variable) '(\w+)'")
"""The name that an error of Python is about: "name 'Lista' is not defined"."""


@dataclass(frozen=True, slots=True)
class SuspiciousStatement:
    """A statement, or the header of a compound statement.

    Attributes:
        span: The byte range of the statement.
        suspicion: From 0 to 1: how closely running it goes with failing (Ochiai's coefficient).
    """

    span: Span
    suspicion: float


def find_statements(
    tree: SyntaxTree, region: Span, tests: Mapping[str, TracedTest], messages: Collection[str]
) -> list[SuspiciousStatement]:
    """Return the statements of a region that failing tests run, the most suspicious first.

    Of statements with equal suspicion, those come first that use a name which an error says is missing. The others
    keep the order of the text. Without recorded lines, all statements are equally suspicious.

    Args:
        tree: The syntax tree of the text.
        region: The bytes in which the fault is looked for.
        tests: Name of each test → the lines that it ran.
        messages: The messages of the failures.
    """
    line_of = tree.document.line_of
    missing = {name for message in messages for name in MISSING_NAME.findall(message)}
    uses = [use.span for name in missing for use in find_occurrences(tree, name)]
    found = [
        SuspiciousStatement(span, _rate(line_of(span.start) + 1, tests)) for span in find_statement_spans(tree, region)
    ]

    def rank(statement: SuspiciousStatement) -> tuple[float, bool]:
        start, end = statement.span
        return -statement.suspicion, not any(start <= use.start < end for use in uses)

    return sorted(found, key=rank)


def _rate(line: int, tests: Mapping[str, TracedTest]) -> float:
    """Return Ochiai's coefficient of a line, counted from 1. It is 1 if nothing was recorded."""
    failed = [test for test in tests.values() if not test.is_passed]
    if not failed or not any(test.lines for test in tests.values()):
        return 1.0
    failing_runs = sum(line in test.lines for test in failed)
    passing_runs = sum(line in test.lines for test in tests.values() if test.is_passed)
    return failing_runs / math.sqrt(len(failed) * max(1, failing_runs + passing_runs))


def find_insertion_lines(tree: SyntaxTree, statements: Sequence[SuspiciousStatement]) -> list[int]:
    """Return the offsets of the lines before which a statement may be missing, in the order of the statements."""
    document = tree.document
    offsets: dict[int, None] = {}
    for statement in statements:
        offsets.setdefault(document.line_starts[document.line_of(statement.span.start)])
    return list(offsets)


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
        if plan.edits:
            for number, edit in zip(plan.numbers, plan.edits, strict=True):
                yield Candidate(number, plan, (edit,), Usage())
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
