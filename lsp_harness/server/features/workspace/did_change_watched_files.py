"""`workspace/didChangeWatchedFiles`: use a changed settings file, and record what happened to any other file."""

from lsprotocol import types

from lsp_harness.server import file_watching
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.workspace.folder_stamps import ChangeKind

KINDS: dict[types.FileChangeType, ChangeKind] = {
    types.FileChangeType.Created: "created",
    types.FileChangeType.Changed: "changed",
    types.FileChangeType.Deleted: "deleted",
}
METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def run(client: EditorClient, params: types.DidChangeWatchedFilesParams) -> None:
    file_watching.handle_changes(client, [(change.uri, KINDS.get(change.type, "changed")) for change in params.changes])
