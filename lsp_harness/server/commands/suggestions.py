"""The commands about suggestions: the reports of what became of one, the pause, and the statistics."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.server.commands.command_arguments import uri_and_id
from lsp_harness.server.commands.command_registry import PaletteEntry, command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.workspace.snapshot import Snapshot


@command(
    "lspHarness.accepted",
    arguments="[uri, suggestionId]",
    description="reports that a suggestion was accepted: the server checks the document",
    result="null",
)
async def accepted(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    """Record an accepted suggestion. Clients run this command when all of the text was accepted."""
    client.harness.record(*uri_and_id(params), "accepted")


@command(
    "lspHarness.dismissed",
    arguments="[uri, suggestionId]",
    description="reports that the user dismissed a suggestion",
    result="null",
)
async def dismissed(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> None:
    client.harness.record(*uri_and_id(params), "dismissed")


@command(
    "lspHarness.pause",
    arguments='["here" or "everywhere", on]',
    description=(
        "stops automatic suggestions and evaluation in advance, in this server or in all servers of the user; "
        "an explicit request still gets a suggestion. With `on` false, both pauses end"
    ),
    result="`paused`: `false`, `here` or `everywhere`",
)
async def pause(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
    match params.arguments or ():
        case ["here" | "everywhere" as scope, bool() as on]:
            return {"paused": client.harness.completions.pause(scope, on=on)}
        case _:
            raise UsageError(f'{params.command} takes "here" or "everywhere", and whether to pause: true or false')


@command(
    "lspHarness.statistics",
    arguments="[]",
    description=(
        "counts suggestions in all runs. The figures are in `statistics.json` in the state directory and are sent "
        "nowhere"
    ),
    result="how many suggestions were shown, accepted and dismissed, and `since` when",
    palette=PaletteEntry(title="Statistics", handler="custom"),
)
async def statistics(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    return client.harness.completions.statistics()
