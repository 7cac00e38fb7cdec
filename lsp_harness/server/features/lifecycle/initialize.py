"""`initialize`: who the client is, and everything this server advertises.

Plain JSON in and out: the LSP types take three quarters of the start-up time to import, and the client can get its
answer, and begin its own part, before that. Nothing in the capabilities is rejected, see `abilities`.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.server.client_capabilities import Abilities, at
from lsp_harness.server.command_names import ALL
from lsp_harness.server.version import VERSION
from lsp_harness.text.uri import local_path

METHOD = "initialize"
INCREMENTAL = 2


@dataclass(frozen=True, slots=True)
class Greeting:
    """What the client said about itself."""

    abilities: Abilities
    roots: list[Path]
    process_id: int | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    trusted: bool = True
    """Whether the user trusts the workspace: `trusted` of the initialization options, where that is given."""


def run(params: Any) -> tuple[Greeting, dict[str, Any]]:
    """The greeting and the result to answer with. Raises UsageError."""
    if not isinstance(params, dict) or not isinstance(at(params, "capabilities"), dict):
        raise UsageError("initialize needs params with the client's capabilities")
    process_id, options = at(params, "processId"), at(params, "initializationOptions")
    if process_id is not None and (not isinstance(process_id, int) or isinstance(process_id, bool)):
        raise UsageError("initialize: processId must be an integer or null")
    settings, trusted = _trust(options)
    greeting = Greeting(
        abilities=Abilities.of(at(params, "capabilities")),
        roots=_roots(params),
        process_id=process_id,
        options=settings,
        trusted=trusted,
    )
    info = {"name": "lsp-harness", "version": VERSION}
    return greeting, {"capabilities": capabilities(greeting.abilities), "serverInfo": info}


def capabilities(able: Abilities) -> dict[str, Any]:
    """What is advertised to a client with these abilities."""
    offered: dict[str, Any] = {
        "positionEncoding": able.encoding,
        "textDocumentSync": {"openClose": True, "change": INCREMENTAL, "save": {"includeText": False}},
        "inlineCompletionProvider": {"workDoneProgress": False},
        "codeActionProvider": {
            "codeActionKinds": ["quickfix", "refactor", "refactor.rewrite"],
            "resolveProvider": True,
        },
        "executeCommandProvider": {"commands": list(ALL), "workDoneProgress": True},
        "documentSymbolProvider": True,
        "workspaceSymbolProvider": True,
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            "textDocumentContent": {"schemes": ["lsp-harness-verdict"]},
        },
    }
    if not able.inline_completion:
        offered["completionProvider"] = {"resolveProvider": False}
    if able.fallback:
        # a guess beside a real answer would be in its way
        offered |= {"definitionProvider": True, "referencesProvider": True}
    if able.pull_diagnostics:
        offered["diagnosticProvider"] = {
            "identifier": "lsp-harness",
            "interFileDependencies": False,
            "workspaceDiagnostics": False,
        }
    return offered


def _trust(options: Any) -> tuple[dict[str, Any], bool]:
    """The settings among the options, and whether the workspace is trusted: anything but `true` is a no.

    Some clients send the section `lspHarness`, some what is in it.
    """
    settings = {**cast("dict[str, Any]", options)} if isinstance(options, dict) else {}
    said = [settings.pop("trusted")] if "trusted" in settings else []
    if isinstance(section := settings.get("lspHarness"), dict):
        settings["lspHarness"] = {**cast("dict[str, Any]", section)}
        said += [settings["lspHarness"].pop("trusted")] if "trusted" in section else []
    return settings, all(word is True for word in said)


def _roots(params: Any) -> list[Path]:
    folders = at(params, "workspaceFolders")
    if isinstance(folders, list) and folders:
        uris = [at(folder, "uri") for folder in cast("list[Any]", folders)]
    else:
        uris = [at(params, "rootUri")]
    roots = [path for uri in uris if (path := local_path(uri))]
    legacy = at(params, "rootPath")
    return roots or (
        [Path(os.path.abspath(legacy))] if isinstance(legacy, str) and legacy and "\0" not in legacy else []
    )
