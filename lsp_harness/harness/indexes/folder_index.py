"""The index of one workspace folder, as a front end has it: a process updates it, and threads read it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lsp_harness.errors import StoreError
from lsp_harness.index.index_executor import IndexThread
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import NO_UNSAVED_TEXTS, IndexView
from lsp_harness.index.unsaved_text import UnsavedText

log = logging.getLogger(__name__)

T = TypeVar("T")
IndexMessage = Mapping[str, Any]
MessageListener = Callable[[Path, IndexMessage], None]
"""Called on the event loop with a workspace folder and a message of the process that updates its index."""


class FolderIndex:
    """The index of one workspace folder. It runs the questions of `query`, whose URIs are ignored.

    Attributes:
        root: The workspace folder.
        follow: Whether changes on disk are taken up.
        place: The files of the index.
        message: The last message of the process. Its state is `waiting` while the process of another front end updates
            the index.
        update_count: The number of finished updates.
        query: The questions to this index.
    """

    def __init__(
        self,
        root: Path,
        on_message: MessageListener,
        unsaved_texts: Callable[[], Mapping[str, UnsavedText]] = lambda: NO_UNSAVED_TEXTS,
        *,
        follow: bool,
    ) -> None:
        """Start to update the index.

        Args:
            root: The workspace folder.
            on_message: Called with each message of the process that updates the index.
            unsaved_texts: Returns the unsaved texts by their paths in the folder.
            follow: Whether to take up changes on disk after the first update.

        Raises:
            OSError: There is no place for the index.
        """
        self.root = root
        self.follow = follow
        self.message: IndexMessage = {"state": "waiting"}
        self.update_count = 0
        self.place = prepare_place(root)
        self._on_message = on_message
        self._unsaved_texts = unsaved_texts
        # questions for a key press do not wait for slow ones
        self._quick, self._slow = IndexThread(self.place.database), IndexThread(self.place.database)
        self.query = IndexQuery(self)
        self._keeper = IndexKeeper(self.place, self._receive, follow=follow)

    async def run(self, uri: str, question: Callable[[IndexView], T], default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question, or `default` if the index was closed or is damaged. Its keeper repairs it."""
        thread = self._slow if is_slow else self._quick
        try:
            return await thread.run(question, default, self._unsaved_texts())
        except StoreError as error:
            log.warning("%s", error.message)
            return default

    def prioritize(self, path: str) -> None:
        """Index a file before others."""
        self._keeper.prioritize([path])

    def report_change(self, path: str) -> None:
        """Index a file that was written, if changes are taken up."""
        if self.follow:
            self._keeper.report_changes([path])

    def rescan(self) -> None:
        """Check all files again, because other files may be ignored now."""
        self._keeper.rescan()

    async def aclose(self) -> None:
        """Stop the process and the threads."""
        await self._keeper.close()
        self._receive({"state": "ended"})
        await asyncio.gather(self._quick.aclose(), self._slow.aclose())

    def _receive(self, message: IndexMessage) -> None:
        self.message = message
        self.update_count += message["state"] == "ready"
        self._on_message(self.root, message)
