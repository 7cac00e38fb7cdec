"""Checks in order, cheap before dear, into one verdict."""

from collections.abc import Sequence
from typing import Protocol

from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Outcome, Verdict


class Check(Protocol):
    """One question about a change. It never raises for what the text says, only for what is broken in itself."""

    name: str

    async def run(self, change: Change) -> Outcome: ...


async def run_checks(change: Change, checks: Sequence[Check], *, thorough: bool = False) -> Verdict:
    """Run the checks; the first failure ends it unless `thorough`."""
    outcomes: list[Outcome] = []
    for check in checks:
        outcome = await check.run(change)
        outcomes.append(outcome)
        if outcome.status == "failed" and not thorough:
            break
    return Verdict(change.after.hash, tuple(outcomes))
