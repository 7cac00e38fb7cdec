"""`workspace/didChangeWatchedFiles`: a settings file that was changed outside the editor takes effect, and the index takes up any
other that a client tells of."""

from lsprotocol import types

from lsp_harness.server import file_watching
from lsp_harness.server.editor_client import Client

METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def run(client: Client, params: types.DidChangeWatchedFilesParams) -> None:
    file_watching.changed(client, [change.uri for change in params.changes])
