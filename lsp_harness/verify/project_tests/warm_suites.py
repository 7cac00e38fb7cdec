"""The warm processes of tests of one client: started at the first use, and ended after a time without use."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from time import monotonic

from lsp_harness.process.copied_process import HAS_COPIES
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tests.project_overlay import TooLargeError
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker

IDLE_S = 20.0
MAX_AGE_S = 300.0
"""Age after which the copy of the project is made again, because other files of the project may have changed."""
RETRY_S = 60.0
"""Time after which a process that did not start is tried again. Each try copies the project."""
TEST_S = 2.0
"""Seconds of the processor for one test."""
MAX_WORKERS = 2
"""Most processes at once. The one whose last use is longest ago ends for a new one."""
Key = tuple[Path, Path, PurePosixPath]
"""The folder of the workspace, the interpreter and the folder in which the tests run."""


@dataclass(slots=True)
class _Warm:
    worker: SuiteWorker
    started_s: float
    is_outdated: bool = False


class WarmSuites:
    """Keeps a worker for each of the projects that were tested last."""

    def __init__(self) -> None:
        self._workers: dict[Key, _Warm] = {}
        self._failed: dict[Key, float] = {}
        self._changes = 0
        self._lock = asyncio.Lock()
        self._closing: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(
        self, runner: SuiteRunner, root: Path, sandbox: Sandbox, limits: ResourceLimits
    ) -> SuiteWorker | None:
        """Return a worker for a project, or None if its tests cannot run in a warm process.

        Args:
            runner: The program that runs the tests.
            root: The folder of the project.
            sandbox: The sandbox.
            limits: The limits of the process.
        """
        if runner.python is None or not HAS_COPIES:
            return None
        async with self._lock:
            key = root, runner.python, runner.folder
            warm = self._workers.pop(key, None)
            if warm and (warm.is_outdated or monotonic() - warm.started_s > MAX_AGE_S or warm.worker.is_broken):
                await warm.worker.aclose()
                warm = None
            if warm is None:
                if key in self._failed and monotonic() - self._failed[key] < RETRY_S:
                    return None
                while len(self._workers) >= MAX_WORKERS:
                    await self._workers.pop(next(iter(self._workers))).worker.aclose()
                changes = self._changes
                try:
                    worker = await SuiteWorker.start(runner, root, sandbox, limits, TEST_S)
                except (OSError, TooLargeError):
                    # the tests run in a process of their own then, which says what is wrong
                    self._failed[key] = monotonic()
                    return None
                # the copy may have been made just before a file changed
                warm = _Warm(worker, monotonic(), changes != self._changes)
            # the last one in the order of the table was used last
            self._workers[key] = warm
            self._schedule_end()
            return warm.worker

    def record_file_change(self, file: Path | None) -> None:
        """Use the present content of a file that changed on disk, or make the copy of the project again before the
        next use. None stands for any file."""
        self._changes += 1
        for warm in self._workers.values():
            if not (file and warm.worker.follow(file)):
                warm.is_outdated = True

    async def aclose(self) -> None:
        """End the warm processes of the tests."""
        if self._closing:
            self._closing.cancel()
        for task in self._tasks:
            task.cancel()
        async with self._lock:
            await self._close()

    async def _close(self) -> None:
        while self._workers:
            await self._workers.popitem()[1].worker.aclose()

    def _schedule_end(self) -> None:
        if self._closing:
            self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(IDLE_S, self._start_end)

    def _start_end(self) -> None:
        task = asyncio.ensure_future(self._end_if_idle())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_if_idle(self) -> None:
        with suppress(asyncio.CancelledError):
            async with self._lock:
                if any(warm.worker.is_busy for warm in self._workers.values()):
                    self._schedule_end()
                else:
                    await self._close()
