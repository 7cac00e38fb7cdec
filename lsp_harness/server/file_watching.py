"""Files that are written, by the editor or by others. Settings are read again: where the client can watch files for a server, we ask to
be told of theirs. Of any other file the index is told, as not every file system tells it."""

import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from lsp_harness.config.load import PROJECT_FILES, user_config_file
from lsp_harness.server import client_settings
from lsp_harness.server.editor_client import Client
from lsp_harness.text.uri import local_path


def files(client: Client) -> list[Path]:
    """Those that count, whether they are there or not."""
    return [user_config_file().absolute(), *(client.project / name for name in PROJECT_FILES if client.project)]


def changed(client: Client, uris: Iterable[str]) -> None:
    """Something may be different in these files. A link to a settings file is one, too."""
    uris = [*uris]
    ours = {os.path.realpath(file) for file in files(client)}
    paths = (local_path(uri) for uri in uris)
    if any(os.path.realpath(path) in ours for path in paths if path):
        client_settings.reload(client)
    for uri in uris:
        client.harness.record_save(uri)


async def follow(client: Client) -> None:
    """Asks to be told of changes. The user's file is in no workspace: only a path relative to its folder names it."""
    if not client.able.watch_files:
        return
    if client.able.relative_patterns:
        patterns = [types.RelativePattern(file.parent.as_uri(), file.name) for file in files(client)]
    else:
        patterns = [f"**/{name}" for name in PROJECT_FILES if client.project]
    if not patterns:
        return
    wanted = types.Registration(
        id="lsp-harness-settings-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(p) for p in patterns]),
    )
    await client.server.client_register_capability_async(types.RegistrationParams(registrations=[wanted]))
