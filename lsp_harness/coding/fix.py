"""Repairs a diagnostic by a verified edit.

Repairs that need no model come first: they take milliseconds and change one token. The model is asked only if none of
them
passes the checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.coding.candidate_generator import CandidateGenerator, plan_candidates
from lsp_harness.coding.finding_location import FindingPlace, locate_finding
from lsp_harness.coding.repair.linter_fixes import find_linter_repairs
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.repair_sources import find_repairs
from lsp_harness.coding.repair_choice import RepairChooser
from lsp_harness.coding.turn_context import TurnContext
from lsp_harness.coding.turn_driver import TurnDriver
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
"""Most repairs that are searched without a model. The most likely of them are checked."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The task that fixes one finding in one document version, by repairs first and then by the model. Run it once.

    Attributes:
        context: The document and the tools.
        finding: The finding.
        is_model_allowed: Whether the model may see the text. If not, only repairs without a model are tried.
    """

    context: TurnContext
    finding: Finding
    is_model_allowed: bool = True

    async def run(self, linter_edits: Sequence[Edit] = ()) -> Proposal:
        """Return the proposal. Raises NoAnswer.

        Args:
            linter_edits: The linter's own fix, if there is one. Then nothing else is tried.
        """
        context = self.context
        tree = await offload(len(context.document.data), lambda: parse(context.document))
        subject = find_subject(self.finding, context.document, tree)
        driver = TurnDriver(context, context.create_checks(self.finding, subject))
        request = InvocationReceived("fix", self.finding.message, context.path, self.finding.source)
        return await driver.run(request, lambda: self._fix(driver, subject, tree, linter_edits))

    async def _fix(
        self, driver: TurnDriver, subject: Subject, tree: SyntaxTree | None, linter_edits: Sequence[Edit]
    ) -> Proposal:
        context, document, file, root = self.context, self.context.document, self.context.file, self.context.root
        if reason := await find_removal_objection(subject, document, context.ruff, file, root):
            raise driver.fail(reason)
        if linter_edits:
            return await driver.check_edits(linter_edits, "the linter's own fix")
        driver.states.enter("LOCATE")
        if reason := await find_stale_reason(self.finding, subject, document, tree, context.ruff, file, root):
            raise driver.fail(f"this is no longer there: {reason}")
        if tree is None:
            reason = await offload(len(document.data), lambda: no_tree_reason(document, context.path))
            raise driver.fail(f"{reason}, so that nothing about it could be checked")
        repairs = await self._find_repairs(subject, tree) if context.config.generation.repairs else []
        if proposal := await driver.try_repairs(repairs, RepairChooser(context, self.is_model_allowed)):
            return proposal
        place = locate_finding(tree, self.finding)
        if place is None:
            raise driver.fail("there is no code at this diagnostic, only blank space")
        return await self._generate(driver, tree, place)

    async def _find_repairs(self, subject: Subject, tree: SyntaxTree) -> list[Repair]:
        """Return the repairs that need no model, the most likely first."""
        context = self.context
        index = context.workspace.index if context.workspace else None
        request = RepairRequest(
            self.finding, subject, tree, context.path, index, context.installed, context.root, context.file
        )
        repairs = await find_repairs(request, MAX_REPAIRS_FOUND)
        repairs += await find_linter_repairs(self.finding, context.document, context.ruff, context.file, context.root)
        return sorted(repairs, key=lambda repair: repair.cost)

    async def _generate(self, driver: TurnDriver, tree: SyntaxTree, place: FindingPlace) -> Proposal:
        """Ask the model for candidates."""
        context, document = self.context, self.context.document
        lines = range(document.line_of(place.statement.start), document.line_of(place.statement.end) + 1)
        if not self.is_model_allowed:
            raise driver.fail("no repair without a model passes the checks, and this text is not given to the model")
        if not secret_lines(document).isdisjoint(lines):
            raise driver.fail("this code contains what looks like a secret, so it is not sent to the model")
        generator = CandidateGenerator(context, tree, place, self.finding)
        pace = Pace.from_props((await context.engine.props()).raw)
        # a test that fails somewhere else says nothing about the statement, so the function is rewritten
        failing_tests = context.output.failing_tests if context.output else frozenset[str]()
        is_test = self.finding.code in failing_tests and not place.unknown_name
        if is_test and not place.function:
            raise driver.fail(
                "no statement of this file makes the test fail; name a line of the function that it tests"
            )
        fills, rewrites = plan_candidates(
            context.config,
            place,
            pace.candidates,
            has_fills=pace.can_infill and not is_test,
            first_number=driver.candidate_count + 1,
        )
        # all fills are one round; each rewrite is a round of its own, with the findings in the candidates before it
        rounds = [plans for plans in (fills, *([plan] for plan in rewrites)) if plans]
        if not rounds:
            raise driver.fail(
                "this model cannot fill in single statements, and there is no function here that it could rewrite"
            )
        return await driver.generate(generator, rounds)
