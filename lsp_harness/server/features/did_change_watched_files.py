"""`workspace/didChangeWatchedFiles`: a settings file that was changed outside the editor takes effect, and the index takes up any
other that a client tells of."""

from lsprotocol import types

from lsp_harness.server import watching
from lsp_harness.server.client import Client

METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def run(client: Client, params: types.DidChangeWatchedFilesParams) -> None:
    watching.changed(client, [change.uri for change in params.changes])
