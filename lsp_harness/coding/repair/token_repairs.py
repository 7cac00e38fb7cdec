"""Repairs of syntax errors that insert, delete or replace one token."""

import asyncio
from collections.abc import Mapping

from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.syntax.recovery.recovery import Recovery, TrialLimits, find_recoveries

MAX_REPAIRS = 6
"""Maximum number of repairs of one finding. Further ones are less likely to be correct than the text of a model."""
KINDS: Mapping[str, str] = {"insert": "missing token", "delete": "extra token", "replace": "wrong token"}
"""The kind that the user reads, by the action of the edit."""


async def repair_tokens(request: RepairRequest, limits: TrialLimits | None = None) -> list[Repair]:
    """Return repairs of a syntax error that change one token, the most likely first.

    Args:
        request: The finding and its text.
        limits: Limits of the trials. None uses the default limits.
    """
    subject = request.subject
    if subject.kind != "syntax":
        return []
    # One trial takes milliseconds, but some hundred trials would delay other requests.
    recoveries = await asyncio.to_thread(find_recoveries, request.tree, subject.span.start, subject.span.end, limits)
    return [Repair(_kind(recovery), (recovery.edit,), recovery.cost) for recovery in recoveries[:MAX_REPAIRS]]


def _kind(recovery: Recovery) -> str:
    return "indentation" if recovery.token == "indentation" else KINDS[recovery.action]
