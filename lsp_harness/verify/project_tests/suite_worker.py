"""A warm process that runs the tests of one project on many texts, one after another.

A new process of pytest takes half a second before its first test. The worker forks instead, which takes milliseconds.
In a sandbox with overlays, each run has its own view of the project, at its own path. In others, all runs share one
copy of the project, so files that tests write stay there.
"""

import asyncio
import base64
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import Any, Literal, cast

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.ignore_files import IGNORE_FILE_NAMES
from lsp_harness.process.pipe_writing import write_some
from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.process.sandbox.confined_run import (
    COUNT_INTERVAL_S,
    ConfinedResult,
    confined_environment,
    limit_resources,
)
from lsp_harness.process.sandbox.private_view import LAUNCHER, describe_view
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy
from lsp_harness.process.scratch_folder import ScratchFolder
from lsp_harness.text.edit import Edit
from lsp_harness.text.ulid import make_ulid
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.project_tests import line_evidence
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, locate_paths
from lsp_harness.verify.project_tests.hidden_files import list_private_paths
from lsp_harness.verify.project_tests.project_overlay import copy_project, hide_home
from lsp_harness.verify.project_tests.project_view import list_view_folders, view_environment
from lsp_harness.verify.project_tests.python_runners import pytest_options
from lsp_harness.verify.project_tests.recorded_lines import name_lines, read_lines, startup_environment, write_startup
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner

PROGRAM = Path(__file__).with_name("pytest_worker.py")
"""The program of the worker. It is not imported, because this package must work without pytest."""
SANDBOX_FILES = ("namespace_launcher.py", "kernel_calls.py", "scratch_layers.py", "call_filter.py")
COPIED = (
    PROGRAM,
    PROGRAM.with_name("variant_runs.py"),
    Path(line_evidence.__file__),
    *(LAUNCHER.with_name(name) for name in SANDBOX_FILES),
)
"""The files beside which the worker runs: its program, and the modules that it imports."""
RESULTS = ("report", "trace", "lines", "variants", "output")
VIEW_PROBLEM = "view"
"""The names of the results of a run, and that of the reason why there is no view (see `pytest_worker`)."""
START_S = 20.0
"""How long the start of the worker may take."""
WRITE_INTERVAL_MS = 200
"""Milliseconds after which a writer looks whether its process has ended."""
GRACE_S = 5.0
"""Time after the limit of a run in which the worker itself has to answer."""


MAX_CHANGED_FILES = 32
"""Most files that changed since the copy was made. The content of each of them is sent with each request."""
MAX_CHANGED_BYTES = 1 << 20
"""Most bytes of such a file."""


@dataclass(frozen=True, slots=True)
class WorkerProject:
    """The project of a worker.

    Attributes:
        root: The folder of the project.
        copy: The folder in which the tests run: the project itself, or a copy of it.
        folder: The folder of the part of the project whose tests run, relative to the project.
        files: The files that were copied, or None if nothing was.
    """

    root: Path
    copy: Path
    folder: PurePosixPath
    files: frozenset[Path] | None

    def locate(self, file: Path) -> Path:
        """Return where the tests see a file of the project."""
        return self.copy / file.relative_to(self.root) if self.files is not None else file


@dataclass(frozen=True, slots=True)
class TracedTest:
    """The lines of one file that a test ran.

    Attributes:
        is_passed: Whether the test passed.
        lines: Line, from 1 → how often it ran.
        ends: The lines of the file in the traceback of a failure, the innermost first. Without such a line, as when an
            assertion of the test itself fails, the last line of the file that ran before the failure.
    """

    is_passed: bool
    lines: Mapping[int, int]
    ends: tuple[int, ...] = ()


VariantResult = Literal["passed", "failed", "open", "late"]
"""The result of some tests on a variant of a file, as `variant_runs` names it."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Variants of one file on which the same tests run.

    Attributes:
        file: The file.
        edits: The edits of each variant.
        seconds: The time after which no other variant is tried.
        variant_s: The time after which the tests of one variant are ended. It counts as failed then.
    """

    file: Path
    edits: Sequence[Sequence[Edit]]
    seconds: float
    variant_s: float


