"""The conversation until `initialize` is answered.

What the client says about itself in `initialize` is read from plain JSON, and the capabilities of the server are plain
JSON too, because the import of the LSP types takes three quarters of the start-up time. So the client gets its answer
before that, and nothing here waits for the LSP types or the harness. No capability is rejected, see
`client_capabilities`.
"""

import logging
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.server import lsp_errors
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.commands.command_registry import command_names
from lsp_harness.server.json_value import value_at
from lsp_harness.server.transport.transport import Transport
from lsp_harness.text.uri import local_path
from lsp_harness.wire import rpc_message
from lsp_harness.wire.rpc_message import (
    InvalidRequest,
    Notification,
    Request,
    Response,
    UnanswerableMessage,
)
from lsp_harness.wire.version import VERSION

log = logging.getLogger(__name__)

INCREMENTAL = 2
"""The number of `TextDocumentSyncKind.Incremental`."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The facts about the client in `initialize`.

    Attributes:
        capabilities: What the client can do.
        roots: The workspace folders.
        process_id: The process of the editor, or None if the server need not end with it.
        settings: The settings in the initialization options.
        is_trusted: Whether the user trusts the workspace. True if the client does not say.
    """

    capabilities: ClientCapabilities
    roots: list[Path]
    process_id: int | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    is_trusted: bool = True


async def greet(transport: Transport, messages: AsyncIterator[bytes]) -> Greeting | None:
    """Answer all messages up to a valid `initialize`, and return what it says.

    Return None if the client leaves before.
    """
    async for body in messages:
        match message := rpc_message.parse(body):
            case Request(id, "initialize", params):
                try:
                    greeting, result = initialize(params)
                except UsageError as error:
                    answer = rpc_message.error_response(id, lsp_errors.INVALID_PARAMS, error.message)
                    transport.send(rpc_message.dump(answer))
                    continue
                transport.send(rpc_message.dump(rpc_message.response(id, result)))
                await transport.drain()
                return greeting
            case Request(id, method):
                reason = f"{method} came before initialize"
                answer = rpc_message.error_response(id, lsp_errors.NOT_INITIALIZED, reason)
                transport.send(rpc_message.dump(answer))
            case InvalidRequest(id, code, reason):
                transport.send(rpc_message.dump(rpc_message.error_response(id, code, reason)))
            case Notification("exit"):
                return None
            case Notification() | Response() | UnanswerableMessage():
                log.debug("ignored before initialize: %s", message)
        await transport.drain()
    return None


def initialize(params: Any) -> tuple[Greeting, dict[str, Any]]:
    """Return the facts about the client, and the answer.

    Raises:
        UsageError: The params are not valid.
    """
    if not isinstance(params, dict) or not isinstance(value_at(params, "capabilities"), dict):
        raise UsageError("initialize needs params with the client's capabilities")
    process_id, options = value_at(params, "processId"), value_at(params, "initializationOptions")
    if process_id is not None and (not isinstance(process_id, int) or isinstance(process_id, bool)):
        raise UsageError("initialize: processId must be an integer or null")
    settings, is_trusted = _split_options(options)
    greeting = Greeting(
        capabilities=ClientCapabilities.from_json(value_at(params, "capabilities")),
        roots=_read_roots(params),
        process_id=process_id,
        settings=settings,
        is_trusted=is_trusted,
    )
    info = {"name": "lsp-harness", "version": VERSION}
    return greeting, {"capabilities": server_capabilities(greeting.capabilities), "serverInfo": info}


def server_capabilities(client: ClientCapabilities) -> dict[str, Any]:
    """Return the capabilities that the server announces to a client."""
    result: dict[str, Any] = {
        "positionEncoding": client.encoding,
        "textDocumentSync": {"openClose": True, "change": INCREMENTAL, "save": {"includeText": False}},
        "inlineCompletionProvider": {"workDoneProgress": False},
        "codeActionProvider": {
            "codeActionKinds": ["quickfix", "refactor", "refactor.rewrite"],
            "resolveProvider": True,
        },
        "executeCommandProvider": {"commands": command_names(), "workDoneProgress": True},
        "documentSymbolProvider": True,
        "workspaceSymbolProvider": True,
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            "textDocumentContent": {"schemes": ["lsp-harness-verdict"]},
        },
    }
    if not client.inline_completion:
        result["completionProvider"] = {"resolveProvider": False}
    if client.fallback:
        # a guess must not stand beside the answer of a server that knows types
        result |= {"definitionProvider": True, "referencesProvider": True}
    if client.code_lens:
        result["codeLensProvider"] = {"resolveProvider": False}
    if client.pull_diagnostics:
        result["diagnosticProvider"] = {
            "identifier": "lsp-harness",
            "interFileDependencies": True,
            "workspaceDiagnostics": False,
        }
    return result


def _split_options(options: Any) -> tuple[dict[str, Any], bool]:
    """Split the initialization options into the settings and `trusted`. Any value of it but `true` means no.

    Some clients send the section `lspHarness`, others only its content.
    """
    settings = {**cast("dict[str, Any]", options)} if isinstance(options, dict) else {}
    values = [settings.pop("trusted")] if "trusted" in settings else []
    if isinstance(section := settings.get("lspHarness"), dict):
        settings["lspHarness"] = {**cast("dict[str, Any]", section)}
        values += [settings["lspHarness"].pop("trusted")] if "trusted" in section else []
    return settings, all(value is True for value in values)


def _read_roots(params: Any) -> list[Path]:
    """Return the workspace folders. Old clients send only `rootUri` or `rootPath`."""
    folders = value_at(params, "workspaceFolders")
    if isinstance(folders, list) and folders:
        uris = [value_at(folder, "uri") for folder in cast("list[Any]", folders)]
    else:
        uris = [value_at(params, "rootUri")]
    roots = [path for uri in uris if (path := local_path(uri))]
    root_path = value_at(params, "rootPath")
    is_valid = isinstance(root_path, str) and root_path and "\0" not in root_path
    return roots or ([Path(os.path.abspath(root_path))] if is_valid else [])
