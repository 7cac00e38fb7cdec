"""The statements of a text that may be wrong, by the lines that failing and passing tests ran."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.replaceable_code import find_statement_spans
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.project_tests.suite_worker import TracedTest

MISSING_NAME = re.compile(r"\b(?:name|attribute|variable) '(\w+)'")
"""The name that an error of Python is about: "name 'Lista' is not defined"."""
FAR_LINES = 1_000_000
"""The distance of a statement from a place that is not known."""
WORD = re.compile(r"[^\W\d]\w*")
USED_SHARE = 0.6
"""The suspicion of a definition, as a share of that of the statements that use it."""


@dataclass(frozen=True, slots=True)
class SuspiciousStatement:
    """A statement, or the header of a compound statement.

    Attributes:
        span: The byte range of the statement.
        suspicion: From 0 to 1: how closely running it goes with failing (Ochiai's coefficient).
        distance: The number of lines to the nearest line in which a failing test ended in this text.
    """

    span: Span
    suspicion: float
    distance: int = FAR_LINES


def find_statements(
    tree: SyntaxTree, region: Span, tests: Mapping[str, TracedTest], messages: Collection[str]
) -> list[SuspiciousStatement]:
    """Return the statements of a region that failing tests run, the most suspicious first.

    Of statements with equal suspicion, those come first that use a name which an error says is missing, then those
    that are closest to where a failing test ended. The others keep the order of the text. Without recorded lines, all
    statements are equally suspicious.

    Args:
        tree: The syntax tree of the text.
        region: The bytes in which the fault is looked for.
        tests: Name of each test → the lines that it ran.
        messages: The messages of the failures.
    """
    line_of = tree.document.line_of
    missing = {name for message in messages for name in MISSING_NAME.findall(message)}
    uses = [use.span for name in missing for use in find_occurrences(tree, name)]
    ends = {line for test in tests.values() if not test.is_passed for line in test.ends}
    found: list[SuspiciousStatement] = []
    for span in find_statement_spans(tree, region):
        lines = range(line_of(span.start) + 1, line_of(max(span.start, span.end - 1)) + 2)
        distance = min((_measure_distance(lines, end) for end in ends), default=FAR_LINES)
        found.append(SuspiciousStatement(span, max(_rate(line, tests) for line in lines), distance))

    def rank(statement: SuspiciousStatement) -> tuple[float, bool, int]:
        start, end = statement.span
        is_missing = any(start <= use.start < end for use in uses)
        return -statement.suspicion, not is_missing, statement.distance

    return sorted(found, key=rank)


def add_definitions(tree: SyntaxTree, statements: Sequence[SuspiciousStatement]) -> list[SuspiciousStatement]:
    """Return suspicious statements, with the statements that no test runs but that define what these use.

    The values of a module and of a class, and the headers of functions with their defaults, are run by the import.

    Args:
        tree: The syntax tree of the text.
        statements: All statements of the text, the most suspicious first.
    """
    suspicious = [statement for statement in statements if statement.suspicion > 0]
    words: dict[str, SuspiciousStatement] = {}
    for statement in suspicious:
        for word in WORD.findall(decode(tree.data[statement.span.start : statement.span.end])):
            words.setdefault(word, statement)
    starts = sorted(statement.span.start for statement in statements)
    by_start = {statement.span.start: statement for statement in suspicious}
    found: dict[Span, SuspiciousStatement] = {}
    for statement in statements:
        if statement.suspicion > 0:
            continue
        start = statement.span.start
        # a header without a run belongs to the statement after it
        following = next((other for other in starts if other > start), start)
        text = decode(tree.data[start : statement.span.end])
        first = WORD.search(text.partition("=")[0]) if "=" in text else None
        user = words.get(first[0]) if first else None
        if text.rstrip().endswith((":", "{")):
            user = by_start.get(following) or user
        if user:
            found[statement.span] = SuspiciousStatement(statement.span, user.suspicion * USED_SHARE, user.distance)
    joined = [*suspicious, *found.values()]
    return sorted(joined, key=lambda statement: -statement.suspicion)


def _measure_distance(lines: range, end: int) -> int:
    return 0 if end in lines else min(abs(lines.start - end), abs(lines.stop - 1 - end))


def _rate(line: int, tests: Mapping[str, TracedTest]) -> float:
    """Return Ochiai's coefficient of a line, counted from 1. It is 1 if nothing was recorded."""
    failed = [test for test in tests.values() if not test.is_passed]
    if not failed or not any(test.lines for test in tests.values()):
        return 1.0
    failing_runs = sum(line in test.lines for test in failed)
    passing_runs = sum(line in test.lines for test in tests.values() if test.is_passed)
    return failing_runs / math.sqrt(len(failed) * max(1, failing_runs + passing_runs))
