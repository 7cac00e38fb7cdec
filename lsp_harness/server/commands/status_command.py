"""`lspHarness.status`: report what this server is and what it does, for a person who wants to know."""

import sys
from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand
from lsp_harness.wire.version import VERSION
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.status",
    arguments="[]",
    description="reports the state of the server. It waits at most 2 s for the engine",
    result="[the state of the server](#the-answer-of-lspharnessstatus)",
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    harness = client.harness
    return {
        "version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
        "positionEncoding": client.capabilities.encoding,
        "model": harness.config.model.path,
        "roots": [str(root) for root in harness.workspace.roots],
        "documents": [
            {"uri": document.uri, "version": client.version_of(document.text), "bytes": len(document.text.data)}
            for document in harness.documents
        ],
        "outOfStep": [{"uri": uri, "why": lost.reason} for uri, lost in harness.documents.lost_texts.items()],
        # this request does not count
        "running": len(client.server.lsp.running) - 1,
        **await harness.status(),
    }
