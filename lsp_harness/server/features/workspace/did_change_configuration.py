"""`workspace/didChangeConfiguration`: settings reach the running harness."""

from lsprotocol import types

from lsp_harness.server import client_settings
from lsp_harness.server.editor_client import Client

METHOD = types.WORKSPACE_DID_CHANGE_CONFIGURATION


def run(client: Client, params: types.DidChangeConfigurationParams) -> None:
    """Clients that can be asked send null, or everything they have; asking gives our own section."""
    if client.able.configuration:
        client.spawn(client_settings.pull(client), "reading the editor's settings")
    else:
        client_settings.apply(client, params.settings)
