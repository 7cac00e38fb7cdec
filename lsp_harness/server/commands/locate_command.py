"""`lspHarness.locate`: find the code that a task is about. The client decides how to show it."""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.execution.command_arguments import folder_uri, text_argument
from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry
from lsp_harness.server.lsp_conversion import lsp_range
from lsp_harness.server.progress import show_progress
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.location.task_location import LocatedTask

COMMAND = EditorCommand(
    name="lspHarness.locate",
    arguments="[{task, uri?}]",
    description=(
        "finds the code that a task is about ([index](code-index.md#locate)), in the workspace folder of `uri` "
        "(a file or folder), which may be left out if there is one folder"
    ),
    result=(
        "`candidates`, the best first, at most eight: `uri`, `path`, `range` (whole lines), "
        "`symbol` (empty outside of declarations), `kind`, `signature`, `reasons`; "
        "`chosen`, the number of the chosen one from 0, and `by`: `index` or `model`"
    ),
    palette=PaletteEntry(title="Find Code for a Task…", handler="custom", needs_trust=True),
)


async def run(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    # imported late, because it imports the parser
    from lsp_harness.coding.location.task_location import LocationRequest

    request = LocationRequest(text_argument(params, "task"), folder_uri(params))
    with show_progress(client, "Find with lsp-harness", params.work_done_token):
        located = await client.harness.tasks.locate(request)
    return location_result(client, located)


def location_result(client: EditorClient, located: "LocatedTask") -> dict[str, Any]:
    """Return the places of a task as JSON."""
    candidates = [
        {
            "uri": located.document(candidate).uri,
            "path": candidate.path,
            "range": lsp_range(located.document(candidate), *located.span(candidate), client.capabilities.encoding),
            "symbol": candidate.symbol,
            "kind": candidate.kind,
            "signature": candidate.signature,
            "reasons": [*candidate.reasons],
        }
        for candidate in located.ranking.candidates
    ]
    ranking = located.ranking
    return {"chosen": ranking.choice, "by": ranking.chooser, "doubt": ranking.doubt, "candidates": candidates}
