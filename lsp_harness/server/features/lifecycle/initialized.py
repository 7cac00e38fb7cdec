"""`initialized`: request the settings of the client, and start to index the workspace.

The server may send requests from here on.
"""

from lsprotocol import types

from lsp_harness.server import client_settings, file_watching
from lsp_harness.server.editor_client import EditorClient

METHOD = types.INITIALIZED


def run(client: EditorClient, params: types.InitializedParams | None) -> None:
    client.harness.keep_indexes()
    client.spawn(client_settings.follow(client), "reading the settings of the editor")
    client.spawn(file_watching.follow(client), "registering for changes of settings files")
