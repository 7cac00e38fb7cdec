"""The index of a folder brought up to date, for commands that have no server that does it."""

import os
from contextlib import closing

from lsp_harness.index.indexer import Indexer, Scanned
from lsp_harness.index.place import Place
from lsp_harness.index.tables import SCHEMA, version
from lsp_harness.process.lead import lead, led
from lsp_harness.store.database import Writer


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
