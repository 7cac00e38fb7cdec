"""The workspace of the client: its settings, files and folders, and the commands that it executes."""

from typing import Any

from lsprotocol import types

from lsp_harness.errors import UsageError
from lsp_harness.files.folders import is_same_file
from lsp_harness.server import client_settings, file_watching
from lsp_harness.server.commands.command_registry import find_command
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.features.feature_binding import feature, refuse
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.folder_stamps import ChangeKind
from lsp_harness.workspace.snapshot import Snapshot

KINDS: dict[types.FileChangeType, ChangeKind] = {
    types.FileChangeType.Created: "created",
    types.FileChangeType.Changed: "changed",
    types.FileChangeType.Deleted: "deleted",
}


@feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
def change_settings(client: EditorClient, params: types.DidChangeConfigurationParams) -> None:
    """Use the new settings of the editor."""
    # a client that answers `workspace/configuration` sends null here, or the settings of all extensions
    if client.capabilities.configuration:
        client.spawn(client_settings.pull(client), "reading the settings of the editor")
    else:
        client_settings.apply(client, params.settings)


@feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def record_files(client: EditorClient, params: types.DidChangeWatchedFilesParams) -> None:
    """Use a changed settings file, and record what happened to any other file."""
    file_watching.handle_changes(client, [(change.uri, KINDS.get(change.type, "changed")) for change in params.changes])


@feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def change_folders(client: EditorClient, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Change the folders and index the new ones."""
    removed_paths = [local_path(folder.uri) for folder in params.event.removed]
    added_paths = [path for folder in params.event.added if (path := local_path(folder.uri))]
    workspace = client.harness.workspace
    roots = [root for root in workspace.roots if not any(is_same_file(root, path) for path in removed_paths if path)]
    workspace.set_roots(roots + [path for path in added_paths if path not in roots])
    client.harness.keep_indexes()


def _uri_of_command(params: types.ExecuteCommandParams) -> str | None:
    """Return the URI of the document that the command works on, or None."""
    command = find_command(params.command)
    return command.document(params) if command else None


@feature(types.WORKSPACE_EXECUTE_COMMAND, document_uri=_uri_of_command, answer_out_of_sync=refuse)
async def execute_command(client: EditorClient, snapshot: Snapshot | None, params: types.ExecuteCommandParams) -> Any:
    """Execute a command of the package `commands`."""
    command = find_command(params.command)
    if command is None:
        raise UsageError(f"{params.command} is not a command of lsp-harness")
    return await command.run(client, snapshot, params)
