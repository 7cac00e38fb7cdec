"""Predicts the repair without a model in a few milliseconds, for the title of a quick fix.

Only the parser and the check of preserved code run here. All checks run when the user chooses the fix.
"""

import asyncio
from collections.abc import Callable

from lsp_harness.coding.repair.missing_imports import load_library
from lsp_harness.coding.repair.repair import RepairRequest
from lsp_harness.coding.repair.repair_sources import find_repairs
from lsp_harness.coding.turn_driver import AMBIGUOUS_COST
from lsp_harness.syntax.syntax_errors import find_new_faults
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import run_check
from lsp_harness.verify.preservation.preservation_check import PreservationCheck

CreateChange = Callable[[tuple[Edit, ...]], Change]
"""Returns the change of the document that edits make."""

PREVIEW_TIMEOUT_S = 0.2
"""The editor waits so long for its list of actions."""
MAX_PREVIEWS = 4
"""Most repairs that are checked for a title."""
MAX_TITLE_CHARS = 60


async def preview_repair(request: RepairRequest, create_change: CreateChange) -> str:
    """Return the repair in words, or an empty text if none is evident or the time is over.

    Args:
        request: The finding and the text.
        create_change: Returns the change of the document that edits make.
    """
    # the library is loaded once per process, and would use up the time of the first preview
    await asyncio.to_thread(load_library, request.tree.language)
    try:
        async with asyncio.timeout(PREVIEW_TIMEOUT_S):
            repairs = await find_repairs(request, MAX_PREVIEWS)
    except TimeoutError:
        return ""
    lowest_cost = None
    titles: list[str] = []
    for repair in repairs:
        if lowest_cost is not None and repair.cost > lowest_cost + AMBIGUOUS_COST:
            break
        change = create_change(repair.edits)
        if (
            await asyncio.to_thread(_does_parse, change)
            and (await run_check(PreservationCheck(request.subject), ChangeSet.of(change))).status == "passed"
        ):
            lowest_cost = repair.cost if lowest_cost is None else lowest_cost
            titles.append(_make_title(request.tree.data, repair.edits))
    return titles[0] if len(set(titles)) == 1 else ""


def _does_parse(change: Change) -> bool:
    before, after = change.tree_before, change.tree_after
    return before is not None and after is not None and not find_new_faults(before, after, change.edits)


def _make_title(data: bytes, edits: tuple[Edit, ...]) -> str:
    if len(edits) != 1:
        return f"{len(edits)} small changes"
    start, end, new = edits[0]
    old, text = _shorten(data[start:end]), _shorten(new)
    if old and text:
        return f"`{old}` → `{text}`"
    return f"add `{text}`" if text else f"remove `{old}`"


def _shorten(data: bytes) -> str:
    text = " ".join(decode(data).split())
    return text if len(text) <= MAX_TITLE_CHARS else f"{text[: MAX_TITLE_CHARS - 1]}…"
