"""The places of a text that may contain the fault, ranked by the tests that run them."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.replaceable_code import find_statement_spans
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span
from lsp_harness.verify.project_tests.suite_worker import TracedTest

MISSING_NAME = re.compile(r"\b(?:name|attribute|variable) '(\w+)'")
"""The name that an error of Python is about: "name 'Lista' is not defined"."""


@dataclass(frozen=True, slots=True)
class SuspiciousStatement:
    """A statement, or the header of a compound statement.

    Attributes:
        span: Its bytes.
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
