"""The search for the tests that can say something about a proposal."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from lsp_harness.errors import IndexIncomplete
from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import walk
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.project_tests import runner_registry
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner

MAX_TEST_FILES = 24
"""Most test files of one run, the closest ones to the change."""
MAX_SUITES = 4
"""Most runs for one proposal. Each program runs tests in each folder in a run of its own."""
MAX_LISTED_FILES = 20_000
"""Most files of a project that are looked at to find its tests."""
FAR_HOPS = 9
"""Distance of a test that no import connects with the change."""
_NO_RUNNER = "no program is known that runs the tests for {}"
Find = Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]


class SuiteSkippedError(Exception):
    """The tests cannot say anything about a proposal. The message says why."""


@dataclass(frozen=True, slots=True)
class ProposalSuite:
    """The tests of a proposal.

    Attributes:
        runner: The program that runs them.
        root: The workspace folder.
        tests: The test files that run, the closest first.
        found: The number of affected test files, also of those that do not run.
        is_whole: Whether these are all test files of the project, and not only those that the index names.
    """

    runner: SuiteRunner
    root: Path
    tests: tuple[AffectedTest, ...]
    found: int
    is_whole: bool = False

    @property
    def extent(self) -> str:
        """The part of the affected test files that run, if it is not all."""
        return f"{len(self.tests)} of {self.found} files" if self.found > len(self.tests) else ""

    @property
    def files(self) -> tuple[str, ...]:
        """The test files as the program names them."""
        return tuple(self.runner.relative(test.path) for test in self.tests)

    def list_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return some of the test files as the program names them, by their paths in the workspace folder."""
        wanted = set(paths)
        return tuple(self.runner.relative(test.path) for test in self.tests if test.path in wanted)

    @property
    def title(self) -> str:
        """The program and its folder, such as "vitest in packages/app"."""
        folder = self.runner.folder
        return self.runner.name if folder == PurePosixPath() else f"{self.runner.name} in {folder}"

    @property
    def key(self) -> tuple[Path, str, PurePosixPath]:
        """The project and the program, which decide how tests are run."""
        return self.root, self.runner.name, self.runner.folder


async def find_suites(changes: ChangeSet, find_affected: Find, python_setting: str = "") -> tuple[ProposalSuite, ...]:
    """Return the tests that can say something about a proposal, the closest ones first.

    The tests of one program in one folder are one suite: packages of a repository that use the changed one have
    suites of their own.

    Args:
        changes: The proposal.
        find_affected: Returns the test files that a change of a file can break.
        python_setting: The value of the setting `knowledge.python`.

    Raises:
        SuiteSkippedError: There are none. The message says why.
        IndexIncomplete: Nobody knows which tests depend on the proposal, and there is a program that runs tests.
    """
    root = changes.main.root
    if root is None:
        raise SuiteSkippedError("this file is in no workspace folder")
    if not all(change.file.is_relative_to(root) for change in changes):
        raise SuiteSkippedError("the files lie in several workspace folders")
    paths = [change.file.relative_to(root).as_posix() for change in changes]
    found: dict[str, AffectedTest] = {}
    try:
        for path in paths:
            for test in await find_affected(root, path):
                found.setdefault(test.path, test)
    except IndexIncomplete:
        # where nothing runs tests, an index would not help
        if not await asyncio.to_thread(_has_runner, root, changes, python_setting):
            raise SuiteSkippedError(_NO_RUNNER.format(changes.main.file.name)) from None
        raise
    return await asyncio.to_thread(_choose_suites, root, changes, found.values(), python_setting)


