"""The index of a folder brought up to date, for commands that have no server that does it."""

import asyncio
import os
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.folder_settings import settings
from lsp_harness.config import paths
from lsp_harness.disk.file_reading import system_message
from lsp_harness.errors import StoreError, UsageError
from lsp_harness.index.builder.indexer import Indexer, ScanResult
from lsp_harness.index.index_place import IndexPlace, prepare_place, prepare_temporary_place
from lsp_harness.index.index_tables import SCHEMA, is_complete, schema_version
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.process.leader_lock import is_locked, wait_for_lock
from lsp_harness.store.database import Reader, Writer

WAIT = 60.0
"""Seconds that a command waits at most for an index that another process makes."""
TAKEN = 1.0
"""Seconds for a lock that was free: a server that got it in between keeps it."""
LOOK = 0.1
"""Seconds between two looks at how far the other is."""
Folder = Annotated[Path, Parameter(help="The folder of the project. The default is the current folder.")]


def placed(folder: Path) -> IndexPlace:
    """Where the index of a folder is. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    return prepare_place(folder)


def wanted(folder: Path) -> IndexPlace:
    """The same, where the settings let the folder be indexed. Raises UsageError."""
    where = placed(folder)
    config = settings(where.root)
    if not config.index.enabled:
        raise UsageError(f"{where.root} is not indexed, because the setting index.enabled is false; set it to true")
    return where


def named(symbol: str) -> tuple[str, str]:
    """The path, empty where none is said, and the qualified name of a symbol as people give it: `Config.parse`, `Config::parse` or
    `src/config.py:Config.parse`."""
    path, _, name = symbol.replace("::", ".").rpartition(":")
    return path, name


def called(view: IndexView, symbol: str) -> list[Symbol]:
    """The declarations of a name as people give it, one of several that are called the same in one file. Raises UsageError."""
    path, name = named(symbol)
    found = {
        (one.path, one.qualified): one for one in reversed(view.symbols.find_qualified(name)) if path in ("", one.path)
    }
    if not found:
        raise UsageError(f"there is no symbol {symbol!r} in this folder; lsp-harness search finds similar code")
    return [found[key] for key in sorted(found)]


async def fresh(where: IndexPlace) -> IndexPlace:
    """Takes up what changed on disk where no server does that; the place of the index to be asked. Where it cannot be written,
    one that is whole is asked as it is, and otherwise another is made in a folder for temporary files. Raises StoreError."""
    try:
        await _brought_up(where)
    except (OSError, StoreError) as error:
        if _whole(where):
            paths.warn_not_saved(
                "what changed since the index was made", paths.CACHE, where.folder, error.__cause__ or error
            )
            return where
        instead = prepare_temporary_place(where.root)
        if instead.folder == where.folder:
            raise
        paths.warn_not_saved("the index", paths.CACHE, where.folder, error.__cause__ or error)
        try:
            await _brought_up(instead)
        except OSError as other:
            raise StoreError(
                f"{instead.folder} cannot be written ({system_message(other)}); {paths.CACHE.advice}"
            ) from other
        return instead
    return where


async def _brought_up(where: IndexPlace) -> None:
    """Who makes the index for the first time is waited for, a server or another command."""
    if is_locked(where.lock):
        await _made(where)
    if not is_locked(where.lock) and await scan(where) is None:
        await _made(where)


async def scan(where: IndexPlace) -> ScanResult | None:
    """Brings the index up to date, with a bar where there is somebody to see it. None where another does that meanwhile."""
    try:
        async with asyncio.timeout(TAKEN):
            lock = await wait_for_lock(where.lock)
    except TimeoutError:
        return None
    try:
        with (
            bar("indexing") as tell,
            closing(Writer(where.database, SCHEMA, schema_version())) as writer,
            closing(Indexer(where.root, writer, tell)) as indexer,
        ):
            return indexer.scan()
    finally:
        os.close(lock)


async def _made(where: IndexPlace) -> None:
    """Waits for an index that another makes, no longer than `WAIT`: what there is by then must do."""
    with bar("another process is indexing"):
        until = time.monotonic() + WAIT
        # another process tells nobody
        while is_locked(where.lock) and not _whole(where) and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(LOOK)


def _whole(where: IndexPlace) -> bool:
    """Whether every file of an index is in it, with what its imports mean."""
    with suppress(StoreError), closing(Reader(where.database)) as reader:
        return is_complete(reader)
    return False


@contextmanager
def bar(what: str) -> Generator[Callable[[int, int], None]]:
    """Tells how much is done of how much."""
    from rich.console import Console
    from rich.progress import Progress

    shown = Console(stderr=True)
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda done, of: progress.update(bar, completed=done, total=of)
