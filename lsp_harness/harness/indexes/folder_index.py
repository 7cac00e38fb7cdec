"""The index of one workspace folder. A process writes it, and threads of this process read it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsp_harness.errors import StoreError
from lsp_harness.index.index_executor import IndexThread
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.index_place import prepare_place

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.unsaved_text import UnsavedText

log = logging.getLogger(__name__)

T = TypeVar("T")
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
            self._keeper.report_changes([path])

    def rescan(self) -> None:
        """Look at every file again, because other files may be ignored now."""
        self._keeper.rescan()

    async def aclose(self) -> None:
        await self._keeper.close()
        self._handle_message({"state": "ended"})
        await asyncio.gather(self._quick.aclose(), self._slow.aclose())

    def _handle_message(self, message: IndexMessage) -> None:
        self.last_message = message
        self.update_count += message["state"] == "ready"
        self._on_message(self.root, message)
