"""A diagnostic → a verified edit: UNDERSTAND, LOCATE, GENERATE, VERIFY, COMPLETE.

Repairs that need no model come first: they take milliseconds and change one token. The model is asked when none of them
passes the checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.coding.candidate_generator import Generator, plans
from lsp_harness.coding.finding_location import Place, locate
from lsp_harness.coding.repair.linter_fixes import find_linter_repairs
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.repair_sources import find_repairs
from lsp_harness.coding.repair_choice import Chooser
from lsp_harness.coding.turn_context import Job
from lsp_harness.coding.turn_driver import Work
from lsp_harness.files.secrets import secret_lines
from lsp_harness.inference.pace import Pace
from lsp_harness.process.offload import offload
from lsp_harness.session.results import Proposal
from lsp_harness.session.turn_events import InvocationReceived
from lsp_harness.syntax.tree import SyntaxTree, no_tree_reason, parse
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import Subject, find_subject
from lsp_harness.verify.stale_findings import find_removal_objection, find_stale_reason

MAX_REPAIRS_FOUND = 24
"""Repairs that are looked for without a model; the likeliest of them are checked."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix of one finding in one document version; `run` may be awaited once.

    `model` is False where the model may not see the text: then only repairs that need none are tried.
    """

    job: Job
    finding: Finding
    model: bool = True

    async def run(self, given: Sequence[Edit] = ()) -> Proposal:
        """The proposal. `given` edits (a linter's own fix) are verified instead of generated."""
        tree = await offload(len(self.job.document.data), lambda: parse(self.job.document))
        subject = find_subject(self.finding, self.job.document, tree)
        work = Work(self.job, self.job.checks(self.finding, subject))
        asked = InvocationReceived("fix", self.finding.message, self.job.path, self.finding.source)
        return await work.within(lambda: self._found(work, subject, tree, given), asked)

    async def _found(self, work: Work, subject: Subject, tree: SyntaxTree | None, given: Sequence[Edit]) -> Proposal:
        job = self.job
        if reason := await find_removal_objection(subject, job.document, job.ruff, job.file, job.root):
            raise work.failed(reason)
        if given:
            return await work.given(given, "the linter's own fix")
        work.enter("LOCATE")
        if reason := await find_stale_reason(self.finding, subject, job.document, tree, job.ruff, job.file, job.root):
            raise work.failed(f"this is no longer there: {reason}")
        if tree is None:
            reason = await offload(len(job.document.data), lambda: no_tree_reason(job.document, job.path))
            raise work.failed(f"{reason}, so that nothing about it could be checked")
        found = await self._repairs(subject, tree) if job.config.generation.repairs else []
        if proposal := await work.repair(found, Chooser(job, self.model)):
            return proposal
        place = locate(tree, self.finding)
        if place is None:
            raise work.failed("there is no code at this diagnostic, only blank space")
        return await self._generated(work, subject, tree, place)

    async def _repairs(self, subject: Subject, tree: SyntaxTree) -> list[Repair]:
        job = self.job
        known = job.workspace.index if job.workspace else None
        request = RepairRequest(self.finding, subject, tree, job.path, known, job.installed, job.root, job.file)
        found = await find_repairs(request, MAX_REPAIRS_FOUND)
        found += await find_linter_repairs(self.finding, job.document, job.ruff, job.file, job.root)
        return sorted(found, key=lambda repair: repair.cost)

    async def _generated(self, work: Work, subject: Subject, tree: SyntaxTree, place: Place) -> Proposal:
        job, document = self.job, self.job.document
        lines = range(document.line_of(place.statement.start), document.line_of(place.statement.end) + 1)
        if not self.model:
            raise work.failed("no repair without a model passes the checks, and this text is not given to the model")
        if not secret_lines(document).isdisjoint(lines):
            raise work.failed("this code contains what looks like a secret, so it is not sent to the model")
        generator = Generator(job, tree, place, self.finding)
        pace = Pace.from_props((await job.engine.props()).raw)
        # what a test fails by elsewhere is said of no statement
        failing = job.output.failing_tests if job.output else frozenset[str]()
        test = self.finding.code in failing and not place.unknown_name
        if test and not place.function:
            raise work.failed(
                "no statement of this file makes the test fail; name a line of the function that it tests"
            )
        fills, rewrites = plans(job.config, place, pace.candidates, fills=pace.can_infill and not test, after=work.made)
        # all fills are one round; every rewrite is a round of its own, told what failed before it
        rounds = [batch for batch in (fills, *([plan] for plan in rewrites)) if batch]
        if not rounds:
            raise work.failed(
                "this model cannot fill in single statements, and there is no function here that it could rewrite"
            )
        return await work.generate(generator, rounds)
