"""`lspHarness.status`: what this server is and is doing, for a person who wants to know."""

import sys
from typing import Any

from lsprotocol import types

from lsp_harness.server import command_names
from lsp_harness.server.editor_client import Client
from lsp_harness.server.version import VERSION
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = command_names.STATUS


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    harness = client.harness
    return {
        "version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
        "positionEncoding": client.able.encoding,
        "model": harness.config.model.path,
        "roots": [str(root) for root in harness.workspace.roots],
        "documents": [
            {"uri": opened.uri, "version": client.version_of(opened.text), "bytes": len(opened.text.data)}
            for opened in harness.documents
        ],
        "outOfStep": [{"uri": uri, "why": lost.reason} for uri, lost in harness.documents.lost_texts.items()],
        # without this one
        "running": len(client.server.lsp.running) - 1,
        **await harness.status(),
    }
