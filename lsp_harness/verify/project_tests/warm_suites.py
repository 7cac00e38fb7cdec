"""The warm process of tests of one client: started at the first use, and ended after a time without use."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic

from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tests.project_copy import TooLargeError
from lsp_harness.verify.project_tests.suite_runner import SuiteRunner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker

IDLE_S = 20.0
MAX_AGE_S = 300.0
"""Age after which the copy of the project is made again, because other files of the project may have changed."""
RETRY_S = 60.0
"""Time after which a process that did not start is tried again. Each try copies the project."""
TEST_S = 2.0
"""Seconds of the processor for one test."""


class WarmSuites:
    """Keeps one worker, that of the project which was tested last."""

    def __init__(self) -> None:
        self._worker: SuiteWorker | None = None
        self._key: tuple[Path, Path] | None = None
        self._started_s = 0.0
        self._failed: tuple[tuple[Path, Path], float] | None = None
        self._is_outdated = False
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
        if runner.python is None or not hasattr(os, "fork"):
            return None
        async with self._lock:
            key = root, runner.python
            is_old = self._is_outdated or monotonic() - self._started_s > MAX_AGE_S
            if self._worker and (self._key != key or is_old or self._worker.is_broken):
                await self._close()
            if self._worker is None:
                if self._failed and self._failed[0] == key and monotonic() - self._failed[1] < RETRY_S:
                    return None
                self._is_outdated = False
                try:
                    self._worker = await SuiteWorker.start(runner, root, sandbox, limits, TEST_S)
                except (OSError, TooLargeError):
                    # the tests run in a process of their own then, which says what is wrong
                    self._failed = key, monotonic()
                    return None
                self._key, self._started_s = key, monotonic()
            self._schedule_end()
            return self._worker

    def record_file_change(self, file: Path | None) -> None:
        """Use the present content of a file that changed on disk, or make the copy of the project again before the
        next use. None stands for any file."""
        if not (self._worker and file and self._worker.follow(file)):
            # without a worker, the copy may be made just now
            self._is_outdated = True

    async def aclose(self) -> None:
        """End the process."""
        if self._closing:
            self._closing.cancel()
        for task in self._tasks:
            task.cancel()
        async with self._lock:
            await self._close()

    async def _close(self) -> None:
        worker, self._worker = self._worker, None
        if worker:
            await worker.aclose()

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
                if self._worker and self._worker.is_busy:
                    self._schedule_end()
                else:
                    await self._close()
