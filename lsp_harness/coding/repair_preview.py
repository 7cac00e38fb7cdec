"""What a repair without a model would do, in a few milliseconds, so that the title of a quick fix can say it before it
is opened.

Only the parser judges here; all checks run when the fix is chosen.
"""

import asyncio
from collections.abc import Callable

from lsp_harness.coding.repair.missing_imports import load_library
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.repair_sources import find_repairs
from lsp_harness.coding.turn_driver import AMBIGUOUS_COST
from lsp_harness.syntax.syntax_errors import find_new_faults
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode
from lsp_harness.verify.change import Change
from lsp_harness.verify.check_runner import run_check
from lsp_harness.verify.preservation_check import PreservationCheck

ChangeOf = Callable[[tuple[Edit, ...]], Change]
"""Makes the change of the document that some edits are."""

PREVIEW_TIMEOUT_S = 0.2
"""An editor waits for its list of actions."""
MAX_PREVIEWS = 4
"""Repairs that are looked at for a title."""
TITLE_CHARS = 60


async def preview(request: RepairRequest, change_of: ChangeOf) -> str:
    """The repair that would be made, in words; empty where none is evident, or none is known in time."""
    # once per process: it would use up the time of the first preview
    await asyncio.to_thread(load_library, request.tree.language.id)
    try:
        async with asyncio.timeout(PREVIEW_TIMEOUT_S):
            found = await find_repairs(request, MAX_PREVIEWS)
    except TimeoutError:
        return ""
    cost = None
    titles: list[str] = []
    for repair in found:
        if cost is not None and repair.cost > cost + AMBIGUOUS_COST:
            break
        change = change_of(repair.edits)
        if (
            await asyncio.to_thread(_parses, change)
            and (await run_check(PreservationCheck(request.subject), change)).status == "passed"
        ):
            cost = repair.cost if cost is None else cost
            titles.append(_title(request.tree.data, repair.edits))
    return titles[0] if len(set(titles)) == 1 else ""


def _parses(change: Change) -> bool:
    before, after = change.tree_before, change.tree_after
    return before is not None and after is not None and not find_new_faults(before, after, change.edits)


def _title(data: bytes, edits: tuple[Edit, ...]) -> str:
    if len(edits) != 1:
        return f"{len(edits)} small changes"
    start, end, new = edits[0]
    old, text = _short(data[start:end]), _short(new)
    if old and text:
        return f"`{old}` → `{text}`"
    return f"add `{text}`" if text else f"remove `{old}`"


def _short(data: bytes) -> str:
    text = " ".join(decode(data).split())
    return text if len(text) <= TITLE_CHARS else f"{text[: TITLE_CHARS - 1]}…"