def _has_runner(root: Path, changes: ChangeSet, python_setting: str) -> bool:
    """Return whether a program is known for a changed file, or for a test of the same language in another folder."""
    paths = [change.file.relative_to(root) for change in changes]
    if any(runner_registry.find_runner(root, path.as_posix(), python_setting) for path in paths):
        return True
    finders = {runner_registry.FINDERS[path.suffix] for path in paths if path.suffix in runner_registry.FINDERS}
    runners: dict[PurePosixPath, SuiteRunner | None] = {}
    for file in islice(walk(root, IgnoreFiles()) if finders else (), MAX_LISTED_FILES):
        path = PurePosixPath(file.path)
        if runner_registry.FINDERS.get(path.suffix) in finders:
            place = path.parent / path.suffix
            if place not in runners:
                runners[place] = runner_registry.find_runner(root, file.path, python_setting)
            if (runner := runners[place]) and runner.is_test_file(file.path):
                return True
    return False


def _choose_suites(
    root: Path, changes: ChangeSet, found: Iterable[AffectedTest], python_setting: str
) -> tuple[ProposalSuite, ...]:
    runners: dict[PurePosixPath, SuiteRunner | None] = {}
    groups: dict[tuple[str, PurePosixPath], tuple[SuiteRunner, list[AffectedTest]]] = {}

    def find(path: str) -> SuiteRunner | None:
        place = PurePosixPath(path).parent / PurePosixPath(path).suffix
        if place not in runners:
            runners[place] = runner_registry.find_runner(root, path, python_setting)
        return runners[place]

    def add(test: AffectedTest, runner: SuiteRunner | None) -> None:
        if runner and runner.can_run(test.path):
            tests = groups.setdefault((runner.name, runner.folder), (runner, []))[1]
            if test.path not in (known.path for known in tests):
                tests.append(test)

    found = list(found)
    for test in found:
        add(test, find(test.path))
    for change in changes:
        path = change.file.relative_to(root).as_posix()
        runner = find(path)
        if runner and (runner.has_own_tests(change.after.data) or runner.has_own_tests(change.before.data)):
            add(AffectedTest(path, "has tests itself", 0), runner)
        elif runner and runner.is_test_file(path) and change.file.is_file():
            add(AffectedTest(path, "is the changed file", 0), runner)
    if groups:
        ordered = sorted(groups.values(), key=lambda group: (min(test.hops for test in group[1]), -len(group[1])))
        suites = [
            ProposalSuite(
                runner, root, tuple(sorted(tests, key=lambda test: (test.hops, test.path)))[:MAX_TEST_FILES], len(tests)
            )
            for runner, tests in ordered[:MAX_SUITES]
        ]
        left_out = sum(len(tests) for _, tests in ordered[MAX_SUITES:])
        return (replace(suites[0], found=suites[0].found + left_out), *suites[1:])
    runner = find(changes.main.file.relative_to(root).as_posix())
    if runner is None:
        raise SuiteSkippedError(_NO_RUNNER.format(changes.main.file.name))
    whole = list_whole_suite(ProposalSuite(runner, root, (), 0))
    if whole is None:
        paths = ", ".join(change.file.relative_to(root).as_posix() for change in changes)
        raise SuiteSkippedError(f"no test depends on {paths}, and the project has no other tests of {runner.name}")
    return (whole,)


def list_whole_suite(suite: ProposalSuite) -> ProposalSuite | None:
    """Return a suite with all test files of its project, those that it has first, or None if there are no others.

    Tests may run a file that they do not import: by a command, by a name that is made while it runs, or from a folder
    that is called otherwise when it is installed.
    """
    known = {test.path for test in suite.tests}
    others: list[AffectedTest] = []
    for number, file in enumerate(walk(suite.root, IgnoreFiles())):
        if number > MAX_LISTED_FILES:
            break
        name = PurePosixPath(file.path).name
        if file.path not in known and suite.runner.is_test_file(file.path) and name != "conftest.py":
            others.append(AffectedTest(file.path, "is a test of the project", FAR_HOPS))
    if not others:
        return None
    tests = (*suite.tests, *sorted(others, key=lambda test: test.path))
    return replace(suite, tests=tests[:MAX_TEST_FILES], found=len(tests), is_whole=True)
