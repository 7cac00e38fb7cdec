"""The index that the verbs of one harness ask: one that a command has made ready, or those that a server keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.config.schema import Config
from lsp_harness.errors import IndexIncomplete
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.engines import Engines
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.context.context_inputs import VectorSearch
    from lsp_harness.harness.indexes.folder_index import FolderIndex, IndexMessage
    from lsp_harness.harness.indexes.folder_indexes import FolderIndexes
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.workspace.folder_stamps import ChangedFile

COMPLETE_WAIT_S = 20.0
"""How long a question that needs the whole folder waits for the index."""
MAX_SINGLE_FILES = 100
"""Most changed files that are read one by one. For more, the whole folder is scanned."""
BEING_MADE = "the index is being made"
OFF = "the settings switch the index off, so nobody knows which tests depend on a file"
MISSING = "this folder has no index yet, so nobody knows which tests depend on a file"


@dataclass(frozen=True, slots=True)
class ReadyIndex:
    """An index that a command has brought up to date itself, in place of the indexes that a language server keeps.

    Attributes:
        query: Reads it. None if the folder has no index.
        find_similar: Returns the digests of the texts that are most like a task, by their vectors.
    """

    query: "IndexQuery | None" = None
    find_similar: "VectorSearch | None" = None


class IndexService:
    """The access to code of other files.

    Args:
        ready: The index of a command.
        config: Returns the present settings.
        engines: The engines of the client. They embed the texts of the indexes.
        unsaved_texts: Returns the edited texts of a folder, by their path in it.
        on_message: Called on the event loop with each message of the process that keeps the index of a folder.
        background: The permission to embed texts.
    """

    def __init__(
        self,
        ready: ReadyIndex,
        config: Callable[[], Config],
        engines: Engines,
        unsaved_texts: "Callable[[Path], Mapping[str, UnsavedText]]",
        on_message: "Callable[[Path, IndexMessage], None]",
        background: BackgroundPermit,
    ) -> None:
        self.ready = ready
        self._config = config
        self._engines = engines
        self._unsaved_texts = unsaved_texts
        self._on_message = on_message
        self._background = background

    @property
    def query(self) -> "IndexQuery":
        """The index that questions go to."""
        return self.ready.query or self.folder_indexes.query

    @cached_property
    def folder_indexes(self) -> "FolderIndexes":
        """The indexes of the workspace folders. The import of their parts takes time, so they are created late."""
        from lsp_harness.harness.indexes.folder_indexes import FolderIndexes

        return FolderIndexes(
            self._on_message,
            lambda: self._engines.current,
            lambda: self._config().index,
            self._unsaved_texts,
            self._background,
        )

    @property
    def folder_indexes_if_any(self) -> "FolderIndexes | None":
        """The indexes of the workspace folders, or None if nobody has used them yet."""
        return self.__dict__.get("folder_indexes")

    def keep(self, workspace: Workspace, *, works_ahead: bool) -> None:
        """Keep the indexes of the workspace folders from now on, if the client stays and the user trusts them."""
        settings = self._config().index
        is_wanted = works_ahead and workspace.is_trusted and settings.enabled
        self.folder_indexes.keep(workspace.roots if is_wanted else (), follow=settings.update_on_save)

    def find_folder(self, root: Path) -> "FolderIndex | None":
        """Return the index that is kept for a workspace folder, or None."""
        indexes = self.folder_indexes_if_any
        return indexes.find(resolve_links(root)) if indexes else None

    def record_changes(self, changes: "Sequence[ChangedFile]") -> None:
        """Let the indexes follow files that were created, changed or deleted."""
        if indexes := self.folder_indexes_if_any:
            if len(changes) > MAX_SINGLE_FILES:
                indexes.rescan()
            else:
                for change in changes:
                    indexes.report_change(change.path)

    async def require_complete(self, root: Path) -> None:
        """Wait a moment until the index of a folder knows all its files as they are.

        Raises:
            IndexIncomplete: It does not. An answer would be about a part of the folder, or about old files.
        """
        if self.ready.query:
            if not await self.ready.query.is_complete(root.as_uri()):
                raise IndexIncomplete(BEING_MADE)
            return
        if (folder := self.find_folder(root)) is None:
            if not self._config().index.enabled:
                raise IndexIncomplete(OFF, is_temporary=False)
            raise IndexIncomplete(MISSING)
        if reason := await folder.wait_until_complete(COMPLETE_WAIT_S):
            raise IndexIncomplete(reason)

    async def find_similar(self, uri: str, task: str) -> Sequence[bytes]:
        """Return the digests of the indexed texts that are most like a task, by their vectors.

        Args:
            uri: A document or a folder. The index of its workspace folder is searched.
            task: The task in words.
        """
        if self.ready.find_similar:
            return await self.ready.find_similar(uri, task)
        return await self.folder_indexes.find_nearest(uri, task) if self._engines.is_own else ()

    async def find_similar_at_once(self, uri: str, task: str) -> Sequence[bytes]:
        """Return what `find_similar` returns, or nothing if an engine would have to be started for it."""
        if not self.ready.find_similar and not self._engines.is_running:
            return ()
        return await self.find_similar(uri, task)

    def embed(self) -> None:
        """Embed what is new in the indexes, if an engine of ours runs. A remote server gets no whole workspace."""
        indexes = self.folder_indexes_if_any
        if indexes and self._engines.is_own and self._engines.is_running:
            indexes.embed()
