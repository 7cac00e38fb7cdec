"""Runs checks in order, from cheap to expensive, and combines their outcomes."""

from collections.abc import Sequence
from typing import Protocol

from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Outcome, Verdict


class Check(Protocol):
    """One question about a change. `name` is what events, messages and prompts call it."""

    name: str

    async def run(self, change: Change) -> Outcome:
        """Return the outcome. Never raise because of the text, only because of a bug."""
        ...


async def run_checks(change: Change, checks: Sequence[Check], *, thorough: bool = False) -> Verdict:
    """Run checks and return the verdict.

    Args:
        change: The proposed edit.
        checks: The checks, from cheap to expensive.
        thorough: Whether to run all checks. Otherwise the first failure ends the run.
    """
    outcomes: list[Outcome] = []
    for check in checks:
        outcome = await check.run(change)
        outcomes.append(outcome)
        if outcome.status == "failed" and not thorough:
            break
    return Verdict(change.after.hash, tuple(outcomes))
