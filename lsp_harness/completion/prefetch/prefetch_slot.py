"""Background work for the next completion of one document: at most one task, and no request waits for it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from lsp_harness.completion.prefetch.background_tasks import BackgroundTasks
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.errors import HarnessError
from lsp_harness.workspace.cursor import Cursor

log = logging.getLogger(__name__)

Kind = Literal["glance", "warm", "speculate"]
"""`glance` evaluates only the shortest prompt, so it prepares no place completely; `warm` evaluates the prompts of a
place; `speculate` generates the completion that follows if the displayed one is accepted."""
COMPLETE_KINDS: tuple[Kind, ...] = ("warm", "speculate")
PrefetchFunction = Callable[[], Coroutine[Any, Any, None]]
"""Prepares or generates the completion."""


class _Prefetch(NamedTuple):
    kind: Kind
    cursor: Cursor
    task: "asyncio.Task[None]"


class PrefetchSlot:
    """The place for the prefetch of one document, at most one at a time.

    Attributes:
        prepared_places: The place of the last request or preparation, and the place of a speculation.
        repository: The code of other files that was chosen for the prompts of the document.
    """

    def __init__(self, tasks: BackgroundTasks, repository: RepositoryChoice) -> None:
        self._tasks = tasks
        self.repository = repository
        self.prepared_places: list[Cursor] = []
        self._prefetch: _Prefetch | None = None

    def start(self, kind: Kind, cursor: Cursor, run: PrefetchFunction) -> None:
        """Start a prefetch for `cursor`, in place of the one under way."""
        self.cancel()
        task = asyncio.ensure_future(_ignore_harness_errors(run))
        self._prefetch = _Prefetch(kind, cursor, task)
        self._tasks.add(task)
        uri = cursor.document.uri
        task.add_done_callback(lambda finished_task: self._finish(uri, finished_task))

    def cancel(self, kind: Kind | None = None) -> None:
        """Cancel the prefetch under way, if it is of that kind."""
        prefetch = self._prefetch
        if prefetch and kind in (None, prefetch.kind):
            self._prefetch = None
            prefetch.task.cancel()

    def covers(self, cursor: Cursor, kind: Kind | None = None) -> bool:
        """Return whether a prefetch is under way for this place, or for the place where the user began to type."""
        prefetch = self._prefetch
        kinds = (kind,) if kind else COMPLETE_KINDS
        return prefetch is not None and prefetch.kind in kinds and cursor.follows(prefetch.cursor)

    async def wait_until_idle(self) -> None:
        """Wait for the prefetch under way, for callers that have no event to wait for."""
        if self._prefetch:
            await asyncio.wait({self._prefetch.task})

    def _finish(self, uri: str, task: "asyncio.Task[None]") -> None:
        if self._prefetch and self._prefetch.task is task:
            self._prefetch = None
        if not task.cancelled() and (error := task.exception()):
            log.error("the prefetch for %s failed", uri, exc_info=error)


async def _ignore_harness_errors(run: PrefetchFunction) -> None:
    # The next request of the user reports the same error.
    with suppress(HarnessError):
        await run()
