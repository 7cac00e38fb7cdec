"""Repairs of findings: offered at once, and computed and verified when the user chooses one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lsp_harness.errors import ModelError, NoAnswer, UsageError
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.edits.prepared_fixes import PreparedFixes
from lsp_harness.harness.edits.proposals import DocumentEdit, register
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.services import Services
from lsp_harness.kernel.results import FixOffer, Progress, Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.turn.turn_context import TurnContext
    from lsp_harness.inference.client import Engine
    from lsp_harness.verify.current_findings import Examination
    from lsp_harness.verify.digest.digest_result import Digest
    from lsp_harness.verify.same_problem import SharedProblem

MAX_NAMED_LINES = 5
"""Lines of a tool's output that are named if the user chose another line."""


class FixVerbs:
    """The fixes of one client.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        turns: Begins a turn for each fix.

    Attributes:
        prepared: The fixes that were computed before the user asked.
    """

    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._turns = turns
        self.prepared = PreparedFixes(services, turns, self.offer, self._prepare)
        services.closers.append(self.prepared.aclose)

    async def diagnose(self, snapshot: Snapshot) -> "Examination":
        """Return what our own checks find in a text (see `diagnosis.diagnose`). Raises BinaryDocument."""
        tree = self._services.documents.tree(snapshot.document)
        tools = self._services.verifier.tools
        if self._services.config.verification.type_check == "off":
            tools = replace(tools, names=None)
        return await diagnosis.diagnose(snapshot, tree, tools)

    async def compile(self, snapshot: Snapshot, examined: "Examination") -> "Examination":
        """Return an examination with the errors of the compiler or type checker of the project.

        Args:
            snapshot: The text.
            examined: The findings that `diagnose` found, with the tree of the text.
        """
        return await diagnosis.examine_by_compiler(snapshot, self._services.verifier.tools.types, examined)

    async def name_by_code(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings of a client with the codes of ruff's rules, which it may report by their names."""
        return await self._services.verifier.linter.name_by_code(findings)

    async def offer(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[FixOffer]:
        """Return at once the fixes that could be computed for findings in a text."""
        services, turns = self._services, self._turns
        if turns.refusal(snapshot, needs_model=False):
            return []
        tree = services.documents.tree(snapshot.document) if services.config.generation.repairs else None
        previews = None
        if tree:
            learned = services.learned_fixes(snapshot.root)
            previews = diagnosis.RepairPreviews(snapshot, tree, services.index.query, services.installed, learned)
        allows_model = not turns.refusal(snapshot)
        return await diagnosis.create_offers(
            snapshot, findings, services.verifier.linter, previews, allows_model=allows_model
        )

    async def fix(
        self, snapshot: Snapshot, offer: FixOffer, report: Report, output: "Digest | None" = None
    ) -> Proposal:
        """Compute and verify an offered fix.

        Args:
            snapshot: The text that the offer is about.
            offer: The offer of the fix.
            report: Receives the progress.
            output: The output of a tool that reported the finding.

        Raises:
            NoAnswer: No candidate passed its checks.
            StaleDocument: The document changed meanwhile.
            EngineError: The engine failed.
            BinaryDocument: The file is binary.
            UsageError: The workspace is not trusted.
        """
        self.prepared.count_offers(snapshot, [offer])
        prepared = self.prepared.find(snapshot, offer.finding)
        if prepared and prepared.offer.source == offer.source:
            return prepared.proposal
        self.prepared.yield_to_user(self._services.documents.find(snapshot.document.uri))
        try:
            work = TurnWork("fix", offer.finding.message, snapshot, report, output, offer.finding.source)
            return await self._compute(work, offer)
        finally:
            self._services.index.embed()

    async def _prepare(self, snapshot: Snapshot, offer: FixOffer, engine: "Engine | None") -> Proposal:
        """Compute and verify a fix that nobody asked for."""
        work = TurnWork("prepare", offer.finding.message, snapshot, lambda progress: None, source=offer.finding.source)
        return await self._compute(work, offer, engine, allows_model=engine is not None)

    async def _compute(
        self, work: TurnWork, offer: FixOffer, engine: "Engine | None" = None, *, allows_model: bool = True
    ) -> Proposal:
        """Compute and verify a fix as one turn.

        Args:
            work: The request of the user.
            offer: The offer of the fix.
            engine: The engine to use. None means that of the client.
            allows_model: Whether the model may be asked, if it may see the text.
        """
        from lsp_harness.coding.fix import Fix
        from lsp_harness.coding.turn_driver import run_edit_task

        services, snapshot = self._services, work.snapshot
        await self._turns.prepare(snapshot, needs_model=offer.source == "model")
        linter_edits = await diagnosis.list_linter_edits(snapshot, offer, services.verifier.linter)

        async def steps(context: "TurnContext") -> Proposal:
            if engine or not allows_model:
                context = _limit_model(context, engine)
            may_ask_model = allows_model and not self._turns.refusal(snapshot)
            proposal = await run_edit_task(Fix(context, offer.finding, may_ask_model, linter_edits))
            return register(services.documents.find(snapshot.document.uri), context, proposal)

        return await self._turns.run(work, steps, lambda proposal: proposal.summary)

    def join_problems(self, snapshot: Snapshot, findings: Sequence[Finding]) -> "Sequence[SharedProblem]":
        """Return the problems in a text that findings of any servers are about."""
        from lsp_harness.verify.same_problem import join_problems

        return join_problems(findings, snapshot.document, self._services.documents.tree(snapshot.document))

    async def find_alike(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[list[Finding]]:
        """Return the groups of several problems, also of our checks, that have the rule of one of these findings."""
        from lsp_harness.verify.same_problem import group_problems

        if not any(finding.code for finding in findings) or self._turns.refusal(snapshot, needs_model=False):
            return []
        own = (await self.diagnose(snapshot)).findings
        return group_problems(findings, self.join_problems(snapshot, (*findings, *own)))

    async def fix_all(self, snapshot: Snapshot, findings: Sequence[Finding], report: Report) -> Proposal:
        """Fix findings one after another, each on the text with the fixes before it, as one edit.

        Each fix is verified, and so is the text with all of them. The summary says which findings are left.

        Raises:
            NoAnswer: No finding could be fixed.
            HarnessError: See `fix`.
        """
        from lsp_harness.coding.fix import Fix
        from lsp_harness.coding.fix_all import FixSequence, JoinFixes
        from lsp_harness.coding.turn_driver import run_edit_task

        services, turns = self._services, self._turns
        await turns.prepare(snapshot, needs_model=False)
        allows_model = not turns.refusal(snapshot)
        sequence = FixSequence(snapshot.document, findings)

        async def fix_one(document: Document, finding: Finding) -> Proposal:
            report(Progress(f"line {document.line_of(finding.start) + 1}: {finding.message}"))
            work = TurnWork("fix", finding.message, replace(snapshot, document=document), report, None, finding.source)

            async def steps(context: "TurnContext") -> Proposal:
                return await run_edit_task(Fix(context, finding, allows_model))

            try:
                return await turns.run(work, steps, lambda proposal: proposal.summary)
            except ModelError as error:
                # most of the other fixes need no model
                raise NoAnswer(error.message) from error

        async def join(context: "TurnContext") -> Proposal:
            joined = await run_edit_task(JoinFixes(context, sequence))
            summary = f"{joined.summary}{sequence.remainder}"
            joined = replace(joined, summary=summary, is_by_model=sequence.is_by_model)
            return register(services.documents.find(snapshot.document.uri), context, joined)

        try:
            await sequence.run(fix_one)
            work = TurnWork("fix", f"all of {findings[0].code or 'one kind'}", snapshot, report)
            return await turns.run(work, join, lambda proposal: proposal.summary)
        finally:
            services.index.embed()

    def learn(self, proposal: Proposal) -> None:
        """Learn a fix that the user applied, if the model made it, for the next error of this kind."""
        from lsp_harness.coding.repair.learned_repairs import create_report

        change, finding = proposal.changes.main, proposal.finding
        learned = self._services.learned_fixes(change.root)
        if learned is None or finding is None or not proposal.is_by_model or len(proposal.changes.changes) > 1:
            return
        # the checks have parsed both texts
        if (before := change.tree_before) and (after := change.tree_after):
            learned.learn(create_report(finding, before), before, after)

    def unlearn(self, proposal: Proposal) -> None:
        """Count a refusal of the user against the learned fix that a proposal repeats."""
        if proposal.learned_id and (learned := self._services.learned_fixes(proposal.changes.main.root)):
            learned.record(proposal.learned_id, is_passed=False)

    async def fix_first(
        self, snapshot: Snapshot, offers: Sequence[FixOffer], report: Report, output: "Digest | None" = None
    ) -> Proposal:
        """Compute the offered fixes in order, and return the first that passes its checks.

        Raises:
            NoAnswer: There is no offer, or no candidate passed its checks.
            HarnessError: See `fix`.
        """
        for offer in offers:
            try:
                return await self.fix(snapshot, offer, report, output)
            except NoAnswer:
                if offer is offers[-1]:
                    raise
        raise NoAnswer("there is no fix for this diagnostic")

    async def repair_tests(
        self, snapshot: Snapshot, report: Report, *, span: Span | None = None, task: str = ""
    ) -> DocumentEdit:
        """Make the failing tests of a text pass.

        Args:
            snapshot: The text.
            report: Receives the progress.
            span: The function to edit. The default is the one that failing tests run most.
            task: What the code should do, in words.

        Raises:
            NoAnswer: No test fails, no tests can run, or no candidate makes them pass.
            HarnessError: See `fix`.
        """
        from lsp_harness.coding.ladder.repair_tests import RepairTests, find_failures
        from lsp_harness.coding.turn_driver import run_edit_task

        services, turns = self._services, self._turns
        await turns.prepare(snapshot)

        async def steps(context: "TurnContext") -> Proposal:
            trace = await find_failures(context)
            proposal = await run_edit_task(RepairTests(context, trace, span))
            return register(services.documents.find(snapshot.document.uri), context, proposal)

        work = TurnWork("fix", task or "make the failing tests pass", snapshot, report)
        try:
            return DocumentEdit(await turns.run(work, steps, lambda proposal: proposal.summary), snapshot.document)
        finally:
            services.index.embed()

    async def fix_reported(self, snapshot: Snapshot, span: Span, printed: str, report: Report) -> DocumentEdit:
        """Fix what a tool reports about a line, or the function there whose test fails.

        Args:
            snapshot: The text.
            span: Begins on the line.
            printed: The output of the tool.
            report: Receives the progress.

        Raises:
            UsageError: The output reports nothing about this line.
            HarnessError: See `fix`.
        """
        await self._turns.prepare(snapshot)
        output = await diagnosis.read_output(snapshot, printed)
        line = snapshot.document.line_of(span.start) + 1
        tree = self._services.documents.tree(snapshot.document)
        finding = diagnosis.find_reported(snapshot, tree, output, line)
        if finding is None:
            lines = sorted({problem.line for problem in output.problems if problem.line})[:MAX_NAMED_LINES]
            advice = f"; choose a line that it reports: {', '.join(map(str, lines))}" if lines else ""
            raise UsageError(f"{output.summary}; the output reports nothing on line {line} of {snapshot.path}{advice}")
        offers = await self.offer(snapshot, [finding])
        return DocumentEdit(await self.fix_first(snapshot, offers, report, output), snapshot.document)


def _limit_model(context: "TurnContext", engine: "Engine | None") -> "TurnContext":
    """Return a context whose edit and whose review ask this engine, or no model at all."""
    reviewer = context.tools.reviewer
    reviewer = replace(reviewer, find_engine=lambda: engine) if reviewer and engine else None
    return replace(context, engine=engine or context.engine, tools=replace(context.tools, reviewer=reviewer))
