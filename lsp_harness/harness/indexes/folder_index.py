"""The index of one workspace folder, as a front end has it: kept by a process, read in a thread that nothing else waits for."""

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
Said = Mapping[str, Any]
Heard = Callable[[Path, Said], None]
"""Called on the event loop with what the process of a folder says, where that is ours."""


class Folder:
    """The index of one workspace folder. It runs the questions of `query`, whose URIs are ignored."""

    def __init__(
        self,
        root: Path,
        heard: Heard,
        unsaved_texts: Callable[[], Mapping[str, UnsavedText]] = lambda: NO_UNSAVED_TEXTS,
        *,
        follow: bool,
    ) -> None:
        """Start to update the index.

        Args:
            root: The workspace folder.
            heard: Called with each message of the process that keeps the index.
            unsaved_texts: Returns the unsaved texts by their paths in the folder.
            follow: Whether the process watches the folder for changes.

        Raises:
            OSError: There is no place for the index.
        """
        self.root = root
        self.follow = follow
        self.said: Said = {"state": "waiting"}
        """The last that its process said; `waiting` while another front end's process keeps it."""
        self.updates = 0
        """How often it said that it was done."""
        self.place = prepare_place(root)
        self._heard = heard
        # what takes long is not in the way of what somebody types for
        self._quick, self._slow = IndexThread(self.place.database), IndexThread(self.place.database)
        self._unsaved_texts = unsaved_texts
        self.query = IndexQuery(self)
        self._keeper = IndexKeeper(self.place, self._hear, follow=follow)

    async def run(self, uri: str, question: Callable[[IndexView], T], default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question, or `default` if the index was closed or is damaged. Its keeper repairs it."""
        thread = self._slow if is_slow else self._quick
        try:
            return await thread.run(question, default, self._unsaved_texts())
        except StoreError as error:
            log.warning("%s", error.message)
            return default

    def first(self, path: str) -> None:
        """This file should be read before others."""
        self._keeper.prioritize([path])

    def changed(self, path: str) -> None:
        """This file was written; of no account where changes are not followed."""
        if self.follow:
            self._keeper.report_changes([path])

    def scan(self) -> None:
        """What is ignored may be something else now: every file is looked at again."""
        self._keeper.rescan()

    async def aclose(self) -> None:
        await self._keeper.close()
        self._hear({"state": "ended"})
        await asyncio.gather(self._quick.aclose(), self._slow.aclose())

    def _hear(self, said: Said) -> None:
        self.said = said
        self.updates += said["state"] == "ready"
        self._heard(self.root, said)
