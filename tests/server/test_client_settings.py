"""Settings of the editor, at the start and when they change."""

from pathlib import Path
from typing import Any

from tests.server.conftest import Spawn
from tests.support.lsp import Editor


async def wait_for_model(editor: Editor, path: str) -> bool:
    """Return whether the model changes to this one. The answer of the client takes effect a little later."""
    for _ in range(100):
        if await read_model(editor) == path:
            return True
    return False


async def read_model(editor: Editor) -> str:
    return (await editor.request("workspace/executeCommand", {"command": "lspHarness.status"}))["model"]


def make_setting(path: str) -> dict[str, Any]:
    return {"model": {"path": path}}


async def test_initialization_options_are_read_with_and_without_the_section(spawn: Spawn):
    without_section = await spawn("plain", initializationOptions=make_setting("one"))
    with_section = await spawn("plain", initializationOptions={"lspHarness": make_setting("two")})

    assert (await read_model(without_section), await read_model(with_section)) == ("one", "two")


async def test_invalid_options_are_logged_and_change_no_setting(spawn: Spawn):
    editor = await spawn("plain", initializationOptions={"model": {"path": 5, "nonsense": 1}})
    with_invalid_options = await spawn("plain", initializationOptions=[1, 2])

    await editor.find_params("window/logMessage", lambda params: params["type"] == 2)
    assert await read_model(editor) == await read_model(with_invalid_options)
    assert not [message for message in editor.received if message.get("method") == "window/showMessage"]


async def test_settings_are_requested_and_used(spawn: Spawn):
    editor = await spawn(None)
    editor.replies["workspace/configuration"] = [make_setting("requested")]
    await editor.initialize("vscode", initializationOptions=make_setting("first"))

    registration = await editor.find_params("client/registerCapability")
    assert registration["registrations"] == [
        {
            "id": "lsp-harness-configuration",
            "method": "workspace/didChangeConfiguration",
            "registerOptions": {"section": "lspHarness"},
        }
    ]
    assert await editor.find_params("workspace/configuration") == {"items": [{"section": "lspHarness"}]}
    assert await wait_for_model(editor, "requested")

    # the notification has no settings, so the server requests them again
    editor.replies["workspace/configuration"] = [make_setting("changed")]
    configuration_requests = lambda: sum(
        message.get("method") == "workspace/configuration" for message in editor.received
    )
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await editor.until(lambda: configuration_requests() == 2)
    assert await wait_for_model(editor, "changed")


async def test_answers_without_settings_change_no_setting(spawn: Spawn):
    editor = await spawn(None)
    for reply in ([None], [], None, [5], ["x"], {"a": 1}, ValueError("no")):
        editor.replies["workspace/configuration"] = reply
        if not editor.received:
            await editor.initialize("nvim", initializationOptions=make_setting("first"))
        editor.notify("workspace/didChangeConfiguration", {"settings": {}})

    assert await read_model(editor) == "first"
    assert "Traceback" not in editor.errors


async def test_settings_can_be_pushed(spawn: Spawn):
    editor = await spawn("plain")

    editor.notify("workspace/didChangeConfiguration", {"settings": {"lspHarness": make_setting("pushed"), "other": 1}})
    assert await read_model(editor) == "pushed"
    editor.notify("workspace/didChangeConfiguration", {"settings": {"lspHarness": {}}})
    assert await read_model(editor) != "pushed"
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    editor.notify("workspace/didChangeConfiguration", {"settings": 5})
    assert await read_model(editor) != "pushed"


async def test_a_project_file_is_used_and_its_mistakes_are_diagnostics(spawn: Spawn, tmp_path: Path):
    file = tmp_path / "lsp-harness.toml"
    file.write_text('[model]\npath = "mine"\n\n[generation]\ncandidate = 3\n')
    editor = await spawn("plain", rootUri=tmp_path.as_uri())

    published = await editor.find_params("textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))

    assert await read_model(editor) == "mine"
    assert published["uri"] == file.as_uri()
    [diagnostic] = published["diagnostics"]
    assert (diagnostic["range"]["start"]["line"], diagnostic["severity"], diagnostic["source"]) == (4, 2, "lsp-harness")
    assert "generation.candidate" in diagnostic["message"]


async def test_a_saved_project_file_is_used_and_clears_its_diagnostics(spawn: Spawn, tmp_path: Path):
    file = tmp_path / "lsp-harness.toml"
    file.write_text("[modle]\n")
    editor = await spawn("plain", rootUri=tmp_path.as_uri())
    await editor.find_params("textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))

    file.write_text('[model]\npath = "other"\n')
    editor.notify("textDocument/didSave", {"textDocument": {"uri": file.as_uri()}})

    await editor.find_params("textDocument/publishDiagnostics", lambda params: not params["diagnostics"])
    assert await read_model(editor) == "other"


async def test_a_saved_project_file_keeps_the_settings_of_the_editor(spawn: Spawn, tmp_path: Path):
    file = tmp_path / "lsp-harness.toml"
    file.write_text("[modle]\n")
    editor = await spawn("plain", rootUri=tmp_path.as_uri(), initializationOptions=make_setting("editors"))
    await editor.find_params("textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))

    file.write_text('[model]\npath = "projects"\n')
    editor.notify("textDocument/didSave", {"textDocument": {"uri": file.as_uri()}})

    await editor.find_params("textDocument/publishDiagnostics", lambda params: not params["diagnostics"])
    assert await read_model(editor) == "editors"


async def test_a_project_cannot_choose_the_engine(spawn: Spawn, tmp_path: Path):
    (tmp_path / "lsp-harness.toml").write_text('[engine]\nurl = "/tmp/theirs.sock"\n')
    editor = await spawn("plain", rootUri=tmp_path.as_uri())

    published = await editor.find_params("textDocument/publishDiagnostics", lambda params: bool(params["diagnostics"]))

    assert "[engine] may only be set in" in published["diagnostics"][0]["message"]
