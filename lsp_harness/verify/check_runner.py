"""Runs checks in order, from cheap to expensive, and combines their outcomes."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from lsp_harness.process.offload import offload
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome, Status, Verdict


async def run_check(check: Check, change: Change) -> Outcome:
    """Run one check, or skip it with its reason. Measure its time and format its findings."""
    # other requests are answered while a long text is parsed
    reason = await offload(len(change.after.data), lambda: check.skip_reason(change))
    if reason is not None:
        return Outcome(check.name, "skipped", reason=reason, title=check.title)
    start = perf_counter()
    outcome = await check.run(change)
    lines = tuple(check.format_finding(finding, change.after) for finding in outcome.findings)
    return replace(outcome, lines=lines, title=check.title, ms=(perf_counter() - start) * 1000)


async def run_checks(changes: ChangeSet, checks: Sequence[Check]) -> Verdict:
    """Run checks on all changes and return the verdict. The first check that fails is the last one.

    Args:
        changes: The proposed edits. A check that is about a finding reads only the main change.
        checks: The checks, from cheap to expensive.
    """
    outcomes: list[Outcome] = []
    for check in checks:
        targets = [changes.main] if check.is_about_finding else changes.changes
        outcome = _combine(changes, [await run_check(check, change) for change in targets])
        outcomes.append(outcome)
        if outcome.status == "failed":
            break
    return Verdict(changes.hash, tuple(outcomes))


def _combine(changes: ChangeSet, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of one check for all documents. Its `findings` are those of the main document.

    The lines of the other documents begin with their path. The check passed if it passed for one document and failed
    for none.
    """
    main = outcomes[0]
    if len(outcomes) == 1:
        return main
    statuses = {outcome.status for outcome in outcomes}
    status: Status = "failed" if "failed" in statuses else "passed" if "passed" in statuses else "skipped"
    lines = list(main.lines)
    for change, outcome in zip(changes.changes[1:], outcomes[1:], strict=True):
        lines += [f"{change.file.name}: {line}" for line in outcome.lines]
    reasons = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    ms = sum(outcome.ms for outcome in outcomes)
    return replace(main, status=status, reason=reasons, ms=ms, lines=tuple(lines))
