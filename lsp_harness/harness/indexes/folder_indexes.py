"""The indexes of all workspace folders of a front end."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import HarnessError
from lsp_harness.files.folders import find_folder, find_path_inside, find_paths_inside, resolve_links
from lsp_harness.files.ignore_files import find_rules_folder
from lsp_harness.harness.indexes.folder_index import FolderIndex, OnIndexMessage
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.config.schema import Index
    from lsp_harness.harness.indexes.embedding_index import EmbeddingIndex, TextEmbedder
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.inference.embedding_recipe import EmbeddingRecipe

log = logging.getLogger(__name__)

T = TypeVar("T")


class FolderIndexes:
    """The indexes of all workspace folders of a front end.

    Args:
        on_message: Called with each message of the process that keeps an index.
        engine: Returns the engine that embeds the texts of the indexes.
        settings: Returns the present settings of the index.
        unsaved_texts: Returns the edited texts of a folder, by their path in it.
        background: The permission to embed texts.
    """

    def __init__(
        self,
        on_message: OnIndexMessage,
        engine: "Callable[[], TextEmbedder]",
        settings: "Callable[[], Index]",
        unsaved_texts: "Callable[[Path], Mapping[str, UnsavedText]]" = lambda root: {},
        background: BackgroundPermit | None = None,
    ) -> None:
        self._on_message = on_message
        self._engine = engine
        self._settings = settings
        self._unsaved_texts = unsaved_texts
        self._background = background or BackgroundPermit()
        self._folders: dict[Path, FolderIndex] = {}
        self._embedding_indexes: dict[Path, EmbeddingIndex] = {}
        self._last_embedded: dict[Path, tuple[int, Index]] = {}
        """The update and the settings for which texts were embedded last."""
        self._closing: set[asyncio.Task[None]] = set()

    @cached_property
    def query(self) -> "IndexQuery":
        """The questions to the index of the folder that contains a document."""
        from lsp_harness.index.index_query import IndexQuery

        return IndexQuery(self)

    def keep(self, roots: Sequence[Path], *, follow: bool) -> None:
        """Keep the indexes of these folders, and close all others.

        Args:
            roots: The workspace folders.
            follow: Whether changes on disk update the indexes.
        """
        for root in [root for root, folder in self._folders.items() if root not in roots or folder.follow != follow]:
            task = asyncio.ensure_future(_close(self._folders.pop(root), self._embedding_indexes.pop(root, None)))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        for root in roots:
            try:
                if root not in self._folders and root.is_dir():
                    self._folders[root] = FolderIndex(
                        root, self._on_message, partial(self._unsaved_texts, root), follow=follow
                    )
            except (OSError, HarnessError) as error:
                log.warning("%s is not indexed: %s", root, describe_system_error(error))

    def prioritize(self, root: Path | None, path: str) -> None:
        """Read a file of a folder before others."""
        if root and (folder := self._folders.get(root)):
            folder.prioritize(path)

    def report_change(self, file: Path) -> None:
        """Update the indexes after a file was written, because not every file system reports changes."""
        for root, folder in self._folders.items():
            for path in find_paths_inside(file, root):
                folder.report_change(path.as_posix())
            if (rules := find_rules_folder(file)) and (below := find_path_inside(root, rules)) and below.parts:
                # The process of the index does not watch an ignore file above the workspace folder.
                folder.rescan()

    def rescan(self) -> None:
        """Look at every file of all folders again."""
        for folder in self._folders.values():
            folder.rescan()

    async def run(self, uri: str, question: "Callable[[IndexView], T]", default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question to the folder that contains a document, or `default` if there is none."""
        root = self._root(uri)
        return await self._folders[root].run(uri, question, default, is_slow=is_slow) if root else default

    async def find_nearest(self, uri: str, task: str) -> Sequence[bytes]:
        """Return the digests of the texts that are most like a task, from the folder that contains a document.

        The result is empty if there are no vectors, or if the engine does not answer in time.
        """
        root = self._root(uri)
        return await self._embedding_index(self._folders[root]).find_nearest(task) if root else ()

    def embed(self) -> None:
        """Embed the new texts of the folders whose index our processes keep. The engine must be running."""
        for folder in self.folders:
            version = (folder.update_count, self._settings())
            if (
                folder.update_count
                and self._last_embedded.get(folder.root) != version
                and self._embedding_index(folder).request_update()
            ):
                self._last_embedded[folder.root] = version

    def _root(self, uri: str) -> Path | None:
        """Return the workspace folder that contains a document or folder, or is that folder."""
        place = find_folder(local_path(uri), self._folders)
        return place.folder if place else None

    def _embedding_index(self, folder: FolderIndex) -> "EmbeddingIndex":
        # The import of numpy takes 0.1 s.
        from lsp_harness.harness.indexes.embedding_index import EmbeddingIndex

        if folder.root not in self._embedding_indexes:
            self._embedding_indexes[folder.root] = EmbeddingIndex(
                folder, self._engine, self._make_recipe, self._background
            )
        return self._embedding_indexes[folder.root]

    def _make_recipe(self) -> "EmbeddingRecipe":
        from lsp_harness.inference.embedding_recipe import make_recipe

        return make_recipe(self._settings())

    @property
    def folders(self) -> list[FolderIndex]:
        """The indexes, one for each workspace folder."""
        return list(self._folders.values())

    def find(self, root: Path) -> FolderIndex | None:
        """Return the index of a workspace folder, by its path without links."""
        return next((folder for folder in self.folders if resolve_links(folder.root) == root), None)

    def state(self) -> str:
        """Return `off`, `waiting`, `scanning`, `ready`, `paused`, `polling` or `ended`; of several, the least ready."""
        states = [str(folder.last_message["state"]) for folder in self.folders]
        order = ("ended", "paused", "scanning", "waiting", "polling", "ready")
        return min(states, key=order.index, default="off")

    async def aclose(self) -> None:
        self.keep((), follow=False)
        for result in await asyncio.gather(*self._closing, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("closing an index failed", exc_info=result)


async def _close(folder: FolderIndex, embedding_index: "EmbeddingIndex | None") -> None:
    if embedding_index:
        await embedding_index.aclose()
    await folder.aclose()
