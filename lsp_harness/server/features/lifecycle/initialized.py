"""`initialized`: request the settings of the client, and start the engine and the index of the workspace.

The server may send requests from here on.
"""

from lsprotocol import types

from lsp_harness.server import client_settings, file_watching
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.sessions import session_listener

METHOD = types.INITIALIZED


def run(client: EditorClient, params: types.InitializedParams | None) -> None:
    client.harness.keep_indexes()
    client.spawn(_read_settings(client), "reading the settings of the editor")
    client.spawn(file_watching.follow(client), "registering for changes of settings files")


async def _read_settings(client: EditorClient) -> None:
    """Read the settings of the editor, which may choose another model, and then start the engine."""
    try:
        await client_settings.follow(client)
    finally:
        client.harness.completions.start_engine()
        session_listener.start(client)
