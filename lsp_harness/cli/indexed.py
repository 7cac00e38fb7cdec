"""The index of a folder brought up to date, for commands that have no server that does it."""

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.errors import UsageError
from lsp_harness.index.indexer import Indexer, Scanned
from lsp_harness.index.place import Place, place
from lsp_harness.index.tables import SCHEMA, version
from lsp_harness.index.view import Symbol, View
from lsp_harness.process.lead import lead, led
from lsp_harness.store.database import Writer

Folder = Annotated[Path, Parameter(help="The workspace folder; here by default.")]


def placed(folder: Path) -> Place:
    """Where the index of a folder is. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    return place(folder)


def named(symbol: str) -> tuple[str, str]:
    """The path, empty where none is said, and the qualified name of a symbol as people give it: `Config.parse`, `Config::parse` or
    `src/config.py:Config.parse`."""
    path, _, name = symbol.replace("::", ".").rpartition(":")
    return path, name


def called(view: View, symbol: str) -> list[Symbol]:
    """The declarations of a name as people give it, one of several that are called the same in one file. Raises UsageError."""
    path, name = named(symbol)
    found = {(one.path, one.qualified): one for one in reversed(view.called(name)) if path in ("", one.path)}
    if not found:
        raise UsageError(f"nothing is called {symbol!r} here; lsp-harness search finds what is like it")
    return [found[key] for key in sorted(found)]


async def fresh(where: Place) -> None:
    """Takes up what changed on disk where no server does that."""
    if not led(where.lock):
        await scan(where)


async def scan(where: Place) -> Scanned:
    """Brings the index up to date, with a bar where there is somebody to see it."""
    from rich.console import Console
    from rich.progress import Progress

    shown = Console(stderr=True)
    lock = await lead(where.lock)
    try:
        with (
            Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress,
            closing(Writer(where.database, SCHEMA, version())) as writer,
        ):
            bar = progress.add_task("indexing", total=None)

            def tell(done: int, of: int) -> None:
                progress.update(bar, completed=done, total=of)

            with closing(Indexer(where.root, writer, tell)) as indexer:
                return indexer.scan()
    finally:
        os.close(lock)
