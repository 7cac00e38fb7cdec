"""`workspace/didChangeConfiguration`: use the new settings of the editor."""

from lsprotocol import types

from lsp_harness.server import client_settings
from lsp_harness.server.editor_client import EditorClient

METHOD = types.WORKSPACE_DID_CHANGE_CONFIGURATION


def run(client: EditorClient, params: types.DidChangeConfigurationParams) -> None:
    # a client that answers `workspace/configuration` sends null here, or the settings of all extensions
    if client.capabilities.configuration:
        client.spawn(client_settings.pull(client), "reading the settings of the editor")
    else:
        client_settings.apply(client, params.settings)
