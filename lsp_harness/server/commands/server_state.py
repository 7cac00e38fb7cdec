"""The commands about the server itself: its state, its commands, its models and its engine."""

import sys
from typing import Any

from lsprotocol import types

from lsp_harness.server.commands.command_arguments import single_string
from lsp_harness.server.commands.command_registry import PaletteEntry, command, editor_commands
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.progress import show_progress
from lsp_harness.wire.version import VERSION
from lsp_harness.workspace.snapshot import Snapshot


@command(
    "lspHarness.status",
    arguments="[]",
    description="reports the state of the server. It waits at most 2 s for the engine",
    result="[the state of the server](#the-answer-of-lspharnessstatus)",
)
async def status(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> dict[str, Any]:
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


@command(
    "lspHarness.commands",
    arguments="[]",
    description="lists the commands that an editor offers to users",
    result="`commands`: [their descriptions](#the-answer-of-lspharnesscommands), sorted by name",
)
async def list_commands(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    """List the commands for users, for an editor that has no list of its own.

    The answer to `initialize` has the names of all commands, but not their descriptions: these need an import of all
    modules of commands, for which no editor should wait at its start.
    """
    return {
        "commands": [
            {
                "name": each.name,
                "title": entry.title,
                "resultTitle": entry.result_title or entry.title,
                "handler": entry.handler,
                "sendsSelection": entry.sends_selection,
                "needsTrust": entry.needs_trust,
            }
            for each in editor_commands()
            if (entry := each.palette)
        ]
    }


@command(
    "lspHarness.models",
    arguments="[]",
    description="lists the catalogue of models. To switch the model, set `lspHarness.model.path`",
    result="for each model `name`, `title`, `kind`, `bytes`, `licence`, `present`, `current`, `note`",
)
async def models(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> list[dict[str, Any]]:
    """List the models of the catalogue, for a client that lets the user choose one.

    To switch the model, the client sets `lspHarness.model.path` in its own settings, where the other choices of the
    user are.
    """
    from lsp_harness.inference.models import model_files
    from lsp_harness.inference.models.catalogue import cards

    return [
        {
            "name": card.name,
            "title": card.title,
            "kind": card.kind,
            "bytes": card.bytes or None,
            "licence": card.license,
            "present": model_files.model_state(card) == "present",
            "current": card.name == client.harness.config.model.path,
            "note": card.note or None,
        }
        for card in cards()
    ]


@command(
    "lspHarness.pullModel",
    arguments="[name]",
    description="downloads a model, with progress that can be cancelled; the next call continues",
    result="`name` and `path` of the model",
)
async def pull_model(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    # imported late, because the state of the server needs no catalogue of models
    from lsp_harness.server.model_download import download_model

    name = single_string(params, "the name of a model")
    with show_progress(client, f"Downloading {name}", params.work_done_token) as report:
        return await download_model(name, report)


@command(
    "lspHarness.restartEngine",
    arguments="[]",
    description="stops the engine, by force if needed, and starts it again",
    result="`model` and `pid` of the new engine",
    palette=PaletteEntry(title="Restart Engine", handler="custom"),
)
async def restart_engine(
    client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams
) -> dict[str, Any]:
    with show_progress(client, "Restarting the engine", params.work_done_token):
        return await client.harness.restart_engine()
