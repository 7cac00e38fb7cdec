"""Runs questions on the database of an index: in a thread of its own, or in the calling thread.

The code that answers is imported with the first question, because a folder must open at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from lsp_harness.store.database import DatabaseReader

if TYPE_CHECKING:
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.unsaved_text import UnsavedText

T = TypeVar("T")


class IndexExecutor(Protocol):
    """Runs functions that read an index. Only `IndexQuery` and the keepers of indexes call it."""

    def run(self, uri: str, question: "Callable[[IndexView], T]", default: T, *, is_slow: bool = False) -> Awaitable[T]:
        """Return the result of a question, or `default` if the folder has no index or the index cannot be read.

        Args:
            uri: The document or the workspace folder whose index is read.
            question: The function. It may run in another thread.
            default: The answer without an index.
            is_slow: Whether the question takes longer than a key press may take.
        """
        ...


class DirectExecutor:
    """Runs questions in the calling thread, for commands that do nothing else meanwhile."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader

    async def run(self, uri: str, question: "Callable[[IndexView], T]", default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question.

        Raises:
            StoreError: The index cannot be read.
        """
        from lsp_harness.index.index_view import IndexView

        return question(IndexView(self._reader))


class IndexThread:
    """A thread that answers questions to one index, one at a time."""

    def __init__(self, database: Path) -> None:
        self._reader = DatabaseReader(database)
        self._thread = ThreadPoolExecutor(1, "index")
        self._is_closed = False

    async def run(
        self,
        question: "Callable[[IndexView], T]",
        default: T,
        unsaved: "Mapping[str, UnsavedText] | None" = None,
    ) -> T:
        """Return the result of a question, or `default` if the thread was closed.

        Args:
            question: The function. It runs in this thread.
            default: The answer of a closed thread.
            unsaved: The unsaved texts by their paths in the workspace folder.

        Raises:
            StoreError: The index cannot be read.
        """
        if self._is_closed:
            return default

        def answer() -> T:
            from lsp_harness.index.index_view import IndexView

            return question(IndexView(self._reader, unsaved or {}))

        return await asyncio.get_running_loop().run_in_executor(self._thread, answer)

    async def aclose(self) -> None:
        """Wait for the question that runs, and drop those that wait."""
        self._is_closed = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, lambda: self._thread.shutdown(cancel_futures=True))
        self._reader.close()
