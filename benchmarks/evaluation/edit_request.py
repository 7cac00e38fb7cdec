"""The request of a task to the harness. This is the only place that knows which verb a task needs."""

from benchmarks.evaluation.target_code import find_code_span
from benchmarks.evaluation.task_workspace import OpenTask
from lsp_harness.coding.turn.code_driver import CodeDriver
from lsp_harness.errors import NoAnswer
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.code_progress import CodeProgress
from lsp_harness.kernel.projections.summary import Summary
from lsp_harness.kernel.results import Progress, Proposal
from lsp_harness.sessions.code_turn import CodeResult, CodeTurn, PromptWork


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
    if task.kind == "prompt":
        return await _send_prompt(opened)
    span = find_code_span(task, snapshot.document)
    return (await harness.edits.instruct(snapshot, span, task.text, _ignore)).proposal


async def _send_prompt(opened: OpenTask) -> Proposal:
    """Give the text of the task to the code driver, without a place.

    Raises:
        NoAnswer: The driver answered in words.
    """
    harness, text = opened.harness, opened.task.text

    async def run(turn: Turn) -> CodeResult:
        work = PromptWork(text, Summary(), CodeProgress())
        return await CodeTurn(harness.services, harness.turns, harness.tasks, turn, work, _refuse_undo).run()

    driver = CodeDriver(run, lambda result: result.text)
    await harness.services.session.submit(Ingress("message", text), driver)
    if driver.result.proposal is None:
        raise NoAnswer(driver.result.text)
    return driver.result.proposal


async def _refuse_undo() -> str:
    raise NoAnswer("a task of an evaluation has no earlier edit")


def _ignore(progress: Progress) -> None:
    del progress
