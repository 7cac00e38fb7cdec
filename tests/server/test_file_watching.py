"""Settings files that another program changes."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.server.test_client_settings import make_setting, read_model
from tests.support.lsp import Editor, read_capabilities

METHOD = "workspace/didChangeWatchedFiles"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


async def find_watched_patterns(editor: Editor) -> list[Any]:
    """Return the patterns that the server registers."""

    def is_for_files(params: dict[str, Any]) -> bool:
        return params["registrations"][0]["method"] == METHOD

    [registration] = (await editor.find_params("client/registerCapability", is_for_files))["registrations"]
    return [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]


def report_changes(editor: Editor, *files: Path, kind: int = 2) -> None:
    editor.notify(METHOD, {"changes": [{"uri": file.as_uri(), "type": kind} for file in files]})


async def test_the_client_is_asked_to_watch_the_settings_files(spawn: Spawn, project: Path, tmp_path: Path):
    editor = await spawn("vscode", rootUri=project.as_uri())

    assert await find_watched_patterns(editor) == [
        {"baseUri": (tmp_path / "home").as_uri(), "pattern": "config.toml"},
        {"baseUri": project.as_uri(), "pattern": "lsp-harness.toml"},
        {"baseUri": project.as_uri(), "pattern": "localcode.toml"},
        {"baseUri": project.as_uri(), "pattern": "lsp-harness.local.toml"},
    ]


async def test_a_client_that_watches_only_the_workspace_registers_these_files(spawn: Spawn, project: Path):
    client_capabilities = read_capabilities("vscode")
    client_capabilities["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    editor = await spawn("vscode", rootUri=project.as_uri(), capabilities=client_capabilities)

    assert await find_watched_patterns(editor) == [
        "**/lsp-harness.toml",
        "**/localcode.toml",
        "**/lsp-harness.local.toml",
    ]


async def test_a_client_without_file_watching_is_not_asked(spawn: Spawn, project: Path):
    client_capabilities = read_capabilities("vscode")
    del client_capabilities["workspace"]["didChangeWatchedFiles"]
    editor = await spawn("vscode", rootUri=project.as_uri(), capabilities=client_capabilities)

    # the server requests the configuration last
    await editor.find_params("workspace/configuration")
    assert await read_model(editor)
    registrations = [
        message["params"] for message in editor.received if message.get("method") == "client/registerCapability"
    ]
    assert [registration["registrations"][0]["method"] for registration in registrations] == [
        "workspace/didChangeConfiguration"
    ]


async def test_a_settings_file_can_be_created_changed_and_removed(spawn: Spawn, project: Path):
    editor = await spawn("vscode", rootUri=project.as_uri())
    file, default = project / "lsp-harness.toml", await read_model(editor)

    file.write_text('[model]\npath = "one"\n')
    report_changes(editor, file, kind=1)
    assert await read_model(editor) == "one"

    file.write_text('[model]\npath = "two"\nnonsense = 1\n')
    report_changes(editor, project / "main.py", file)
    assert await read_model(editor) == "two"
    published = await editor.find_params("textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))
    assert published["uri"] == file.as_uri()

    file.unlink()
    report_changes(editor, file, kind=3)
    assert await read_model(editor) == default
    last = [
        message["params"] for message in editor.received if message.get("method") == "textDocument/publishDiagnostics"
    ][-1]
    assert last == {"uri": file.as_uri(), "diagnostics": []}


async def test_settings_of_the_editor_win_over_a_changed_file(spawn: Spawn, project: Path):
    editor = await spawn("vscode", rootUri=project.as_uri(), initializationOptions=make_setting("editors"))

    (project / "lsp-harness.toml").write_text('[model]\npath = "projects"\n')
    report_changes(editor, project / "lsp-harness.toml")

    assert await read_model(editor) == "editors"


@pytest.mark.parametrize("way", ["watched", "saved"])
async def test_the_settings_file_of_the_user_is_read_again(spawn: Spawn, project: Path, tmp_path: Path, way: str):
    editor = await spawn("vscode", rootUri=project.as_uri())
    # a link, as users have it who keep such files in a repository
    real, file = tmp_path / "dotfiles.toml", tmp_path / "home/config.toml"
    real.write_text('[model]\npath = "users"\n')
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(real)

    if way == "watched":
        report_changes(editor, file)
    else:
        editor.notify("textDocument/didSave", {"textDocument": {"uri": real.as_uri()}})

    assert await read_model(editor) == "users"


async def test_a_settings_file_in_another_folder_is_not_read(spawn: Spawn, project: Path):
    editor = await spawn("vscode", rootUri=project.as_uri())
    default = await read_model(editor)
    inner = project / "vendored"
    inner.mkdir()
    (inner / "lsp-harness.toml").write_text('[model]\npath = "theirs"\n')
    # the client does not report this file
    (project / "lsp-harness.toml").write_text('[model]\npath = "mine"\n')

    report_changes(editor, inner / "lsp-harness.toml")
    editor.notify(METHOD, {"changes": [{"uri": "untitled:lsp-harness.toml", "type": 2}]})

    assert await read_model(editor) == default


async def test_a_project_that_is_not_trusted_is_neither_watched_nor_read(spawn: Spawn, project: Path, tmp_path: Path):
    editor = await spawn("vscode", rootUri=project.as_uri(), initializationOptions={"trusted": False})
    assert await find_watched_patterns(editor) == [{"baseUri": (tmp_path / "home").as_uri(), "pattern": "config.toml"}]
    default = await read_model(editor)

    (project / "lsp-harness.toml").write_text('[model]\npath = "theirs"\n')
    report_changes(editor, project / "lsp-harness.toml")

    assert await read_model(editor) == default
