"""`workspace/didChangeWorkspaceFolders`: change the folders and index the new ones."""

from lsprotocol import types

from lsp_harness.files.folders import is_same_file
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.text.uri import local_path

METHOD = types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS


def run(client: EditorClient, params: types.DidChangeWorkspaceFoldersParams) -> None:
    removed_paths = [local_path(folder.uri) for folder in params.event.removed]
    added_paths = [path for folder in params.event.added if (path := local_path(folder.uri))]
    workspace = client.harness.workspace
    roots = [root for root in workspace.roots if not any(is_same_file(root, path) for path in removed_paths if path)]
    workspace.set_roots(roots + [path for path in added_paths if path not in roots])
    client.harness.keep_indexes()
