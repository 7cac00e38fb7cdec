"""`workspace/didChangeConfiguration`: settings reach the running harness."""

from lsprotocol import types

from lsp_harness.server import settings
from lsp_harness.server.client import Client

METHOD = types.WORKSPACE_DID_CHANGE_CONFIGURATION


def run(client: Client, params: types.DidChangeConfigurationParams) -> None:
    """Clients that can be asked send null, or everything they have; asking gives our own section."""
    if client.able.configuration:
        client.spawn(settings.pull(client), "reading the editor's settings")
    else:
        settings.apply(client, params.settings)
