"""The index of one workspace folder, as a front end has it: kept by a process, read in a thread that nothing else waits for."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lsp_harness.errors import StoreError
from lsp_harness.index.index_keeper import IndexKeeper
from lsp_harness.index.index_place import prepare_place
from lsp_harness.store.database import Reader

log = logging.getLogger(__name__)

T = TypeVar("T")
Said = Mapping[str, Any]
Heard = Callable[[Path, Said], None]
"""Called on the event loop with what the process of a folder says, where that is ours."""


class Folder:
    """The index of one workspace folder. Raises OSError where there is no place for it."""

    def __init__(self, root: Path, heard: Heard, *, follow: bool) -> None:
        self.root = root
        self.follow = follow
        self.said: Said = {"state": "waiting"}
        """The last that its process said; `waiting` while another front end's process keeps it."""
        self.updates = 0
        """How often it said that it was done."""
        self.place = prepare_place(root)
        self._heard = heard
        # what takes long is not in the way of what somebody types for
        self._quick, self._slow = _Desk(self.place.database), _Desk(self.place.database)
        self._keeper = IndexKeeper(self.place, self._hear, follow=follow)

    async def ask(self, read: Callable[[Reader], T], otherwise: T, *, slow: bool = False) -> T:
        """What `read` finds in the index; `otherwise` where the index is damaged, which its keeper will mend, or closed."""
        try:
            return await (self._slow if slow else self._quick).ask(read, otherwise)
        except StoreError as error:
            log.warning("%s", error.message)
            return otherwise

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


class _Desk:
    """A reader and the thread that it is used in: by one question at a time."""

    def __init__(self, database: Path) -> None:
        self._reader = Reader(database)
        self._thread = ThreadPoolExecutor(1, "index")
        self._closed = False

    async def ask(self, read: Callable[[Reader], T], otherwise: T) -> T:
        if self._closed:
            return otherwise
        return await asyncio.get_running_loop().run_in_executor(self._thread, read, self._reader)

    async def aclose(self) -> None:
        """Waits for the question under way, and for no other."""
        self._closed = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, lambda: self._thread.shutdown(cancel_futures=True))
        self._reader.close()
