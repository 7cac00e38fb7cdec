"""`workspace/didChangeWatchedFiles`: use a changed settings file, and tell the index of any other file."""

from lsprotocol import types

from lsp_harness.server import file_watching
from lsp_harness.server.editor_client import EditorClient

METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def run(client: EditorClient, params: types.DidChangeWatchedFilesParams) -> None:
    file_watching.handle_changes(client, [change.uri for change in params.changes])
