"""A run of the tests of a project, on texts that are not on disk, in a sandbox."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from time import perf_counter

from lsp_harness.disk.file_reading import read_start
from lsp_harness.errors import FileError
from lsp_harness.process.sandbox.confined_run import ConfinedResult
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.process.scratch_folder import ScratchFolder
from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.project_tests.project_overlay import ConfinedProgram, ProjectOverlay
from lsp_harness.verify.project_tests.recorded_lines import (
    Lines,
    read_lines,
    startup_environment,
    write_request,
    write_startup,
)
from lsp_harness.verify.project_tests.suite_runner import Selection, SuiteRunner

MAX_REPORT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class SuiteChoice:
    """The tests of a run, and its limits.

    Attributes:
        files: The test files, relative to the project. If there are none, all tests run.
        max_failures: The number of failed tests after which the run may end. 0 means that all tests run.
        limits: The limits of time, memory and processes.
        lines: The lines of Python files of which the run says whether they ran.
        test_s: Seconds of the processor for each test, if a warm process should allow less than it usually does.
    """

    files: Sequence[str] = ()
    max_failures: int = 0
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    lines: Lines = field(default_factory=dict[Path, frozenset[int]])
    test_s: float | None = None


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The result of a run.

    Attributes:
        digest: The tests that failed, and the numbers of the others.
        result: How the run ended, and its output.
        ms: The time of the run in milliseconds.
        is_on_copy: Whether the tests ran on a copy of the project.
        lines: Those of `SuiteChoice.lines` that ran.
    """

    digest: Digest
    result: ConfinedResult
    ms: float
    is_on_copy: bool = False
    lines: Lines = field(default_factory=dict[Path, frozenset[int]])

    @property
    def is_complete(self) -> bool:
        """Return whether the run says how the tests are: it reached no limit, and at least one test ran."""
        return self.result.end == "exited" and self.digest.passed + self.digest.failed > 0


async def run_tests(
    runner: SuiteRunner,
    root: Path,
    texts: Mapping[Path, bytes],
    choice: SuiteChoice,
    sandbox: Sandbox,
) -> SuiteRun:
    """Run tests, with other contents of some files than the disk has. Nothing of the project is changed.

    Tests that want to write into their project run again on a copy of it.

    Args:
        runner: The program that runs them.
        root: The folder of the project.
        texts: File → its content.
        choice: The tests, and the limits of the run.
        sandbox: The sandbox.

    Raises:
        TooLargeError: A copy of the project is needed, and it is too large.
        OSError: A program cannot be started, or a file cannot be written.
    """
    start = perf_counter()
    folder = await asyncio.to_thread(ScratchFolder)
    scratch = folder.path
    report, overlay = scratch / "report.xml", ProjectOverlay(root, texts, scratch, sandbox)
    recorded = scratch / "lines"
    command = runner.command(
        Selection(choice.files, report, choice.max_failures, sandbox.has_overlays, bool(choice.lines))
    )
    try:
        env = {**(runner.env or {}), **await asyncio.to_thread(_prepare_lines, choice, overlay, recorded)}
        program = ConfinedProgram(command, env, runner.programs, choice.limits, runner.folder)
        run = await overlay.run(program)
        digest = await asyncio.to_thread(_read_digest, runner, overlay, report, run.result)
        ran = read_lines(await asyncio.to_thread(read_report, recorded), choice.lines)
    finally:
        await asyncio.to_thread(folder.remove)
    return SuiteRun(digest, run.result, (perf_counter() - start) * 1000, run.is_on_copy, ran)


def _prepare_lines(choice: SuiteChoice, overlay: ProjectOverlay, recorded: Path) -> Mapping[str, str]:
    """Return the variables of the environment by which Python processes record lines."""
    if not choice.lines:
        return {}
    settings = recorded.with_suffix(".json")
    lines = {file.resolve(): numbers for file, numbers in choice.lines.items()}
    if not overlay.sandbox.has_overlays:
        # the processes see the files in a copy, or at their own paths
        copies = {overlay.copy / file.relative_to(overlay.root.resolve()): lines[file] for file in lines}
        lines = copies if overlay.is_copied else lines
    write_request(settings, lines, recorded)
    return startup_environment(write_startup(overlay.scratch), settings)


def _read_digest(runner: SuiteRunner, overlay: ProjectOverlay, report: Path, result: ConfinedResult) -> Digest:
    """Return the digest of the report, or of the output if there is none."""
    tool = runner.name if runner.name in READERS_BY_TOOL else ""
    text = read_report(report) or result.output.decode("utf-8", "replace")
    # each run has a copy of its own, whose path must not be a part of the names of tests
    text = text.replace(f"{overlay.copy}/", "")
    return locate_paths(digest_output(text, tool, str(overlay.root)), overlay.root, runner.folder)


def locate_paths(digest: Digest, root: Path, folder: PurePosixPath) -> Digest:
    """Return a digest whose paths are relative to the workspace folder, not to the folder of a program.

    Args:
        digest: The digest of the output.
        root: The workspace folder.
        folder: The folder of the program, relative to it.
    """
    if folder == PurePosixPath():
        return digest

    def locate(name: str) -> str:
        path, separator, rest = name.partition("::")
        # pytest names paths from the folder with its settings, which may be above
        return f"{folder / path}{separator}{rest}" if path and (root / folder / path).exists() else name

    problems = tuple(replace(p, path=locate(p.path), test=locate(p.test)) for p in digest.problems)
    passed = None if digest.passed_tests is None else frozenset(map(locate, digest.passed_tests))
    return replace(
        digest, problems=problems, passed_tests=passed, skipped_tests=frozenset(map(locate, digest.skipped_tests))
    )


def read_report(file: Path) -> str:
    """Return a file that tests have written, or an empty text. They may have put anything there."""
    try:
        return "" if file.is_symlink() else read_start(file, MAX_REPORT_BYTES).decode("utf-8", "replace")
    except FileError:
        return ""
