"""The index of a folder, for a harness without a language server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import ConfigError, StoreError
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.index_query import open_index
from lsp_harness.project.command_project import CommandOutput, CommandProject
from lsp_harness.project.index_update import update_index
from lsp_harness.project.vector_search import find_similar_texts


@asynccontextmanager
async def open_ready_index(
    root: Path, config: Config, output: CommandOutput, *, creates_index: bool
) -> AsyncGenerator[ReadyIndex]:
    """Update the index of a folder and open it for a harness.

    Args:
        root: The folder.
        config: The settings of the folder.
        output: Where warnings and progress are shown.
        creates_index: Whether to create an index if there is none, and to fail if that is impossible. Otherwise, the
            command is about one file. It can do without the index, so an error is only a warning.

    Raises:
        ConfigError: The settings name no usable directory, and `creates_index` is set.
        StoreError: The index cannot be written, and `creates_index` is set.
    """
    project = None
    try:
        if config.index.enabled:
            project = CommandProject(prepare_place(root), config, output)
            if creates_index or project.place.database.exists():
                project = await update_index(project)
    except (ConfigError, StoreError) as error:
        if creates_index:
            raise
        warn_once(error.message)
        project = None
    if project is None:
        yield ReadyIndex()
        return
    ready_project = project

    async def find_similar(uri: str, task: str) -> list[bytes]:
        return await find_similar_texts(ready_project, task, is_task=True)

    if not project.place.database.exists():
        yield ReadyIndex(None, find_similar)
        return
    with open_index(project.place.database) as index:
        yield ReadyIndex(index, find_similar)
