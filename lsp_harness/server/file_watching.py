"""Reacts to files that were written, by the editor or by another program.

A settings file is read again. If the client can watch files for servers, the server registers for the settings files.
The index is told of any other file, because not every file system reports changes.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from lsp_harness.config.load import PROJECT_FILES, user_config_file
from lsp_harness.server import client_settings
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.text.uri import local_path


def settings_files(client: EditorClient) -> list[Path]:
    """Return the paths of all settings files that count, also of those that do not exist."""
    return [user_config_file().absolute(), *(client.project / name for name in PROJECT_FILES if client.project)]


def handle_changes(client: EditorClient, uris: Iterable[str]) -> None:
    """Read the settings again if one of the files is a settings file or a link to one, and update the index."""
    uris = [*uris]
    real_paths = {os.path.realpath(file) for file in settings_files(client)}
    paths = (local_path(uri) for uri in uris)
    if any(os.path.realpath(path) in real_paths for path in paths if path):
        client_settings.reload(client)
    for uri in uris:
        client.harness.record_save(uri)


async def follow(client: EditorClient) -> None:
    """Register for changes of the settings files.

    The file of the user is in no workspace: only a pattern relative to its folder names it.
    """
    if not client.capabilities.watch_files:
        return
    if client.capabilities.relative_patterns:
        patterns = [types.RelativePattern(file.parent.as_uri(), file.name) for file in settings_files(client)]
    else:
        patterns = [f"**/{name}" for name in PROJECT_FILES if client.project]
    if not patterns:
        return
    watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
    registration = types.Registration(
        id="lsp-harness-settings-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers),
    )
    await client.server.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
