"""Verdicts as code lenses, and the progress of verifications."""

from typing import Any

import pytest

from tests.server.conftest import Spawn, release_harness
from tests.support.lsp import Editor, ResponseError, read_capabilities

URI = "file:///ws/a.py"
VERDICT = "lsp-harness-verdict:/0123456789ABCDEFGHJKMNPQRS/0.md"


def make_capabilities_with_lenses(client: str = "vscode", *, refresh: bool = True) -> dict[str, Any]:
    """Return the capabilities of a client that shows lenses."""
    declared = read_capabilities(client)
    declared["textDocument"]["codeLens"] = {}
    declared.setdefault("workspace", {})["codeLens"] = {"refreshSupport": refresh}
    return declared


async def request_lenses(editor: Editor) -> Any:
    return await editor.request("textDocument/codeLens", {"textDocument": {"uri": URI}})


async def test_a_verdict_is_a_lens_whose_command_shows_its_document(spawn: Spawn):
    editor = await spawn("vscode", capabilities=make_capabilities_with_lenses())
    editor.open(URI, "fine")
    await editor.find_params("workspace/codeLens/refresh")

    [lens] = await request_lenses(editor)
    assert lens["range"]["start"] == {"line": 0, "character": 0}
    assert lens["command"]["title"] == "verified ✓ 3 checks, 12 tests"
    executed = {"command": lens["command"]["command"], "arguments": lens["command"]["arguments"]}
    assert executed == {"command": "lspHarness.why", "arguments": [VERDICT]}
    assert (await editor.request("workspace/executeCommand", executed))["text"].startswith("# Check")


async def test_a_lens_names_the_check_that_failed(spawn: Spawn):
    editor = await spawn("vscode", capabilities=make_capabilities_with_lenses())
    editor.open(URI, "teh")
    await editor.find_params("workspace/codeLens/refresh")

    [lens] = await request_lenses(editor)
    assert lens["command"]["title"] == "verification failed ✗ spelling"


@pytest.mark.parametrize("declared", [read_capabilities("vscode"), make_capabilities_with_lenses(refresh=False)])
async def test_clients_that_cannot_refresh_lenses_get_none(spawn: Spawn, declared: dict[str, Any]):
    editor = await spawn("vscode", capabilities=declared)
    editor.open(URI, "fine")

    with pytest.raises(ResponseError, match=r"^-32601"):
        await request_lenses(editor)
    assert not [message for message in editor.received if message.get("method") == "workspace/codeLens/refresh"]


async def test_a_long_verification_shows_its_progress(spawn: Spawn):
    editor = await spawn("vscode", capabilities=make_capabilities_with_lenses())
    editor.open(URI, "slow")
    begin = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")
    assert begin["value"]["title"] == "Verifying with lsp-harness"
    assert (begin["value"]["message"], begin["value"]["percentage"]) == ("tests", 50)

    await release_harness(editor, URI)
    ended = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "end")
    assert ended["token"] == begin["token"]
    await editor.find_params("workspace/codeLens/refresh")


async def test_the_cancel_button_ends_the_verification(spawn: Spawn):
    editor = await spawn("vscode")
    editor.open(URI, "slow")
    begin = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")

    editor.notify("window/workDoneProgress/cancel", {"token": begin["token"]})

    await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "end")
    await editor.until(lambda: f"stopped {URI}" in editor.errors)


async def test_a_client_without_progress_bars_gets_no_progress(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "slow")
    await release_harness(editor, URI)
    await editor.find_params("textDocument/publishDiagnostics")
    assert not [message for message in editor.received if message.get("method") == "$/progress"]
