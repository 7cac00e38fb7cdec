"""Compares the tests of a project before and after a proposal."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.index.query.affected_tests import AffectedTest
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.digest.problem import Problem
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.project_copy import TooLargeError
from lsp_harness.verify.project_tests.runner_registry import SuiteRunner, find_runner

CHECK = "tests"
MAX_BASELINES = 32
"""Runs of unchanged texts that are kept."""
MAX_TEST_FILES = 24
"""Most test files of one run, the closest ones to the change."""
MAX_FINDINGS = 5
EXTRA_WALL_S = 4.0
WALL_FACTOR = 4
"""A proposal gets so many times the time of the run before it, and `EXTRA_WALL_S` seconds more."""


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """The functions by which tests are found and allowed.

    Attributes:
        find_affected: Returns the test files that a change of a file can break. It gets the folder and the path.
        find_objection: Returns why a command may not run, or an empty text.
        choose_sandbox: Returns the sandbox of this machine.
    """

    find_affected: Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]
    find_objection: Callable[[Sequence[str]], Awaitable[str]]
    choose_sandbox: Callable[[], SandboxChoice]


@dataclass(frozen=True, slots=True)
class _Suite:
    runner: SuiteRunner
    root: Path
    tests: tuple[AffectedTest, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(test.path for test in self.tests)


class SuiteSkippedError(Exception):
    """The tests cannot say anything about a proposal. The message says why."""


class SuiteComparison:
    """Runs the affected tests on the texts before and after proposals. The runs before are kept.

    Args:
        access: How tests are found and allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ProjectAccess, limits: ResourceLimits | None = None) -> None:
        self._access = access
        self._limits = limits or ResourceLimits()
        self._baselines: OrderedDict[tuple[Path, tuple[str, ...], str], SuiteRun] = OrderedDict()

    async def compare(self, changes: ChangeSet, must_pass: frozenset[str] = frozenset()) -> Outcome:
        """Return whether a proposal breaks a test.

        Args:
            changes: The proposal.
            must_pass: Names of failing tests that the proposal has to repair.
        """
        try:
            suite = await self._find_suite(changes)
            before = await self._run_before(suite, changes)
            limits = self._limits
            if before.is_complete:
                wall_s = before.ms / 1000 * WALL_FACTOR + EXTRA_WALL_S
                limits = replace(limits, wall_s=min(limits.wall_s, wall_s))
            failing = before.digest.failing_tests if before.is_complete else frozenset[str]()
            texts = {change.file: change.after.data for change in changes}
            after = await self._run(suite, texts, SuiteChoice(suite.files, len(failing - must_pass) + 1, limits))
        except SuiteSkippedError as error:
            return Outcome(CHECK, "skipped", reason=str(error))
        except (OSError, TooLargeError) as error:
            return Outcome(CHECK, "skipped", reason=f"the tests could not run: {error}")
        if not after.is_complete:
            return _judge_incomplete(before, after, changes)
        broken = [p for p in after.digest.problems if p.test and (p.title not in failing or p.title in must_pass)]
        if broken:
            return Outcome(CHECK, "failed", tuple(_as_finding(problem, changes) for problem in broken[:MAX_FINDINGS]))
        return Outcome(CHECK, "passed", reason=_describe(suite, after))

    async def _find_suite(self, changes: ChangeSet) -> _Suite:
        root = changes.main.root
        if root is None:
            raise SuiteSkippedError("this file is in no workspace folder")
        paths = [change.file.relative_to(root).as_posix() for change in changes if change.file.is_relative_to(root)]
        runner = await asyncio.to_thread(find_runner, root, paths[0]) if paths else None
        if runner is None:
            raise SuiteSkippedError(f"no program is known that runs the tests for {changes.main.file.name}")
        found: dict[str, AffectedTest] = {}
        for path in paths:
            for test in await self._access.find_affected(root, path):
                if runner.can_run(test.path):
                    found.setdefault(test.path, test)
        if not found:
            raise SuiteSkippedError(f"no test depends on {', '.join(paths)}")
        tests = sorted(found.values(), key=lambda test: (test.hops, test.path))[:MAX_TEST_FILES]
        return _Suite(runner, root, tuple(tests))

    async def _run_before(self, suite: _Suite, changes: ChangeSet) -> SuiteRun:
        key = (suite.root, suite.files, " ".join(change.before.hash for change in changes))
        if key not in self._baselines:
            texts = {change.file: change.before.data for change in changes}
            self._baselines[key] = await self._run(suite, texts, SuiteChoice(suite.files, 0, self._limits))
            while len(self._baselines) > MAX_BASELINES:
                self._baselines.popitem(last=False)
        self._baselines.move_to_end(key)
        return self._baselines[key]

    async def _run(self, suite: _Suite, texts: Mapping[Path, bytes], selection: SuiteChoice) -> SuiteRun:
        choice = self._access.choose_sandbox()
        if not choice.is_confined:
            reasons = "; ".join(f"{name}: {problem}" for name, problem in choice.problems.items())
            raise SuiteSkippedError(f"tests run only in a sandbox, and none works here ({reasons})")
        if objection := await self._access.find_objection((suite.runner.name, *suite.files)):
            raise SuiteSkippedError(objection)
        return await run_tests(suite.runner, suite.root, texts, selection, choice.sandbox)


def _judge_incomplete(before: SuiteRun, after: SuiteRun, changes: ChangeSet) -> Outcome:
    """Return the outcome of a run that says nothing about single tests: the proposal is to blame if it ran before."""
    last = after.result.output.decode("utf-8", "replace").strip().splitlines()[-1:]
    ends = {
        "timeout": "the tests do not end in time",
        "output_limit": "the tests print without an end",
        "process_limit": "the tests start too many processes",
        "exited": f"no test ran: {' '.join(last)}",
    }
    reason = ends[after.result.end]
    if not before.is_complete:
        return Outcome(CHECK, "skipped", reason=f"{reason}, with the present text too")
    return Outcome(CHECK, "failed", (_as_finding(Problem(reason), changes),))


def _as_finding(problem: Problem, changes: ChangeSet) -> Finding:
    """Return a failed test as a finding at the first change. Its place is in another file."""
    main = changes.main
    start = main.edits[0].start if main.edits else 0
    name = f"{problem.title} — " if problem.title else ""
    return Finding(start, start, f"{name}{problem.message}", "tests", problem.title)


def _describe(suite: _Suite, run: SuiteRun) -> str:
    files = len(suite.files)
    passed = run.digest.passed
    return f"{passed} test{'s' * (passed > 1)} in {files} file{'s' * (files > 1)}"
