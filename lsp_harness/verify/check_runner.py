"""Runs checks in order, from cheap to expensive, and combines their outcomes."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome, Verdict


async def run_check(check: Check, change: Change) -> Outcome:
    """Run one check, or skip it with its reason. Measure its time and format its findings."""
    # other requests are answered while a long text is parsed
    reason = await offload(len(change.after.data), lambda: check.skip_reason(change))
    if reason is not None:
        return Outcome(check.name, "skipped", reason=reason)
    start = perf_counter()
    outcome = await check.run(change)
    lines = tuple(check.format_finding(finding, change.after) for finding in outcome.findings)
    return replace(outcome, lines=lines, ms=(perf_counter() - start) * 1000)


async def run_checks(change: Change, checks: Sequence[Check], *, thorough: bool = False) -> Verdict:
    """Run checks and return the verdict.

    Args:
        change: The proposed edit.
        checks: The checks, from cheap to expensive.
        thorough: Whether to run all checks. Otherwise the first failure ends the run.
    """
    outcomes: list[Outcome] = []
    for check in checks:
        outcome = await run_check(check, change)
        outcomes.append(outcome)
        if outcome.status == "failed" and not thorough:
            break
    return Verdict(change.after.hash, tuple(outcomes))
