"""Questions to the index of a workspace folder, from wherever it is read."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.store.database import Reader

T = TypeVar("T")


class IndexQuery(Protocol):
    """The index of the workspace folder that a document lies in."""

    def ask(self, uri: str, read: Callable[[Reader], T], otherwise: T, *, slow: bool = False) -> Awaitable[T]:
        """Return the result of `read`, or `otherwise` if the folder has no index.

        Args:
            uri: The document whose folder is asked.
            read: The question. It runs in a thread of the index.
            otherwise: The answer where there is no index, or it cannot be read.
            slow: Whether the question takes longer than a key press may take.
        """
        ...

    def opened(self, uri: str) -> Mapping[str, UnsavedText]:
        """Return the open, edited texts of the same folder, by their path in it."""
        ...


class DirectIndexQuery:
    """An index that is read in the calling thread, for commands that do nothing else meanwhile."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def ask(self, uri: str, read: Callable[[Reader], T], otherwise: T, *, slow: bool = False) -> T:
        return read(self._reader)

    def opened(self, uri: str) -> Mapping[str, UnsavedText]:
        return {}
