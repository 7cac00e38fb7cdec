"""Shows a progress bar while the workspace folders are indexed for the first time, if that takes long."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_harness.harness.events import HarnessEvent, IndexReported, Listener
from lsp_harness.kernel.results import Progress
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress

MIN_FILES = 200
"""Number of files to read from which on there is a progress bar."""


def index_listener(client: EditorClient) -> Listener:
    """Return a listener that shows how the folders of a client are indexed."""
    message_queues: dict[Path, asyncio.Queue[Mapping[str, Any]]] = {}

    async def show_folder(root: Path, messages: "asyncio.Queue[Mapping[str, Any]]") -> None:
        with show_progress(client, f"Indexing {root.name}", cancellable=False) as report:
            while (message := await messages.get())["state"] == "scanning":
                done, total = message["done"], message["of"]
                report(Progress(f"{done:,} of {total:,} files", 100 * done // total))
            is_ready = message["state"] == "ready"
            report(Progress(f"{message['files']:,} files" if is_ready else str(message.get("why", "ended")), 100))
        del message_queues[root]

    def handle_event(event: HarnessEvent) -> None:
        if not isinstance(event, IndexReported):
            return
        root, message = event.root, event.message
        if root not in message_queues and message["state"] == "scanning" and message["of"] >= MIN_FILES:
            message_queues[root] = asyncio.Queue()
            client.spawn(show_folder(root, message_queues[root]), f"the progress of indexing {root.name}")
        if root in message_queues:
            message_queues[root].put_nowait(message)

    return handle_event
