"""Repairs of syntax errors: the one token that is missing, one too many, or written for another one."""

import asyncio
from collections.abc import Mapping

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.recovery.recovery import Recovery, TrialLimits, find_recoveries

LIMIT = 6
"""How many repairs of one finding are given at most: the rest is less likely than what a model writes."""
KINDS: Mapping[str, str] = {"insert": "missing token", "delete": "extra token", "replace": "wrong token"}
"""What a user reads, by what the edit does."""


async def missing_tokens(request: RepairRequest, limits: TrialLimits | None = None) -> list[Repair]:
    """Repairs of a syntax error that change one token, the likeliest first."""
    subject = request.subject
    if subject.kind != "syntax":
        return []
    # trials take milliseconds, but a few hundred of them are long enough to be felt by other requests
    found = await asyncio.to_thread(find_recoveries, request.tree, subject.span.start, subject.span.end, limits)
    return [Repair(_kind(one), (one.edit,), one.cost) for one in found[:LIMIT]]


def _kind(recovery: Recovery) -> str:
    return "indentation" if recovery.token == "indentation" else KINDS[recovery.action]
