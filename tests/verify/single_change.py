"""One check of the change of one document."""

from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.check import Check
from lsp_harness.verify.check_runner import run_check
from lsp_harness.verify.finding import Outcome


async def check_change(check: Check, change: Change) -> Outcome:
    """Return the outcome of one check for one change."""
    return await run_check(check, ChangeSet.of(change))
