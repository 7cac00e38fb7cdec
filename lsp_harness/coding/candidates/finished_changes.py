"""The end of a written edit, before its checks: what nothing uses is removed, and changed lines are formatted.

So what is checked is what is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsp_harness.coding.candidates.unused_additions import remove_unused_additions
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.process.offload import offload
from lsp_harness.syntax.symbols.import_block import find_import_statements
from lsp_harness.text.edit import apply
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.checks import is_python
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.ruff_linter import RuffFailed

UNSORTED = "I001"
"""The rule of ruff about the order of imports."""
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


async def finish_changes(context: TurnContext, changes: ChangeSet, *, is_by_model: bool = True) -> FinishedChanges:
    """Return an edit without what it adds and nothing uses, with formatted lines and sorted imports.

    Args:
        context: The settings, the request and the tools.
        changes: The edit as it was written.
        is_by_model: Whether a model wrote the edit. The edits of a rename add nothing, and style is no reason to
            refuse the name that the user wants.
    """
    if is_by_model:
        size = sum(len(change.after.data) for change in changes)
        changes = await offload(size, lambda: remove_unused_additions(changes, context.task))
    else:
        changes = ChangeSet(tuple(replace(change, author="repair") for change in changes))
    if not context.config.generation.format:
        return FinishedChanges(changes)
    changes = ChangeSet(tuple([await _sort_imports(context, change) for change in changes]))
    formatter = context.tools.format
    if formatter is None:
        return FinishedChanges(changes)
    formatted = await formatter.format(changes)
    reason = "; ".join(formatted.refusals)
    notes = [Outcome(FORMAT_NOTE, "skipped", reason=reason)] if reason else []
    return FinishedChanges(formatted.changes, notes)


async def _sort_imports(context: TurnContext, change: Change) -> Change:
    """Return a change with sorted imports, if it touches an import of a file in which the project keeps them sorted."""
    ruff, tree = context.tools.ruff, change.tree_after
    if tree is None or not is_python(change.after, change.file) or ruff.missing_reason:
        return change
    imports = [statement.span for statement in find_import_statements(tree)]
    if not any(_touches(change.new_span, span) for span in imports):
        return change
    try:
        before = await ruff.find_findings(change.before, change.file, change.root)
        after = await ruff.check(change.after, change.file, change.root)
    except RuffFailed:
        # the check of the linter says why
        return change
    if any(finding.code == UNSORTED for finding in before):
        return change
    fixes = [edit for report in after if report.finding.code == UNSORTED and report.is_safe for edit in report.fix]
    return change.with_after(apply(change.after.data, fixes)) if fixes else change


def _touches(span: Span, other: Span) -> bool:
    return span.start < other.end and other.start < span.end
