"""`initialized`: from here on the client may be asked things, so ask for its settings; and the workspace is looked at."""

from lsprotocol import types

from lsp_harness.server import client_settings, file_watching
from lsp_harness.server.editor_client import Client

METHOD = types.INITIALIZED


def run(client: Client, params: types.InitializedParams | None) -> None:
    client.harness.keep_indexes()
    client.spawn(client_settings.follow(client), "reading the editor's settings")
    client.spawn(file_watching.follow(client), "having settings files watched")
