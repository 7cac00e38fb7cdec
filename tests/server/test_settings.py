"""Settings of the editor, at the start and when they change."""

from typing import Any

from tests.server.conftest import Spawn
from tests.support.lsp import Editor


async def becomes(editor: Editor, path: str) -> bool:
    """The answer to a question of the server takes effect some turns of its loop later."""
    for _ in range(100):
        if await model(editor) == path:
            return True
    return False


async def model(editor: Editor) -> str:
    return (await editor.request("workspace/executeCommand", {"command": "lspHarness.status"}))["model"]


def setting(path: str) -> dict[str, Any]:
    return {"model": {"path": path}}


async def test_initialization_options_with_and_without_the_section(spawn: Spawn):
    bare = await spawn("plain", initializationOptions=setting("one"))
    wrapped = await spawn("plain", initializationOptions={"lspHarness": setting("two")})

    assert (await model(bare), await model(wrapped)) == ("one", "two")


async def test_options_that_make_no_sense_are_logged_and_change_nothing(spawn: Spawn):
    editor = await spawn("plain", initializationOptions={"model": {"path": 5, "nonsense": 1}})
    odd = await spawn("plain", initializationOptions=[1, 2])

    await editor.said("window/logMessage", lambda params: params["type"] == 2)
    assert await model(editor) == await model(odd)
    assert not [m for m in editor.received if m.get("method") == "window/showMessage"]


async def test_settings_are_asked_for_and_followed(spawn: Spawn):
    editor = await spawn(None)
    editor.replies["workspace/configuration"] = [setting("asked")]
    await editor.initialize("vscode", initializationOptions=setting("first"))

    registered = await editor.said("client/registerCapability")
    assert registered["registrations"] == [
        {
            "id": "lsp-harness-configuration",
            "method": "workspace/didChangeConfiguration",
            "registerOptions": {"section": "lspHarness"},
        }
    ]
    assert await editor.said("workspace/configuration") == {"items": [{"section": "lspHarness"}]}
    assert await becomes(editor, "asked")

    # asked again, because the notification itself says nothing
    editor.replies["workspace/configuration"] = [setting("changed")]
    asked = lambda: sum(m.get("method") == "workspace/configuration" for m in editor.received)
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await editor.until(lambda: asked() == 2)
    assert await becomes(editor, "changed")


async def test_settings_that_are_not_set_leave_things_as_they_are(spawn: Spawn):
    editor = await spawn(None)
    for reply in ([None], [], None, [5], ["x"], {"a": 1}, ValueError("no")):
        editor.replies["workspace/configuration"] = reply
        if not editor.received:
            await editor.initialize("nvim", initializationOptions=setting("first"))
        editor.notify("workspace/didChangeConfiguration", {"settings": {}})

    assert await model(editor) == "first"
    assert "Traceback" not in editor.errors


async def test_settings_can_be_pushed(spawn: Spawn):
    editor = await spawn("plain")

    editor.notify("workspace/didChangeConfiguration", {"settings": {"lspHarness": setting("pushed"), "other": 1}})
    assert await model(editor) == "pushed"
    editor.notify("workspace/didChangeConfiguration", {"settings": {"lspHarness": {}}})
    assert await model(editor) != "pushed"
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    editor.notify("workspace/didChangeConfiguration", {"settings": 5})
    assert await model(editor) != "pushed"
