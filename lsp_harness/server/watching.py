"""Settings files that others change: where the client can watch files for a server, it tells us, and they are read again."""

import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from lsp_harness.config.load import PROJECT_FILES, user_file
from lsp_harness.server import settings
from lsp_harness.server.client import Client
from lsp_harness.text.uri import local_path


def files(client: Client) -> list[Path]:
    """Those that count, whether they are there or not."""
    return [user_file().absolute(), *(client.project / name for name in PROJECT_FILES if client.project)]


def changed(client: Client, uris: Iterable[str]) -> None:
    """Something may be different in these files. A link to a settings file is one, too."""
    ours = {os.path.realpath(file) for file in files(client)}
    paths = (local_path(uri) for uri in uris)
    if any(os.path.realpath(path) in ours for path in paths if path):
        settings.reload(client)


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
