"""The task that makes failing tests pass by a verified edit of one function or text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.candidate_generator import CandidateGenerator
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate, choose_smallest, drop_equivalent
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import CandidatePlan
from lsp_harness.coding.edit_task import EditTask
from lsp_harness.coding.finding_location import MAX_REWRITE_LINES, FindingPlace, find_imports_end
from lsp_harness.coding.ladder.ladder import (
    WITHOUT_HOLES,
    HolePlan,
    LadderPlan,
    LadderSource,
)
from lsp_harness.coding.ladder.slip_kinds import SLIP_NAMES, find_slip_repairs
from lsp_harness.coding.ladder.slip_source import SlipSource
from lsp_harness.coding.ladder.suspicion import SuspiciousStatement, add_definitions, find_statements
from lsp_harness.coding.location.task_mentions import read_task
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.errors import IndexIncomplete, NoAnswer
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.inference.pace import Pace
from lsp_harness.process.offload import offload
from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.position import Span
from lsp_harness.text.wording import format_count
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tests.comparison import FailureTrace, SuiteSkippedError

MAX_NOTE_TESTS = 3
MAX_SLIPS = 600
"""Most repairs of slips that are tried against the failing tests."""
MAX_CHECKED_SLIPS = 96
"""Most of them if each one needs a run of all tests."""
SLIP_SHARE = 0.3
"""The part of the time in which slips are looked for, before the model is asked."""
NAMED_TEST = re.compile(r"test_|[Tt]est[A-Z]")
"""Matches the beginning of the name of a test."""
NOT_RUN = "the failing tests run no statement of this code"


class NothingFails(NoAnswer):
    """The tests ran, and those that a repair is about pass."""


async def find_failures(context: TurnContext, *, records_lines: bool = True) -> FailureTrace:
    """Run the tests that depend on a document.

    Args:
        context: The document and the tools.
        records_lines: Whether the tests run once more to record the lines of the document that each of them runs.

    Raises:
        NoAnswer: No tests can run, none fails, or they lack a module, which no edit of the document installs.
    """
    suites = context.tools.suites
    if suites is None:
        raise NoAnswer("this workspace is not trusted, so no tests run; trust it first")
    try:
        change = Change.from_edits(context.document, (), context.file, context.root)
        trace = await suites.trace(change, records_lines=records_lines)
    except (SuiteSkippedError, IndexIncomplete) as error:
        raise NoAnswer(f"nothing was changed: {error}") from error
    if not trace.run.is_complete:
        raise NoAnswer(f"nothing was changed: the tests that depend on {context.path} did not run to their end")
    if not trace.failures:
        raise NothingFails(f"no test that depends on {context.path} fails; nothing was changed")
    for problem in trace.failures:
        if problem.lacks_module:
            raise NoAnswer(f"{problem.path} cannot be imported ({problem.message}); nothing was changed")
    return trace


def limit_to_named(trace: FailureTrace, task: str) -> FailureTrace:
    """Return a trace with the failures of the tests that a task names, or all of it if the task names none.

    Raises:
        NothingFails: The named tests do not fail.
    """
    names = [mention.last for mention in read_task(task).names if NAMED_TEST.match(mention.last)]
    titles = {failure.title for failure in trace.failures if any(name in failure.title for name in names)}
    if names and not titles:
        others = format_count(len(trace.failures), "other test fails", "other tests fail")
        raise NothingFails(f"{names[0]} does not fail here ({others}); nothing was changed")
    return trace.limit_to(titles) if titles else trace


@dataclass(slots=True)
class RepairTests(EditTask):
    """The task that makes failing tests pass. Run it once.

    Attributes:
        context: The document and the tools. Its `task` says what the code should do; it may be empty.
        trace: The run in which the tests fail.
        span: The code that the user named, or None for the most suspicious code of the document.
        limit_s: The seconds after which nothing is generated any more. None means those of the settings.
    """

    checks_in_order: ClassVar[bool] = False
    """The first candidate that passes the tests ends the turn: to wait for a likelier one would cost time."""

    context: TurnContext
    trace: FailureTrace
    span: Span | None = None
    limit_s: float | None = None
    _everything: Sequence[SuspiciousStatement] = field(default=(), init=False)
    _statements: Sequence[SuspiciousStatement] = field(default=(), init=False)
    _tree: SyntaxTree | None = field(default=None, init=False)
    _start_s: float = field(default=0.0, init=False)
    _slip_count: int = field(default=0, init=False)
    _region: Span = field(default=Span(0, 0), init=False)
    _is_run_by_tests: bool = field(default=True, init=False)

    async def create_checks(self) -> list[Check]:
        return self.context.create_checks(must_pass=self.trace.failed_ids)

    async def create_trials(
        self, checked: CandidateChecks
    ) -> tuple[CandidateSource, Sequence[Sequence[CandidatePlan]]] | None:
        """Return the repairs of slips, which the failing tests judge without the model.

        Return None if the settings want no repairs without the model.
        """
        if not self.context.config.generation.repairs:
            return None
        tree = await self._locate()
        suites = self.context.tools.suites
        failing = None
        if suites:
            change = Change.from_edits(self.context.document, (), self.context.file, self.context.root)
            failing = await suites.choose_failing_tests(change, self.trace.failed_ids)
        limit = MAX_SLIPS if failing else MAX_CHECKED_SLIPS
        suspects = self._statements if self.span else add_definitions(tree, self._everything)
        repairs = await offload(len(tree.data), lambda: find_slip_repairs(tree, suspects, limit))
        source = SlipSource(self.context, repairs, failing, checked, SLIP_SHARE * self._limit_s)
        self._slip_count = len(repairs)
        return source, source.plan()

    async def create_source(self, checked: CandidateChecks | None = None) -> LadderSource:
        document, tree = self.context.document, await self._locate()
        if not self._is_run_by_tests:
            # all statements of the file are too many places for a model
            raise NoAnswer(NOT_RUN)
        region = self._region
        lines = range(document.line_of(region.start), document.line_of(max(region.start, region.end - 1)) + 1)
        if not find_secret_lines(document).isdisjoint(lines):
            raise NoAnswer("this code contains what looks like a secret, so it is not sent to the model")
        return LadderSource(
            context=self.context,
            tree=tree,
            region=region,
            notes=self._write_notes(),
            failing_count=len(self.trace.failures),
            rewriter=self._create_rewriter(tree, region),
            results=checked.results if checked else (),
            deadline_s=self._start_s + self._limit_s,
        )

    async def _locate(self) -> SyntaxTree:
        """Find the suspicious statements, once. Raises NoAnswer if there is none."""
        if self._tree is not None:
            return self._tree
        document = self.context.document
        tree = await offload(len(document.data), lambda: parse(document))
        if tree is None:
            raise NoAnswer("this text has no syntax tree, so no statement can be replaced")
        messages = [problem.message for problem in self.trace.failures]
        self._everything = find_statements(tree, Span(0, len(document.data)), self.trace.tests, messages)
        self._region = region = self._find_region(tree, self._everything)
        inside = [s for s in self._everything if region.start <= s.span.start < region.end]
        self._statements = [statement for statement in inside if statement.suspicion > 0]
        if not self._statements:
            # the import of the tests runs this code, and no test itself: each of its statements may be wrong
            self._everything = find_statements(tree, Span(0, len(document.data)), {}, messages)
            self._statements = [s for s in self._everything if region.start <= s.span.start < region.end]
            self._is_run_by_tests = False
        if not self._statements:
            raise NoAnswer(NOT_RUN)
        self._tree, self._start_s = tree, monotonic()
        return tree

    @property
    def _limit_s(self) -> float:
        return self.context.config.generation.test_repair_s if self.limit_s is None else self.limit_s

    async def plan_rounds(self) -> list[list[HolePlan]]:
        pace = Pace.from_props((await self.context.engine.props()).raw)
        settings = self.context.config.generation
        assert self._tree is not None
        samples = settings.candidates or max(8, pace.candidates)
        plan = LadderPlan(
            self._tree, self._statements, samples, settings.max_retries, settings.temperature, self._slip_count + 1
        )
        rounds = list(plan.rounds())
        if not pace.can_infill:
            rounds = [plans for plans in rounds if plans[0].kind in WITHOUT_HOLES]
        return rounds

    def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
        """Return the candidate that changes least. Of repairs of slips it is the likeliest one.

        What is likely depends on the kind, on the suspicion of the line and on its distance from the failure.
        """
        if self.is_decided(passed):
            return choose_smallest(passed)
        return min(passed, key=lambda result: (result.candidate.cost, result.order))

    def is_decided(self, passed: Sequence[CheckedCandidate]) -> bool:
        """Return whether a candidate of the model passed. Of slips, all that pass are compared."""
        return not all(result.candidate.plan.kind in SLIP_NAMES for result in passed)

    def describe_choice(self, best: CheckedCandidate, passed: Sequence[CheckedCandidate]) -> str:
        """Return how many candidates pass, and the line of the second best, if it is not the only one."""
        others = [result for result in drop_equivalent(passed) if result.changes.hash != best.changes.hash]
        if not others:
            return ""
        second = self.choose(others)
        line = second.change.after.line_of(min(edit.start for edit in second.change.edits)) + 1
        return f", one of {len(others) + 1} that pass; the next changes line {line} to `{second.first_changed_line}`"

    def _find_region(self, tree: SyntaxTree, statements: Sequence[SuspiciousStatement]) -> Span:
        """Return the function that the user named, or the one with the most suspicious statement."""
        place = self.span.start if self.span else statements[0].span.start if statements else 0
        region = scope.function_text_span(tree, place)
        # a function within a function is tested as a part of it
        while region and (outer := scope.function_text_span(tree, max(0, region.start - 1))):
            if not (outer != region and outer.start <= region.start and outer.end >= region.end):
                break
            region = outer
        return region or self.span or Span(0, len(tree.data))

    def _create_rewriter(self, tree: SyntaxTree, region: Span) -> CandidateGenerator | None:
        document = self.context.document
        first, last = document.line_of(region.start), document.line_of(max(region.start, region.end - 1))
        if last - first >= MAX_REWRITE_LINES:
            return None
        statement = self._statements[0].span
        finding = Finding(*statement, "; ".join(self._write_notes()), "tests", self.trace.failures[0].title)
        line = document.line_of(statement.start) - first + 1
        return CandidateGenerator(
            self.context, tree, FindingPlace(statement, region, line, find_imports_end(tree)), finding
        )

    def _write_notes(self) -> list[str]:
        """Return what the code should do and what its tests say, as lines."""
        task = [line.strip() for line in self.context.task.splitlines() if line.strip()]
        tests = [f"{problem.title}: {problem.message}" for problem in self.trace.failures[:MAX_NOTE_TESTS]]
        return [*task, *tests]
