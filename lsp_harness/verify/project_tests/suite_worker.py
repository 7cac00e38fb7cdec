"""A warm process that runs the tests of one project on many texts, one after another.

A new process of pytest takes half a second before its first test. The worker forks instead, which takes milliseconds.
All runs share one copy of the project, so files that tests write stay there. A run in a new copy decides at the end.
"""

import asyncio
import base64
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

from ulid import ULID

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES
from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.process.sandbox.confined_run import (
    COUNT_INTERVAL_S,
    ConfinedResult,
    confined_environment,
    limit_resources,
)
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy
from lsp_harness.process.scratch_folder import ScratchFolder
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, read_report
from lsp_harness.verify.project_tests.project_copy import copy_project
from lsp_harness.verify.project_tests.project_overlay import hide_home
from lsp_harness.verify.project_tests.runner_registry import CONTINUE, SuiteRunner

PROGRAM = Path(__file__).with_name("pytest_worker.py")
"""The program of the worker. It is not imported, because this package must work without pytest."""
START_S = 20.0
"""How long the start of the worker may take."""
GRACE_S = 5.0
"""Time after the limit of a run in which the worker itself has to answer."""


MAX_CHANGED_FILES = 32
"""Most files that changed since the copy was made. The content of each of them is sent with each request."""
MAX_CHANGED_BYTES = 1 << 20
"""Most bytes of such a file."""


class CopiedProject(NamedTuple):
    """The folder of a project, and its files that were copied."""

    root: Path
    files: frozenset[Path]


@dataclass(frozen=True, slots=True)
class TracedTest:
    """The lines of one file that a test ran.

    Attributes:
        is_passed: Whether the test passed.
        lines: Line, from 1 → how often it ran.
    """

    is_passed: bool
    lines: Mapping[int, int]


