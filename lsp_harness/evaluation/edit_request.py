"""The request of a task to the harness. This is the only place that knows which verb a task needs."""

from lsp_harness.evaluation.target_code import find_code_span, find_function_line
from lsp_harness.evaluation.task_workspace import OpenTask
from lsp_harness.session.results import Progress, Proposal
from lsp_harness.text.position import Span, decode


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
    run = await opened.run_visible_tests(task.source) if task.kind == "fix" else None
    if run and run.is_complete and run.digest.failed:
        start = snapshot.document.line_starts[find_function_line(task, run.digest) - 1]
        printed = decode(run.result.output)
        return (await harness.fixes.fix_reported(snapshot, Span(start, start), printed, _ignore)).proposal
    span = find_code_span(task, snapshot.document)
    return (await harness.edits.instruct(snapshot, span, task.text, _ignore)).proposal


def _ignore(progress: Progress) -> None:
    del progress
