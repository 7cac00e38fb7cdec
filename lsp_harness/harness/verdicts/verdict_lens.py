"""The line above a changed function that says which checks its last accepted or saved edit passed."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_harness.text.wording import format_count
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.wire.verdict_words import STATUS_MARKS

if TYPE_CHECKING:
    from lsp_harness.syntax.tree import SyntaxTree

TEST_COUNT = re.compile(r"[\d,]+ tests?\b")
"""The number of tests in the remark of the check that ran them."""


@dataclass(frozen=True, slots=True)
class VerdictLens:
    """A verdict as one line at a place of a text.

    Attributes:
        offset: The first byte of the changed function, or of the change if it lies in no function.
        title: The verdict, such as "verified ✓ 3 checks, 12 tests".
        verdict: The name of the document that lists the checks.
    """

    offset: int
    title: str
    verdict: str


def create_lens(published: PublishedFindings, tree: "SyntaxTree | None") -> VerdictLens | None:
    """Return the lens of a complete verdict, or None while checks run."""
    from lsp_harness.syntax.scope import enclosing_function

    if not published.is_complete or published.accepted is None:
        return None
    function = enclosing_function(tree, published.accepted.start) if tree else None
    offset = function.start if function else published.accepted.start
    return VerdictLens(offset, describe_verdict(published), published.verdict)


def describe_verdict(published: PublishedFindings) -> str:
    """Return a verdict in a few words. A check that did not run is never counted as passed.

    Without tests that ran the change, it is not called verified: "form ✓, behaviour not checked".
    """
    text = _describe_outcomes(published)
    return f"{text}; {published.outdated_by} has changed since" if published.outdated_by else text


def _describe_outcomes(published: PublishedFindings) -> str:
    outcomes, verdict = published.outcomes, Verdict("", tuple(published.outcomes))
    waiting = [outcome for outcome in outcomes if outcome.is_temporary]
    if waiting and verdict.kind != "failed":
        # these checks run as soon as they can, and until then nobody knows
        return f"not verified yet {STATUS_MARKS['skipped']} {waiting[0].title or waiting[0].check}: {waiting[0].reason}"
    if not verdict.is_verified:
        return f"verification {verdict.words}" if verdict.kind == "failed" else verdict.words
    passed = [outcome for outcome in outcomes if outcome.status == "passed"]
    counts = ((outcome, TEST_COUNT.match(outcome.reason)) for outcome in passed)
    tests = [match[0] + (f" in {outcome.extent}" if outcome.extent else "") for outcome, match in counts if match]
    return ", ".join([f"{verdict.words} {format_count(len(passed), 'check')}", *tests])
