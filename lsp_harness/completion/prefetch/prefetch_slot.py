"""Work done before it is asked for: at most one piece per document, and nothing that anybody waits for."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from lsp_harness.errors import HarnessError
from lsp_harness.workspace.cursor import Cursor

log = logging.getLogger(__name__)

Kind = Literal["glance", "warm", "speculate"]
"""A glance evaluates the shortest prompt only, and so covers no place."""
COVERING: tuple[Kind, ...] = ("warm", "speculate")
Work = Callable[[], Coroutine[Any, Any, None]]


class _Piece(NamedTuple):
    kind: Kind
    cursor: Cursor
    task: "asyncio.Task[None]"


class Ahead:
    """The pieces under way, by document."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Piece] = {}

    def start(self, kind: Kind, cursor: Cursor, work: Work) -> None:
        """Replaces what is under way for the document of `cursor`, the place this is about."""
        uri = cursor.document.uri
        self.stop(uri)
        task = asyncio.ensure_future(_quiet(work))
        self._pieces[uri] = _Piece(kind, cursor, task)
        task.add_done_callback(lambda done: self._ended(uri, done))

    def stop(self, uri: str, kind: Kind | None = None) -> None:
        """End what is under way for a document, if it is of that kind."""
        if (piece := self._pieces.get(uri)) and kind in (None, piece.kind):
            del self._pieces[uri]
            piece.task.cancel()

    def covers(self, cursor: Cursor, kind: Kind | None = None) -> bool:
        """Whether something of that kind is under way for this place, or for where these characters were typed from."""
        piece = self._pieces.get(cursor.document.uri)
        return piece is not None and piece.kind in ((kind,) if kind else COVERING) and cursor.follows(piece.cursor)

    async def settled(self, uri: str) -> None:
        """Wait for the work under way, for callers that have no events to wait for."""
        if piece := self._pieces.get(uri):
            await asyncio.wait({piece.task})

    def close(self) -> None:
        """End all of it."""
        for uri in list(self._pieces):
            self.stop(uri)

    async def aclose(self) -> None:
        """The same, and wait for the ends."""
        tasks = [piece.task for piece in self._pieces.values()]
        self.close()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, uri: str, task: "asyncio.Task[None]") -> None:
        if (piece := self._pieces.get(uri)) and piece.task is task:
            del self._pieces[uri]
        if not task.cancelled() and (error := task.exception()):
            log.error("work ahead of %s failed", uri, exc_info=error)


async def _quiet(work: Work) -> None:
    # what the engine cannot do now, the request itself will tell
    with suppress(HarnessError):
        await work()
