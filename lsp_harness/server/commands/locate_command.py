"""`lspHarness.locate`: the code that a task is about, and where it may be besides; how that is shown is the client's business."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp_harness.server import command_names, progress
from lsp_harness.server.commands.command_arguments import nearby, words
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import range_of
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.harness.location import Located

COMMAND = command_names.LOCATE


def document(params: types.ExecuteCommandParams) -> None:
    """None: it is about a folder."""


async def run(client: Client, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    # not before it is asked for: with it comes the parser
    from lsp_harness.harness import location

    task, uri = words(params, "task"), nearby(params)
    with progress.shown(client, "Find with lsp-harness", params.work_done_token):
        found = await location.locate(client.harness, task, uri)
    return told(client, found)


def told(client: Client, found: "Located") -> dict[str, Any]:
    """What was found, as clients are told."""
    candidates = [
        {
            "uri": found.document(one).uri,
            "path": one.path,
            "range": range_of(found.document(one), *found.span(one), client.able.encoding),
            "symbol": one.symbol,
            "kind": one.kind,
            "signature": one.signature,
            "reasons": [*one.reasons],
        }
        for one in found.sought.candidates
    ]
    return {"chosen": found.sought.choice, "by": found.sought.chooser, "candidates": candidates}
