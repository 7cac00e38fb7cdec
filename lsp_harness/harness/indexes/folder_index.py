"""The index of one workspace folder. A process writes it, and threads of this process read it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, StoreError
from lsp_harness.index.index_executor import IndexThread
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.index_place import prepare_place
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.unsaved_text import UnsavedText

log = logging.getLogger(__name__)

T = TypeVar("T")
POLL_INTERVAL_S = 0.05
REPORT_WAIT_S = 2.5
"""Time after which the index has read a file that was reported, if it reads the file at all."""
OTHER_PROCESS_WAIT_S = 1.0
"""Time after which the index is taken to be kept by another process, if ours did not start."""
BEING_MADE = "the index is being made"
BEING_UPDATED = "the index is being brought up to date"
IndexMessage = Mapping[str, Any]
"""A message of the process that keeps an index.

Its `state` is `waiting`, `scanning`, `ready`, `paused`, `polling` or `ended`.
"""
OnIndexMessage = Callable[[Path, IndexMessage], None]
"""Called on the event loop with a folder and a message of the process that keeps its index, if it is our process."""


class FolderIndex:
    """The index of one workspace folder. It runs the questions of `query`, whose URIs are ignored.

    Attributes:
        root: The workspace folder.
        follow: Whether the process watches the folder for changes.
        last_message: The last message of the process; `waiting` while the process of another front end keeps the index.
        update_count: How often the process reported that the index is up to date.
        place: The files of the index.
        query: The questions to the index.
    """

    def __init__(
        self,
        root: Path,
        on_message: OnIndexMessage,
        unsaved_texts: "Callable[[], Mapping[str, UnsavedText]]" = dict,
        *,
        follow: bool,
    ) -> None:
        """Start to update the index.

        Args:
            root: The workspace folder.
            on_message: Called with each message of the process that keeps the index.
            unsaved_texts: Returns the unsaved texts by their paths in the folder.
            follow: Whether the process watches the folder for changes.

        Raises:
            OSError: There is no place for the index.
        """
        self.root = root
        self.follow = follow
        self.last_message: IndexMessage = {"state": "waiting"}
        self.update_count = 0
        self.place = prepare_place(root)
        self._on_message = on_message
        self._started_s = monotonic()
        self._reported: dict[str, float] = {}
        """File that was written, and that the index may not have read yet → the time of its report."""
        self._rescan_from: int | None = None
        """The number of updates at the last order to look at every file."""
        # Slow questions have their own thread, so that completions do not wait for them.
        self._quick, self._slow = IndexThread(self.place.database), IndexThread(self.place.database)
        self._unsaved_texts = unsaved_texts
        self._keeper = IndexKeeper(self.place, self._handle_message, follow=follow)

    @cached_property
    def query(self) -> "IndexQuery":
        """The questions to this index."""
        from lsp_harness.index.index_query import IndexQuery

        return IndexQuery(self)

    async def run(self, uri: str, question: "Callable[[IndexView], T]", default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question, or `default` if the index was closed or is damaged.

        Its keeper repairs it.
        """
        thread = self._slow if is_slow else self._quick
        try:
            return await thread.run(question, default, self._unsaved_texts())
        except StoreError as error:
            log.warning("%s", error.message)
            return default

    @property
    def is_kept_here(self) -> bool:
        """True if our process updates the index, and not that of another front end."""
        return self._keeper.is_running

    def prioritize(self, path: str) -> None:
        """Read a file before others."""
        self._keeper.prioritize([path])

    def report_change(self, path: str) -> None:
        """Update a file that was written. This does nothing if the process does not watch the folder."""
        if self.follow:
            self._reported[path] = monotonic()
            self._keeper.report_changes([path])

    def rescan(self) -> None:
        """Look at every file again, because other files may be ignored now, or very many have changed."""
        if self.is_kept_here:
            self._rescan_from = self.update_count
        self._keeper.rescan()

    async def wait_until_complete(self, limit_s: float) -> str:
        """Wait until the index knows every file of the folder as it is, and return why it does not. Empty if it does.

        Args:
            limit_s: How long to wait.
        """
        deadline_s = monotonic() + limit_s
        while reason := await self._find_gap():
            state = self.last_message["state"]
            if state in ("paused", "ended"):
                return f"the index is not kept up to date: {self.last_message.get('why', 'its process ended')}"
            if monotonic() >= deadline_s:
                return reason
            # the process of another front end sends no message, and no message names the files that were read
            await asyncio.sleep(POLL_INTERVAL_S)
        return ""

    async def _find_gap(self) -> str:
        """Return why the index does not know the folder as it is, or an empty text."""
        if not await self.query.is_complete(self.root.as_uri()):
            return BEING_MADE
        if self.is_kept_here:
            is_read = self.update_count > 0 and self.last_message["state"] != "scanning"
        else:
            # for a moment nobody knows whose process it will be
            is_read = self.update_count > 0 or monotonic() - self._started_s > OTHER_PROCESS_WAIT_S
        if not is_read:
            return BEING_UPDATED
        if self._rescan_from is not None:
            if self.is_kept_here and self.update_count <= self._rescan_from:
                return BEING_UPDATED
            self._rescan_from = None
        for path, reported_s in tuple(self._reported.items()):
            # a file that the index leaves out never gets into it
            if monotonic() - reported_s < REPORT_WAIT_S and not await self._knows(path):
                return BEING_UPDATED
            self._reported.pop(path, None)
        return ""

    async def _knows(self, path: str) -> bool:
        """Return whether the index has the present text of a file. One that was removed counts as known."""
        try:
            data = read_file(self.root / path, MAX_TEXT_BYTES)
        except FileError:
            return True
        return await self.query.has_text(self.root.as_uri(), path, data)

    async def aclose(self) -> None:
        await self._keeper.close()
        self._handle_message({"state": "ended"})
        await asyncio.gather(self._quick.aclose(), self._slow.aclose())

    def _handle_message(self, message: IndexMessage) -> None:
        self.last_message = message
        self.update_count += message["state"] == "ready"
        self._on_message(self.root, message)
