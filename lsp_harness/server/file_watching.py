"""Reacts to files that were created, changed or deleted, by the editor or by another program.

A settings file is read again, whoever noticed that it changed. The state of the folders is told of any other file. If
the client can watch files for servers, the server registers for the settings files and for those that checks read.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from lsp_harness.config.load import PROJECT_FILES, find_user_config_file
from lsp_harness.languages.language_table import language_table
from lsp_harness.server import client_settings
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.folder_stamps import ChangedFile, ChangeKind

DATA_SUFFIXES = ("cfg", "csv", "env", "ini", "ipynb", "lock", "pth", "txt")
"""Ends of names of files that tests read, or that set up a project."""


def settings_files(client: EditorClient) -> list[Path]:
    """Return the paths of all settings files that count, also of those that do not exist."""
    return [find_user_config_file().absolute(), *(client.project / name for name in PROJECT_FILES if client.project)]


def handle_changes(client: EditorClient, hints: Iterable[tuple[str, ChangeKind]]) -> None:
    """Read the settings again if one of the files is a settings file or a link to one, and record all of them.

    Args:
        client: The client.
        hints: The URI of each file, and what happened to it.
    """
    hints = [*hints]
    paths = (local_path(uri) for uri, _ in hints)
    if _holds_settings(client, (path for path in paths if path)):
        client_settings.reload(client)
    client.is_recording_files = True
    try:
        client.harness.files.record(hints)
    finally:
        client.is_recording_files = False


def listen(client: EditorClient) -> None:
    """Read the settings again when somebody else than the client notices that one of their files changed."""
    folders = client.harness.services.folders

    def handle(changes: Sequence[ChangedFile]) -> None:
        # what the client reports was handled already
        if not client.is_recording_files and _holds_settings(client, (change.path for change in changes)):
            client_settings.reload(client)

    folders.extra_files = lambda: [find_user_config_file().absolute()]
    folders.listeners.append(handle)


def _holds_settings(client: EditorClient, paths: Iterable[Path]) -> bool:
    real_paths = {os.path.realpath(file) for file in settings_files(client)}
    return any(os.path.realpath(path) in real_paths for path in paths)


async def follow(client: EditorClient) -> None:
    """Register for changes of files that count, if the client can watch them."""
    if not client.capabilities.watch_files:
        return
    await _follow_settings(client)
    if client.harness.workspace.is_trusted:
        await _follow_folders(client)


async def _follow_folders(client: EditorClient) -> None:
    """Register for changes of the files of the workspace that checks may read."""
    suffixes = sorted({*language_table().by_extension, *DATA_SUFFIXES})
    pattern = f"**/*.{{{','.join(suffixes)}}}"
    if client.capabilities.relative_patterns:
        patterns = [types.RelativePattern(root.as_uri(), pattern) for root in client.harness.workspace.roots]
    else:
        patterns = [pattern] if client.harness.workspace.roots else []
    if patterns:
        await _register(client, "lsp-harness-files", patterns)


async def _follow_settings(client: EditorClient) -> None:
    """Register for changes of the settings files.

    The file of the user is in no workspace: only a pattern relative to its folder names it.
    """
    if client.capabilities.relative_patterns:
        patterns = [types.RelativePattern(file.parent.as_uri(), file.name) for file in settings_files(client)]
    else:
        patterns = [f"**/{name}" for name in PROJECT_FILES if client.project]
    if patterns:
        await _register(client, "lsp-harness-settings-files", patterns)


async def _register(client: EditorClient, name: str, patterns: Sequence[types.GlobPattern]) -> None:
    watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
    registration = types.Registration(
        id=name,
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers),
    )
    await client.server.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
