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
from lsp_harness.harness.indexes.folder_index import Folder, Heard
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.config.schema import Index
    from lsp_harness.harness.indexes.embedding_index import Embeds, Meaning
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.inference.embedding_recipe import EmbeddingRecipe

log = logging.getLogger(__name__)

T = TypeVar("T")


class Indexes:
    """Of all folders of a front end. `engine` embeds what they hold as the `settings` say; `opened` are the texts of a folder that
    were edited."""

    def __init__(
        self,
        heard: Heard,
        engine: "Callable[[], Embeds]",
        settings: "Callable[[], Index]",
        opened: "Callable[[Path], Mapping[str, UnsavedText]]" = lambda root: {},
    ) -> None:
        self._heard = heard
        self._engine = engine
        self._settings = settings
        self._opened = opened
        self.query = IndexQuery(self)
        self._folders: dict[Path, Folder] = {}
        self._meanings: dict[Path, Meaning] = {}
        self._embedded: dict[Path, tuple[int, Index]] = {}
        """For which update and settings this was begun last."""
        self._closing: set[asyncio.Task[None]] = set()

    def keep(self, roots: Sequence[Path], *, follow: bool) -> None:
        """These folders from now on, and no others; what changes on disk is taken up where `follow` says so."""
        for root in [root for root, folder in self._folders.items() if root not in roots or folder.follow != follow]:
            task = asyncio.ensure_future(_close(self._folders.pop(root), self._meanings.pop(root, None)))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        for root in roots:
            try:
                if root not in self._folders and root.is_dir():
                    self._folders[root] = Folder(root, self._heard, partial(self._opened, root), follow=follow)
            except (OSError, HarnessError) as error:
                log.warning("%s is not indexed: %s", root, system_message(error))

    def first(self, root: Path | None, path: str) -> None:
        """A file of a folder should be read before others."""
        if root and (folder := self._folders.get(root)):
            folder.first(path)

    def changed(self, file: Path) -> None:
        """A file was written: not every file system tells of that."""
        for root, folder in self._folders.items():
            for path in paths_inside(file, root):
                folder.changed(path.as_posix())
            if (rules := rules_folder(file)) and (below := path_inside(root, rules)) and below.parts:
                # an ignore file above the workspace folder, which the process does not see
                folder.scan()

    async def run(self, uri: str, question: Callable[[IndexView], T], default: T, *, is_slow: bool = False) -> T:
        """Return the result of a question to the folder that contains a document, or `default` if there is none."""
        root = self._root(uri)
        return await self._folders[root].run(uri, question, default, is_slow=is_slow) if root else default

    async def near(self, uri: str, task: str) -> Sequence[bytes]:
        """Digests of the texts that are most like a task, of the folder that a document is in; none where there are no vectors,
        or the engine takes long."""
        root = self._root(uri)
        return await self._meaning(self._folders[root]).near(task) if root else ()

    def embed(self) -> None:
        """The engine is there: have what is new embedded, of the folders whose index is kept from here."""
        for folder in self.folders:
            wanted = (folder.updates, self._settings())
            if folder.updates and self._embedded.get(folder.root) != wanted and self._meaning(folder).look():
                self._embedded[folder.root] = wanted

    def _root(self, uri: str) -> Path | None:
        """The folder that a document, or the folder that is named, is in."""
        place = find_folder(local_path(uri), self._folders)
        return place.folder if place else None

    def _meaning(self, folder: Folder) -> "Meaning":
        # arrays take a tenth of a second to import
        from lsp_harness.harness.indexes.embedding_index import Meaning

        if folder.root not in self._meanings:
            self._meanings[folder.root] = Meaning(folder, self._engine, self._recipe)
        return self._meanings[folder.root]

    def _recipe(self) -> "EmbeddingRecipe":
        from lsp_harness.inference.embedding_recipe import make_recipe

        return make_recipe(self._settings())

    @property
    def folders(self) -> list[Folder]:
        return list(self._folders.values())

    def state(self) -> str:
        """In one word: `off`, `waiting`, `scanning`, `ready`, `paused`, `polling`, `ended`; the least ready of several."""
        said = [str(folder.said["state"]) for folder in self.folders]
        order = ("ended", "paused", "scanning", "waiting", "polling", "ready")
        return min(said, key=order.index, default="off")

    async def aclose(self) -> None:
        self.keep((), follow=False)
        for ended in await asyncio.gather(*self._closing, return_exceptions=True):
            if isinstance(ended, Exception):
                log.error("closing an index failed", exc_info=ended)


async def _close(folder: Folder, meaning: "Meaning | None") -> None:
    if meaning:
        await meaning.aclose()
    await folder.aclose()
