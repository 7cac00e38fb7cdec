"""The indexes of all workspace folders of a front end."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsp_harness.disk.file_reading import system_message
from lsp_harness.errors import HarnessError
from lsp_harness.files.folders import find_folder, path_inside, paths_inside
from lsp_harness.files.ignore_files import rules_folder
from lsp_harness.harness.indexes.folder_index import FolderIndex, MessageListener
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.config.schema import Index
    from lsp_harness.harness.indexes.embedding_index import EmbeddingEngine, EmbeddingIndex
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.inference.embedding_recipe import EmbeddingRecipe

log = logging.getLogger(__name__)

STATES = ("ended", "paused", "scanning", "waiting", "polling", "ready")
"""The states of an index, the least ready first."""

T = TypeVar("T")


class FolderIndexes:
    """The indexes of all workspace folders. They run the questions of `query`."""

    def __init__(
        self,
        on_message: MessageListener,
        engine: "Callable[[], EmbeddingEngine]",
        settings: "Callable[[], Index]",
        unsaved_texts: "Callable[[Path], Mapping[str, UnsavedText]]" = lambda root: {},
    ) -> None:
        """Create the indexes of no folders.

        Args:
            on_message: Called with each message of a process that updates an index.
            engine: Returns the engine that embeds texts.
            settings: Returns the present settings.
            unsaved_texts: Returns the unsaved texts of a workspace folder, by their paths in it.
        """
        self._on_message = on_message
        self._engine = engine
        self._settings = settings
        self._unsaved_texts = unsaved_texts
        self.query = IndexQuery(self)
        self._folders: dict[Path, FolderIndex] = {}
        self._embeddings: dict[Path, EmbeddingIndex] = {}
        self._embedded: dict[Path, tuple[int, Index]] = {}
        """The update count and the settings for which texts were embedded last."""
        self._closing: set[asyncio.Task[None]] = set()

    def set_folders(self, roots: Sequence[Path], *, follow: bool) -> None:
        """Index these folders, and close the indexes of all others.

        Args:
            roots: The workspace folders.
            follow: Whether to take up changes on disk after the first update.
        """
        for root in [root for root, folder in self._folders.items() if root not in roots or folder.follow != follow]:
            task = asyncio.ensure_future(_close(self._folders.pop(root), self._embeddings.pop(root, None)))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        for root in roots:
            try:
                if root not in self._folders and root.is_dir():
                    texts = partial(self._unsaved_texts, root)
                    self._folders[root] = FolderIndex(root, self._on_message, texts, follow=follow)
            except (OSError, HarnessError) as error:
                log.warning("%s is not indexed: %s", root, system_message(error))

    def prioritize(self, root: Path | None, path: str) -> None:
        """Index a file of a workspace folder before others."""
        if root and (folder := self._folders.get(root)):
            folder.prioritize(path)

    def report_change(self, file: Path) -> None:
        """Index a file that was written. Not every file system reports this itself."""
        for root, folder in self._folders.items():
            for path in paths_inside(file, root):
                folder.report_change(path.as_posix())
            if (rules := rules_folder(file)) and (below := path_inside(root, rules)) and below.parts:
                # the process does not watch ignore files above the workspace folder
                folder.rescan()

    async def run(self, uri: str, question: Callable[[IndexView], T], default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question to the folder that contains a document, or `default` if there is none."""
        root = self._find_root(uri)
        return await self._folders[root].run(uri, question, default, is_slow=is_slow) if root else default

    async def find_nearest(self, uri: str, task: str) -> Sequence[bytes]:
        """Return the digests of the texts that are nearest to a task, in the folder that contains a document.

        The result is empty if there are no vectors, or if the engine does not answer in time.
        """
        root = self._find_root(uri)
        return await self._embedding(self._folders[root]).find_nearest(task) if root else ()

    def embed(self) -> None:
        """Embed the new texts of all folders whose index is updated from here. The engine must run."""
        for folder in self.folders:
            version = (folder.update_count, self._settings())
            is_new = folder.update_count > 0 and self._embedded.get(folder.root) != version
            if is_new and self._embedding(folder).start():
                self._embedded[folder.root] = version

    @property
    def folders(self) -> list[FolderIndex]:
        """The indexes, one for each workspace folder."""
        return list(self._folders.values())

    def state(self) -> str:
        """Return the state of the index that is the least ready, or `off` if there is none."""
        states = [str(folder.message["state"]) for folder in self.folders]
        return min(states, key=STATES.index, default="off")

    async def aclose(self) -> None:
        """Close all indexes."""
        self.set_folders((), follow=False)
        for result in await asyncio.gather(*self._closing, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("closing an index failed", exc_info=result)

    def _find_root(self, uri: str) -> Path | None:
        """Return the indexed folder that contains a document or folder."""
        place = find_folder(local_path(uri), self._folders)
        return place.folder if place else None

    def _embedding(self, folder: FolderIndex) -> "EmbeddingIndex":
        # the import of numpy takes 0.1 s
        from lsp_harness.harness.indexes.embedding_index import EmbeddingIndex

        if folder.root not in self._embeddings:
            self._embeddings[folder.root] = EmbeddingIndex(folder, self._engine, self._make_recipe)
        return self._embeddings[folder.root]

    def _make_recipe(self) -> "EmbeddingRecipe":
        from lsp_harness.inference.embedding_recipe import make_recipe

        return make_recipe(self._settings())


async def _close(folder: FolderIndex, embedding: "EmbeddingIndex | None") -> None:
    if embedding:
        await embedding.aclose()
    await folder.aclose()
