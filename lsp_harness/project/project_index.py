"""The index of a folder: opened for a harness without a language server, or made anew in place of the present one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import ConfigError, HarnessError, StoreError
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.index.index_place import prepare_place, remove_index
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.project.command_project import CommandOutput, CommandProject, require_index
from lsp_harness.project.index_update import scan_folder, update_index
from lsp_harness.project.vectors import count_texts_without_vector, find_similar_texts


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


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A new index: its files, those of them that were parsed, and the texts that have no vector.

    `texts_without_vector` is 0 if no model can make vectors.
    """

    files: int
    parsed: int
    texts_without_vector: int


def rebuild_index(project: CommandProject) -> Rebuild | None:
    """Delete the index of a folder and make a new one. Vectors are kept unless they are damaged.

    Returns:
        None if a language server has the folder open. That server makes the new index.

    Raises:
        UsageError: The settings forbid an index of the folder.
        StoreError: The index cannot be written.
    """
    require_index(project)
    remove_index(project.place)
    with closing(Vectors(project.place.folder)) as vectors:
        if not vectors.is_sound():
            vectors.remove()
    if is_locked(project.place.lock):
        return None
    result = asyncio.run(scan_folder(project))
    if result is None:
        return None
    texts_without_vector = 0
    # without a model there are no vectors to make; `doctor` reports it
    with suppress(HarnessError):
        texts_without_vector = asyncio.run(count_texts_without_vector(project))
    return Rebuild(result.files, result.parsed, texts_without_vector)
