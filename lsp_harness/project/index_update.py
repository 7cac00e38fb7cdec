"""Updates of an index by a command, because no language server may be running that does it."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import StoreError
from lsp_harness.index.builder.indexer import ScanResult, open_indexer
from lsp_harness.index.index_place import IndexPlace, prepare_temporary_place
from lsp_harness.index.index_query import IndexQuery, open_index
from lsp_harness.process.leader_lock import is_locked, wait_for_lock
from lsp_harness.project.command_project import CommandProject, require_index

FIRST_INDEX_WAIT_S = 60.0
"""How long a command waits for the first index that another process makes."""
LOCK_WAIT_S = 1.0
"""How long a command waits for a free lock. If a server takes the lock first, it does not give it back."""
POLL_INTERVAL_S = 0.1
"""Time between two looks at the index that another process makes."""


async def update_index(project: CommandProject) -> CommandProject:
    """Bring the index up to date with the files on disk, unless another process does so.

    Returns:
        The project with the place of the updated index. If the index cannot be written, a complete index is used as it
        is; otherwise a new index is made in a folder for temporary files.

    Raises:
        StoreError: No index can be written.
    """
    place = project.place
    try:
        await _update(project)
    except (OSError, StoreError) as error:
        if await _is_complete(place):
            paths.warn_not_saved(
                "what changed since the index was made", paths.CACHE, place.folder, error.__cause__ or error
            )
            return project
        temporary_place = prepare_temporary_place(place.root)
        if temporary_place.folder == place.folder:
            raise
        paths.warn_not_saved("the index", paths.CACHE, place.folder, error.__cause__ or error)
        project = replace(project, place=temporary_place)
        try:
            await _update(project)
        except OSError as second_error:
            reason = describe_system_error(second_error)
            raise StoreError(
                f"{temporary_place.folder} cannot be written ({reason}); {paths.CACHE.advice}"
            ) from second_error
    return project


@asynccontextmanager
async def open_updated_index(project: CommandProject) -> AsyncGenerator[tuple[CommandProject, IndexQuery]]:
    """Update the index and open it, for a command that cannot do without it.

    Yields:
        The project with the place of the updated index (see `update_index`), and the index.

    Raises:
        UsageError: The settings forbid an index of the folder.
        StoreError: The index cannot be written or read.
    """
    require_index(project)
    project = await update_index(project)
    with open_index(project.place.database) as index:
        yield project, index


async def scan_folder(project: CommandProject) -> ScanResult | None:
    """Update the index, and show the progress. Return None if another process updates it at the moment."""
    place = project.place
    try:
        async with asyncio.timeout(LOCK_WAIT_S):
            lock = await wait_for_lock(place.lock)
    except TimeoutError:
        return None
    try:
        with (
            project.output.progress("indexing") as report,
            open_indexer(place.root, place.database, report) as indexer,
        ):
            return indexer.scan()
    finally:
        os.close(lock)


async def _update(project: CommandProject) -> None:
    """Update the index. If another process makes the first one, wait for it."""
    lock = project.place.lock
    if is_locked(lock):
        await _wait_for_first_index(project)
    if not is_locked(lock) and await scan_folder(project) is None:
        await _wait_for_first_index(project)


async def _wait_for_first_index(project: CommandProject) -> None:
    """Wait for the index that another process makes, for at most `FIRST_INDEX_WAIT_S`. Then a part of it must do."""
    place = project.place
    with project.output.progress("another process is indexing"):
        deadline = time.monotonic() + FIRST_INDEX_WAIT_S
        # the other process sends no event
        while is_locked(place.lock) and not await _is_complete(place) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(POLL_INTERVAL_S)


async def _is_complete(place: IndexPlace) -> bool:
    """Return whether the index contains all files and the targets of their imports."""
    with suppress(StoreError), open_index(place.database) as index:
        return await index.is_complete(place.root.as_uri())
    return False