class SuiteWorker:
    """The process, with its copy of the project. Use `start`, and close it at the end.

    Attributes:
        is_broken: Whether it can run no more tests.
    """

    def __init__(
        self, copied: CopiedProject, folder: ScratchFolder, tree: ProcessTree, requests: int, test_s: float
    ) -> None:
        self._root, self._copied = copied
        self._folder, self._tree, self._requests, self._test_s = folder, tree, requests, test_s
        self._scratch = folder.path
        self._changed: set[Path] = set()
        self._writing: asyncio.Future[None] | None = None
        self._lock = asyncio.Lock()
        self.is_broken = False

    @classmethod
    async def start(
        cls, runner: SuiteRunner, root: Path, sandbox: Sandbox, limits: ResourceLimits, test_s: float
    ) -> "SuiteWorker":
        """Copy a project and start the process.

        Args:
            runner: The program, which must have a `python`.
            root: The folder of the project.
            sandbox: The sandbox.
            limits: The limits of the process with all its runs. `wall_s` is that of each run.
            test_s: Seconds of the processor for each test.

        Raises:
            TooLargeError: The project is too large to copy.
            OSError: The process does not start.
        """
        assert runner.python is not None
        scratch = await asyncio.to_thread(ScratchFolder)
        try:
            worker = await cls._start_in(scratch, runner, root, sandbox, limits, test_s)
        except BaseException:
            await asyncio.to_thread(scratch.remove)
            raise
        try:
            async with asyncio.timeout(START_S):
                while not (line := await worker._tree.output.readline()).startswith(b'{"ready"'):
                    if not line:
                        raise OSError("pytest cannot be imported")
        except (OSError, TimeoutError, ValueError) as error:
            await worker.aclose()
            raise OSError(f"the warm process of the tests does not start: {error}") from error
        except BaseException:
            await worker.aclose()
            raise
        return worker

    @classmethod
    async def _start_in(
        cls,
        folder: ScratchFolder,
        runner: SuiteRunner,
        root: Path,
        sandbox: Sandbox,
        limits: ResourceLimits,
        test_s: float,
    ) -> "SuiteWorker":
        scratch = folder.path
        copy, script = scratch / "project", scratch / PROGRAM.name
        copied = CopiedProject(root, await asyncio.to_thread(copy_project, root, copy))
        await asyncio.to_thread(shutil.copyfile, PROGRAM, script)
        policy = hide_home(SandboxPolicy(copy, (scratch,)), (*runner.programs, root), limits)
        command = sandbox.wrap([str(runner.python), str(script)], policy)
        environment = confined_environment(str(scratch), str(scratch), runner.env)
        reading, writing = os.pipe()
        try:
            tree = await ProcessTree.start(
                command,
                mark=str(ULID()),
                cwd=copy,
                env=environment,
                prepare=lambda: limit_resources(limits),
                stdin=reading,
            )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        return cls(copied, folder, tree, writing, test_s)

    @property
    def is_busy(self) -> bool:
        """Return whether tests run now."""
        return self._lock.locked()

    def follow(self, file: Path) -> bool:
        """Use the present content of a file that changed on disk from now on, without a new copy of the project.

        Returns:
            Whether this is possible. It is not if the file is new or gone, or decides which files are copied.
        """
        is_plain = file in self._copied and file.is_file() and file.name not in IGNORE_FILE_NAMES
        if is_plain and len(self._changed | {file}) <= MAX_CHANGED_FILES:
            self._changed.add(file)
            return True
        return False

    async def run(self, texts: Mapping[Path, bytes], choice: SuiteChoice) -> SuiteRun:
        """Run tests, with other contents of some files than the disk has.

        Args:
            texts: File → its content.
            choice: The tests, and the limits of the run.

        Raises:
            OSError: The process has ended.
        """
        run, _ = await self._run(texts, choice, None)
        return run

    async def trace(
        self, texts: Mapping[Path, bytes], choice: SuiteChoice, file: Path
    ) -> tuple[SuiteRun, Mapping[str, TracedTest]]:
        """Run tests, and return for each test the lines of a file that it runs.

        Raises:
            OSError: The process has ended.
        """
        return await self._run(texts, choice, file)

    async def aclose(self) -> None:
        """End the process and everything that it started, and remove the copy."""
        self.is_broken = True
        await self._tree.end(0.0)
        self._tree.close()
        if self._writing:
            # nobody reads any more, so it ends; afterwards the number may belong to another file
            await asyncio.wait({self._writing}, timeout=GRACE_S)
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1
        await asyncio.to_thread(self._folder.remove)

    async def _run(
        self, texts: Mapping[Path, bytes], choice: SuiteChoice, traced: Path | None
    ) -> tuple[SuiteRun, Mapping[str, TracedTest]]:
        async with self._lock:
            start = perf_counter()
            report, trace = self._scratch / "report.xml", self._scratch / "trace.json"
            # a run that is ended early writes neither, and must not be taken for the one before it
            report.unlink(missing_ok=True)
            trace.unlink(missing_ok=True)
            # the process in the sandbox writes them: tests may have put links into the copy
            texts = {**await self._read_changed(self._changed - texts.keys()), **texts}
            options = ["-q", "-p", "no:cacheprovider", CONTINUE, f"--junitxml={report}"]
            request = {
                "texts": {self._name(file): base64.b64encode(data).decode() for file, data in texts.items()},
                "arguments": [*options, f"--maxfail={choice.max_failures}", *choice.files],
                "wall_s": choice.limits.wall_s,
                "test_s": self._test_s,
                "traced": self._name(traced) if traced else "",
                "trace": str(trace),
            }
            answer = await self._ask(request, choice.limits)
            end = "timeout" if "timeout" in answer else "exited"
            result = ConfinedResult(end, int(answer.get("code", -9)), b"")
            digest = digest_output(await asyncio.to_thread(read_report, report), "pytest", str(self._root))
            tests = _read_trace(await asyncio.to_thread(read_report, trace)) if traced else {}
            return SuiteRun(digest, result, (perf_counter() - start) * 1000, is_on_copy=True), tests

    async def _read_changed(self, files: Iterable[Path]) -> dict[Path, bytes]:
        try:
            return await asyncio.to_thread(lambda: {file: read_file(file, MAX_CHANGED_BYTES) for file in files})
        except FileError as error:
            self.is_broken = True
            raise OSError(error.message) from error

    def _name(self, file: Path) -> str:
        return file.relative_to(self._root).as_posix()

    async def _ask(self, request: Mapping[str, Any], limits: ResourceLimits) -> Mapping[str, Any]:
        data = json.dumps(request).encode() + b"\n"
        counting: asyncio.Task[None] | None = None
        try:
            if self.is_broken:
                raise OSError("it was closed")
            counting = asyncio.ensure_future(self._limit_count(limits.processes))
            async with asyncio.timeout(limits.wall_s + GRACE_S):
                self._writing = asyncio.ensure_future(asyncio.to_thread(_write_all, self._requests, data))
                await asyncio.shield(self._writing)
                line = await self._tree.output.readline()
            answer: Any = json.loads(line or b"null")
            if not isinstance(answer, dict):
                raise OSError("it gave no answer")
            return cast("Mapping[str, Any]", answer)
        except BaseException as error:
            # the answer to this request would be taken for that to the next one
            self.is_broken = True
            await self._tree.end(0.0)
            if not isinstance(error, OSError | TimeoutError | ValueError):
                raise
            raise OSError(f"the warm process of the tests has ended: {error}") from error
        finally:
            if counting:
                counting.cancel()

    async def _limit_count(self, limit: int) -> None:
        """End everything when there are more processes than the limit."""
        while True:
            await asyncio.sleep(COUNT_INTERVAL_S)
            if len(await self._tree.find_processes()) > limit:
                self.is_broken = True
                await self._tree.end(0.0)
                return


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read_trace(text: str) -> dict[str, TracedTest]:
    try:
        found: dict[str, Any] = json.loads(text or "{}")
        return {
            name: TracedTest(bool(test["passed"]), {int(line): int(count) for line, count in test["lines"].items()})
            for name, test in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
