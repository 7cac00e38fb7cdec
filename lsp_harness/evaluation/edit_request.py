"""The request of a task to the harness. This is the only place that knows which verb a task needs."""

from lsp_harness.evaluation.target_code import find_code_span
from lsp_harness.evaluation.task_workspace import OpenTask
from lsp_harness.session.results import Progress, Proposal


async def request_edit(opened: OpenTask) -> Proposal:
    """Ask the harness for the edit that the task wants.

    Raises:
        NoAnswer: No candidate passed its checks.
        HarnessError: The harness failed.
    """
    task, harness, snapshot = opened.task, opened.harness, opened.snapshot
    if task.finding:
        offers = await harness.fixes.offer(snapshot, [task.finding.locate(snapshot.document)])
        return await harness.fixes.fix_first(snapshot, offers, _ignore)
    if task.kind == "fix" and task.tests:
        return (await harness.fixes.repair_tests(snapshot, _ignore, task=task.text)).proposal
    span = find_code_span(task, snapshot.document)
    return (await harness.edits.instruct(snapshot, span, task.text, _ignore)).proposal


def _ignore(progress: Progress) -> None:
    del progress
