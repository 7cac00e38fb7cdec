"""Runs checks in order, from cheap to expensive, and combines their outcomes."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome, Verdict


async def run_check(check: Check, changes: ChangeSet) -> Outcome:
    """Run one check. Measure its time, unless it was skipped, and format its findings."""
    start = perf_counter()
    outcome = await check.judge(changes)
    lines = outcome.lines or tuple(check.format_finding(finding, changes.main.after) for finding in outcome.findings)
    ms = 0.0 if outcome.status == "skipped" else (perf_counter() - start) * 1000
    return replace(outcome, lines=lines, title=check.title, ms=ms)


async def run_checks(changes: ChangeSet, checks: Sequence[Check]) -> Verdict:
    """Run checks on a proposal and return the verdict. The first check that fails is the last one.

    Args:
        changes: The proposed edits.
        checks: The checks, from cheap to expensive.
    """
    outcomes: list[Outcome] = []
    for check in checks:
        outcome = await run_check(check, changes)
        outcomes.append(outcome)
        if outcome.status == "failed":
            break
    return Verdict(changes.hash, tuple(outcomes))
