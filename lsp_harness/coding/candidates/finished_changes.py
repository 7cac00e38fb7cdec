"""The end of a written edit, before its checks: what nothing uses is removed, and changed lines are formatted.

So what is checked is what is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.coding.candidates.unused_additions import remove_unused_additions
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.process.offload import offload
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.finding import Outcome

FORMAT_NOTE = "format"
"""The name of the outcome that says why the changed lines are not formatted."""


@dataclass(frozen=True, slots=True)
class FinishedChanges:
    """An edit as it is checked.

    Attributes:
        changes: The edit.
        notes: The outcomes that its verdict begins with.
    """

    changes: ChangeSet
    notes: Sequence[Outcome] = ()


async def finish_changes(context: TurnContext, changes: ChangeSet) -> FinishedChanges:
    """Return an edit without what it adds and nothing uses, with formatted lines.

    Args:
        context: The settings, the request and the tools.
        changes: The edit as it was written.
    """
    size = sum(len(change.after.data) for change in changes)
    changes = await offload(size, lambda: remove_unused_additions(changes, context.task))
    formatter = context.tools.format if context.config.generation.format else None
    if formatter is None:
        return FinishedChanges(changes)
    formatted = await formatter.format(changes)
    reason = "; ".join(formatted.refusals)
    notes = [Outcome(FORMAT_NOTE, "skipped", reason=reason)] if reason else []
    return FinishedChanges(formatted.changes, notes)
