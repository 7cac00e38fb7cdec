"""The first look at a workspace folder, shown as a bar where it takes a while."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_harness.harness.events import HarnessEvent, IndexReported, Listener
from lsp_harness.server.editor_client import Client
from lsp_harness.server.progress import shown
from lsp_harness.session.results import Progress

WORTH = 200
"""Files that have to be read for that to be worth a bar."""


def bars(client: Client) -> Listener:
    """Return a listener that shows how the folders of a client are indexed."""
    running: dict[Path, asyncio.Queue[Mapping[str, Any]]] = {}

    async def bar(root: Path, heard: "asyncio.Queue[Mapping[str, Any]]") -> None:
        with shown(client, f"Indexing {root.name}", cancellable=False) as report:
            while (said := await heard.get())["state"] == "scanning":
                done, of = said["done"], said["of"]
                report(Progress(f"{done:,} of {of:,} files", 100 * done // of))
            report(
                Progress(f"{said['files']:,} files" if said["state"] == "ready" else str(said.get("why", "ended")), 100)
            )
        del running[root]

    def hear(event: HarnessEvent) -> None:
        if not isinstance(event, IndexReported):
            return
        root, said = event.root, event.message
        if root not in running and said["state"] == "scanning" and said["of"] >= WORTH:
            running[root] = asyncio.Queue()
            client.spawn(bar(root, running[root]), f"showing how {root.name} is indexed")
        if root in running:
            running[root].put_nowait(said)

    return hear
