"""A run of the tests of a project, on texts that are not on disk, in a sandbox."""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from lsp_harness.disk.file_reading import read_start
from lsp_harness.errors import FileError
from lsp_harness.process.sandbox.confined_run import ConfinedResult, confined_environment, run_confined
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy
from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.project_tests.project_copy import copy_project
from lsp_harness.verify.project_tests.runner_registry import Selection, SuiteRunner

READ_ONLY_MARKS = (b"Read-only file system", b"EROFS", b"Permission denied")
"""Words in the output of tests that want to write into their project."""
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
    scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="lsp-harness-tests-"))
    run = _Run(runner, root, texts, choice, sandbox, scratch)
    try:
        is_on_copy = not sandbox.can_replace_files
        result = await (run.on_copy() if is_on_copy else run.in_place())
        if not is_on_copy and result.exit_code != 0 and any(mark in result.output for mark in READ_ONLY_MARKS):
            is_on_copy = True
            result = await run.on_copy()
        digest = await asyncio.to_thread(run.read_digest, result)
    finally:
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
    return SuiteRun(digest, result, (perf_counter() - start) * 1000, is_on_copy)


def confine(policy: SandboxPolicy, runner: SuiteRunner, root: Path, limits: ResourceLimits) -> SandboxPolicy:
    """Return a policy that also hides the home of the user, except for the project and its programs."""
    home = Path.home()
    # the root folder, as the home of a service account, cannot be hidden
    hidden = (home,) if home != Path("/") and home.is_dir() else ()
    return replace(policy, hidden=hidden, visible=(*runner.programs, root), limits=limits)


@dataclass(frozen=True, slots=True)
class _Run:
    runner: SuiteRunner
    root: Path
    texts: Mapping[Path, bytes]
    choice: "SuiteChoice"
    sandbox: Sandbox
    scratch: Path

    async def in_place(self) -> ConfinedResult:
        """Run in the folder of the project, which is read-only, with the texts mounted over their files."""
        replaced: dict[Path, Path] = {}
        for number, (file, content) in enumerate(self.texts.items()):
            replaced[file] = self.scratch / f"text-{number}"
            await asyncio.to_thread(replaced[file].write_bytes, content)
        return await self._start(SandboxPolicy(self.root, (self.scratch,), replaced))

    async def on_copy(self) -> ConfinedResult:
        """Run in a copy of the project, with the texts written into it."""
        copy = self.scratch / "project"
        await asyncio.to_thread(self._write_copy, copy)
        return await self._start(SandboxPolicy(copy, (self.scratch,)))

    def _write_copy(self, copy: Path) -> None:
        copy_project(self.root, copy)
        for file, content in self.texts.items():
            target = copy / file.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    async def _start(self, policy: SandboxPolicy) -> ConfinedResult:
        policy = confine(policy, self.runner, self.root, self.choice.limits)
        selection = Selection(self.choice.files, self._report, self.choice.max_failures)
        env = confined_environment(str(self.scratch), str(self.scratch), self.runner.env)
        return await run_confined(self.runner.command(selection), self.sandbox, policy, env)

    @property
    def _report(self) -> Path:
        return self.scratch / "report.xml"

    def read_digest(self, result: ConfinedResult) -> Digest:
        """Return the digest of the report, or of the output if there is none."""
        tool = self.runner.name if self.runner.name in READERS_BY_TOOL else ""
        try:
            # the tests may have put anything there
            is_file = not self._report.is_symlink()
            report = read_start(self._report, MAX_REPORT_BYTES).decode("utf-8", "replace") if is_file else ""
        except FileError:
            report = ""
        folder = str(self.scratch / "project")
        text = report or result.output.decode("utf-8", "replace").replace(f"{folder}/", "")
        return digest_output(text, tool, str(self.root))
