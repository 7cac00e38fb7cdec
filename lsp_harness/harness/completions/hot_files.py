"""The prompts of the files that the user opens most, evaluated while nothing else happens.

When such a file is opened, the engine has the prompt at its last cursor in memory or on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import HarnessError
from lsp_harness.harness.completions.file_visits import FileVisit
from lsp_harness.harness.completions.visited_files import VisitedFiles, find_offset
from lsp_harness.harness.services import Services
from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot

IDLE_S = 10.0
"""Time without a key or a request of the user after which the work begins."""
Prepare = Callable[[Snapshot, int], Awaitable[None]]
"""Evaluates the prompt at a byte offset of a text that is not open."""


class HotFiles:
    """The work on the most opened files of one client. It ends at once when the user does something.

    Args:
        services: The shared parts.
        visited_files: The files that the user visits.
        prepare: Evaluates a prompt.
    """

    def __init__(self, services: Services, visited_files: VisitedFiles, prepare: Prepare) -> None:
        self._services = services
        self._visited_files = visited_files
        self._prepare = prepare
        self._prepared: dict[Path, tuple[object, ...]] = {}
        """The version of each file and the place that were prepared."""
        self._is_planned = False
        self._idle_time_s = 0.0
        self._task: asyncio.Task[None] | None = None

    def postpone(self) -> None:
        """Record that the user does something: stop, and begin again after `IDLE_S` without anything."""
        self.stop()
        self._idle_time_s = self._services.clock.now_s() + IDLE_S
        if not self._is_planned and self._services.works_ahead and self._services.config.background.hot_files > 0:
            self._is_planned = True
            self._services.clock.call_later(IDLE_S, self._start)

    def stop(self) -> None:
        """Stop the work under way. The engine keeps what it has evaluated so far."""
        task, self._task = self._task, None
        if task:
            task.cancel()

    async def wait_until_idle(self) -> None:
        """Wait for the work under way, for callers that have no event to wait for."""
        if self._task:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        task = self._task
        self.stop()
        if task:
            await asyncio.wait({task})

    def _start(self) -> None:
        rest_s = self._idle_time_s - self._services.clock.now_s()
        engines = self._services.engines
        if rest_s <= 0 and engines.is_running and engines.current.state == "busy":
            # what follows the last request of the user is still evaluated
            rest_s = IDLE_S
        if rest_s > 0:
            self._services.clock.call_later(rest_s, self._start)
            return
        self._is_planned = False
        if self._is_allowed():
            self._task = asyncio.ensure_future(self._run())

    def _is_allowed(self) -> bool:
        services = self._services
        engines, config = services.engines, services.config
        # it must neither start an engine nor send files that nobody opened to a remote server
        is_engine_idle = engines.is_own and engines.is_running and engines.current.state == "ready"
        return is_engine_idle and config.completion.warm and not services.background.is_off

    async def _run(self) -> None:
        files = list(islice(self._visited_files.most_opened(), self._services.config.background.hot_files))
        for file, visit in files:
            # the user's own request will report what is wrong with the engine
            with suppress(HarnessError, OSError):
                await self._prepare_file(file, visit)

    async def _prepare_file(self, file: Path, visit: FileVisit) -> None:
        version = (file.stat().st_mtime_ns, visit.line, visit.column)
        if self._prepared.get(file) == version:
            return
        data = await asyncio.to_thread(read_file, file)
        text = Document.from_text(file.as_uri(), data, language=visit.language)
        snapshot = self._services.workspace.snapshot(text)
        # the rules may have changed since the visit
        if self._services.workspace.private_reason(snapshot) or (offset := find_offset(text, visit)) is None:
            return
        await self._prepare(snapshot, offset)
        self._prepared[file] = version
