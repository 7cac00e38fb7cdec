"""A run of the tests of a project, on texts that are not on disk, in a sandbox."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
from lsp_harness.verify.project_tests.runner_registry import Selection, SuiteRunner

MAX_REPORT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class SuiteChoice:
    """The tests of a run, and its limits.

    Attributes:
        files: The test files, relative to the project. If there are none, all tests run.
        max_failures: The number of failed tests after which the run may end. 0 means that all tests run.
        limits: The resources.
    """

    files: Sequence[str] = ()
    max_failures: int = 0
    limits: ResourceLimits = field(default_factory=ResourceLimits)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The result of a run.

    Attributes:
        digest: The tests that failed, and the numbers of the others.
        result: How the run ended, and its output.
        ms: Milliseconds.
        is_on_copy: Whether the tests ran on a copy of the project.
    """

    digest: Digest
    result: ConfinedResult
    ms: float
    is_on_copy: bool = False

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
    command = runner.command(Selection(choice.files, report, choice.max_failures))
    try:
        run = await overlay.run(ConfinedProgram(command, runner.env or {}, runner.programs, choice.limits))
        digest = await asyncio.to_thread(_read_digest, runner, overlay, report, run.result)
    finally:
        await asyncio.to_thread(folder.remove)
    return SuiteRun(digest, run.result, (perf_counter() - start) * 1000, run.is_on_copy)


def _read_digest(runner: SuiteRunner, overlay: ProjectOverlay, report: Path, result: ConfinedResult) -> Digest:
    """Return the digest of the report, or of the output if there is none."""
    tool = runner.name if runner.name in READERS_BY_TOOL else ""
    text = read_report(report) or result.output.decode("utf-8", "replace").replace(f"{overlay.copy}/", "")
    return digest_output(text, tool, str(overlay.root))


def read_report(file: Path) -> str:
    """Return a file that tests have written, or an empty text. They may have put anything there."""
    try:
        return "" if file.is_symlink() else read_start(file, MAX_REPORT_BYTES).decode("utf-8", "replace")
    except FileError:
        return ""
