"""The index of the folder of a session. It is opened by the first question, because most sessions ask none."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import describe_system_error, read_file
from lsp_harness.errors import FileError, HarnessError
from lsp_harness.files.folders import resolve_links
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES

if TYPE_CHECKING:
    from lsp_harness.harness.indexes.folder_index import FolderIndex
    from lsp_harness.index.index_query import IndexQuery

FIRST_INDEX_WAIT_S = 60.0
"""How long a question waits for an index that is made or brought up to date. Then a part of it must do."""
OTHER_PROCESS_WAIT_S = 1.0
"""Time after which the index is taken to be kept by another process, if ours did not start."""
REFRESH_WAIT_S = 3.0
"""How long a question waits for the files that tools have changed."""
POLL_INTERVAL_S = 0.05
OFF = "the settings switch the index off, so only texts were searched"


FindIndex = Callable[[Path], "FolderIndex | None"]
"""Returns the index that another part of the process keeps for a folder, or None."""


class LazyIndex:
    """The index of one folder for the tools of a session.

    Args:
        root: The folder.
        is_enabled: Whether the settings allow an index.
        find_shared: Returns the index that a language server keeps for the folder, which stays open. None means that
            the session keeps one of its own.

    Attributes:
        remark: Why answers may miss something, or an empty text.
    """

    def __init__(
        self,
        root: Path,
        *,
        is_enabled: bool = True,
        find_shared: FindIndex = lambda root: None,
    ) -> None:
        self.remark = "" if is_enabled else OFF
        self._root = resolve_links(root)
        self._is_enabled = is_enabled
        self._find_shared = find_shared
        self._own: FolderIndex | None = None
        self._folder: FolderIndex | None = None
        self._has_waited = False
        self._changed: dict[str, Path] = {}

    async def ready(self, report: Callable[[str], None]) -> "IndexQuery | None":
        """Return the questions to the index when it is up to date, or after a limit of time. None without an index.

        Args:
            report: Receives the progress as lines.
        """
        folder = self.open(self._root)
        if folder is None:
            return None
        self.remark = await self._wait_until_ready(folder, report)
        if not self.remark:
            await self._wait_for_changes(folder)
        return folder.query

    def open(self, root: Path) -> "FolderIndex | None":
        """Return the index, for a subagent too. None if it is of another folder, or if there is none."""
        if not self._is_enabled or root != self._root:
            return None
        self._folder = self._own or self._find_shared(root)
        if self._folder is None:
            from lsp_harness.harness.indexes.folder_index import FolderIndex

            try:
                self._own = self._folder = FolderIndex(root, lambda root, message: None, follow=True)
            except (OSError, HarnessError) as error:
                self.remark = f"there is no index ({describe_system_error(error)}), so only texts were searched"
        return self._folder

    def refresh(self, path: Path) -> None:
        """Read a file again that a tool has changed. The next question waits for it. This opens no index."""
        if not path.is_relative_to(self._root):
            return
        name = path.relative_to(self._root).as_posix()
        self._changed[name] = path
        if self._folder:
            self._folder.report_change(name)

    async def settle(self) -> None:
        """Wait until an open index has the files that tools have changed, for a moment at most. This opens no index."""
        if self._folder and not self.remark:
            await self._wait_for_changes(self._folder)

    async def aclose(self) -> None:
        """Stop the process that this session has started, if it did."""
        own, self._own, self._folder = self._own, None, None
        self._is_enabled = False
        if own:
            await own.aclose()

    async def _wait_until_ready(self, folder: "FolderIndex", report: Callable[[str], None]) -> str:
        """Wait until the index is up to date, and return why it is not."""
        started_s, shown = monotonic(), ""
        while not folder.update_count:
            message, waited_s = folder.last_message, monotonic() - started_s
            if message["state"] in ("paused", "ended"):
                return f"the index is not kept up to date: {message.get('why', 'its process ended')}"
            is_kept_elsewhere = waited_s >= OTHER_PROCESS_WAIT_S and not folder.is_kept_here
            if is_kept_elsewhere and await folder.query.is_complete(self._root.as_uri()):
                return ""
            if self._has_waited or waited_s >= FIRST_INDEX_WAIT_S:
                self._has_waited = True
                return "the index is not complete yet, so the answer may miss files"
            text = f"indexing: {message.get('done', 0):,} of {message.get('of', 0):,} files\n"
            if message["state"] == "scanning" and text != shown:
                shown = text
                report(text)
            await asyncio.sleep(POLL_INTERVAL_S)
        return ""

    async def _wait_for_changes(self, folder: "FolderIndex") -> None:
        changed, self._changed = self._changed, {}
        if not folder.follow:
            # the settings say that changes do not update the index
            return
        deadline_s = monotonic() + REFRESH_WAIT_S
        for name, path in changed.items():
            # the process of another front end sends no event
            while monotonic() < deadline_s and not await self._knows(folder.query, name, path):  # noqa: ASYNC110
                await asyncio.sleep(POLL_INTERVAL_S)

    async def _knows(self, query: "IndexQuery", name: str, path: Path) -> bool:
        """Return whether the index has the present text of a file. A file that was removed again counts as known."""
        try:
            data = read_file(path, MAX_TEXT_BYTES)
        except FileError:
            return True
        return await query.has_text(self._root.as_uri(), name, data)
