"""`lspHarness.statistics`: count what became of suggestions.

The figures are in a file of the user and are sent nowhere.
"""

from typing import Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.workspace.snapshot import Snapshot

COMMAND = EditorCommand(
    name="lspHarness.statistics",
    arguments="[]",
    description=(
        "counts suggestions in all runs. The figures are in `statistics.json` in the state directory and are sent "
        "nowhere"
    ),
    result="how many suggestions were shown, accepted and dismissed, and `since` when",
    palette=PaletteEntry(title="Statistics", handler="custom"),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    return client.harness.completions.statistics()