class SuiteWorker:
    """The warm process that runs the tests of a project, with its copy of the project. Call `start` first and `aclose`
    at the end.

    Attributes:
        is_broken: Whether it can run no more tests.
    """

    def __init__(
        self, project: WorkerProject, folder: ScratchFolder, tree: ProcessTree, requests: int, test_s: float
    ) -> None:
        self._project, self._imported = project, frozenset[Path]()
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
                last = "pytest cannot be imported"
                while not (line := await worker._tree.output.readline()).startswith(b'{"ready"'):
                    if not line:
                        raise OSError(last)
                    last = line.decode("utf-8", "replace").strip()
                worker._imported = frozenset(map(Path, json.loads(line)["imported"]))
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
        for file in COPIED:
            await asyncio.to_thread(shutil.copyfile, file, scratch / file.name)
        startup = await asyncio.to_thread(write_startup, scratch)
        extra = {**(runner.env or {}), **startup_environment(startup)}
        view = None
        if sandbox.has_overlays:
            project = WorkerProject(root, root, runner.folder, None)
            overlays = await asyncio.to_thread(list_view_folders, root, runner.programs)
            layer = scratch / "layer"
            layer.mkdir()
            policy = SandboxPolicy(root / runner.folder, limits=limits, overlays=overlays, makes_views=True)
            private = await asyncio.to_thread(list_private_paths, root, needed=runner.programs)
            view = describe_view(replace(policy, absent=private, layer=layer, makes_views=False))
            environment = view_environment(extra.items())
        else:
            copy = scratch / "project"
            project = WorkerProject(root, copy, runner.folder, await asyncio.to_thread(copy_project, root, copy))
            policy = SandboxPolicy(copy / runner.folder, (scratch,))
            policy = hide_home(policy, (*runner.programs, root), limits)
            environment = confined_environment(str(scratch), str(scratch), extra)
        command = sandbox.wrap([str(runner.python), str(scratch / PROGRAM.name), json.dumps({"view": view})], policy)
        reading, writing = os.pipe()
        try:
            tree = await ProcessTree.start(
                command,
                mark=make_ulid(),
                cwd=policy.folder,
                env=environment,
                prepare=lambda: limit_resources(limits),
                stdin=reading,
            )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        return cls(project, folder, tree, writing, test_s)

    @property
    def is_busy(self) -> bool:
        """Return whether tests run now."""
        return self._lock.locked()

    def follow(self, file: Path) -> bool:
        """Use the present content of a file that changed on disk from now on, without a new start.

        Returns:
            Whether this is possible. It is not if a plug-in has imported the file. In a copy of the project, it is not
            if the file is new or gone, or decides which files are copied.
        """
        if self._project.locate(file).resolve() in self._imported:
            return False
        if self._project.files is None:
            return True
        is_plain = file in self._project.files and file.is_file() and file.name not in IGNORE_FILE_NAMES
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
        run, _ = await self._run(texts, choice)
        return run

    async def run_variants(
        self, texts: Mapping[Path, bytes], choice: SuiteChoice, variants: Variants
    ) -> list[VariantResult]:
        """Run tests on variants of a file, until the first test of each fails.

        Those are left open that change something outside of functions, and all if the tests pass without a variant.

        Raises:
            OSError: The process has ended.
        """
        _, contents = await self._run(texts, choice, variants=variants)
        try:
            results: list[VariantResult] = json.loads(contents["variants"] or b"[]")
        except ValueError:
            results = []
        return results if len(results) == len(variants.edits) else ["open"] * len(variants.edits)

    async def trace(
        self, texts: Mapping[Path, bytes], choice: SuiteChoice, file: Path
    ) -> tuple[SuiteRun, Mapping[str, TracedTest]]:
        """Run tests, and return for each test the lines of a file that it runs.

        Raises:
            OSError: The process has ended.
        """
        run, contents = await self._run(texts, choice, traced=file)
        return run, _read_trace(contents["trace"].decode("utf-8", "replace"))

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
        self,
        texts: Mapping[Path, bytes],
        choice: SuiteChoice,
        *,
        traced: Path | None = None,
        variants: Variants | None = None,
    ) -> tuple[SuiteRun, Mapping[str, bytes]]:
        async with self._lock:
            start = perf_counter()
            if not self._imported.isdisjoint(self._project.locate(file).resolve() for file in texts):
                raise OSError("a plug-in of pytest has imported the proposed file already")
            texts = {**await self._read_changed(self._changed - texts.keys()), **texts}
            results = {name: self._scratch / f"result-{name}" for name in RESULTS}
            options = pytest_options(results["report"], self._scratch / "cache", records_lines=bool(choice.lines))
            lines = {self._project.locate(file.resolve()): numbers for file, numbers in choice.lines.items()}
            request = {
                "texts": {
                    str(self._project.locate(file)): base64.b64encode(data).decode() for file, data in texts.items()
                },
                "arguments": [*options, f"--maxfail={choice.max_failures}", *choice.files],
                "folder": str(self._project.copy / self._project.folder),
                "wall_s": choice.limits.wall_s,
                "test_s": min(self._test_s, choice.test_s or self._test_s),
                "traced": str(self._project.locate(traced)) if traced else "",
                "lines": name_lines(lines),
                "variants": self._describe_variants(variants) if variants else None,
                "files": {name: str(file) for name, file in results.items()},
            }
            answer, contents = await self._ask(request, choice.limits)
            if problem := contents.get(VIEW_PROBLEM):
                raise OSError(problem.decode("utf-8", "replace"))
            end = "timeout" if "timeout" in answer else "exited"
            result = ConfinedResult(end, int(answer.get("code", -9)), contents["output"])
            report = contents["report"].decode("utf-8", "replace")
            digest = digest_output(report, "pytest", str(self._project.copy)) if report else Digest()
            digest = locate_paths(digest, self._project.copy, self._project.folder)
            ran = read_lines(contents["lines"].decode("utf-8", "replace"), choice.lines)
            ms = (perf_counter() - start) * 1000
            return SuiteRun(digest, result, ms, is_on_copy=self._project.files is not None, lines=ran), contents

    def _describe_variants(self, variants: Variants) -> dict[str, Any]:
        return {
            "path": str(self._project.locate(variants.file)),
            "edits": [[(e.start, e.end, base64.b64encode(e.new).decode()) for e in edits] for edits in variants.edits],
            "seconds": variants.seconds,
            "variant_s": variants.variant_s,
        }

    async def _read_changed(self, files: Iterable[Path]) -> dict[Path, bytes]:
        try:
            return await asyncio.to_thread(lambda: {file: read_file(file, MAX_CHANGED_BYTES) for file in files})
        except FileError as error:
            self.is_broken = True
            raise OSError(error.message) from error

    async def _ask(
        self, request: Mapping[str, Any], limits: ResourceLimits
    ) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        data = json.dumps(request).encode() + b"\n"
        counting: asyncio.Task[None] | None = None
        try:
            if self.is_broken:
                raise OSError("it was closed")
            counting = asyncio.ensure_future(self._limit_count(limits.processes))
            async with asyncio.timeout(limits.wall_s + GRACE_S):
                self._writing = asyncio.ensure_future(asyncio.to_thread(self._write_all, data))
                await asyncio.shield(self._writing)
                line = await self._tree.output.readline()
                answer: Any = json.loads(line or b"null")
                if not isinstance(answer, dict):
                    raise OSError("the process gave no answer")
                sizes = cast("Mapping[str, int]", answer["files"])
                contents = {name: await self._tree.output.readexactly(size) for name, size in sizes.items()}
            return cast("Mapping[str, Any]", answer), contents
        except BaseException as error:
            # the answer to this request would be taken for that to the next one
            self.is_broken = True
            await self._tree.end(0.0)
            if not isinstance(error, OSError | TimeoutError | ValueError | EOFError):
                raise
            raise OSError(f"the warm process of the tests has ended: {error}") from error
        finally:
            if counting:
                counting.cancel()

    def _write_all(self, data: bytes) -> None:
        """Write a request. A process that has ended reads nothing, while others may still hold its end of the pipe."""
        while data and not self.is_broken:
            data = write_some(self._requests, data, WRITE_INTERVAL_MS)

    async def _limit_count(self, limit: int) -> None:
        """End everything when there are more processes than the limit."""
        while True:
            await asyncio.sleep(COUNT_INTERVAL_S)
            if len(await self._tree.find_processes()) > limit:
                self.is_broken = True
                await self._tree.end(0.0)
                return


def _read_trace(text: str) -> dict[str, TracedTest]:
    try:
        found: dict[str, Any] = json.loads(text or "{}")
        return {
            name: TracedTest(
                bool(test["passed"]),
                {int(line): int(count) for line, count in test["lines"].items()},
                tuple(int(line) for line in test["ends"]),
            )
            for name, test in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
