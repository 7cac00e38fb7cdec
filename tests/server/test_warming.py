"""Tests of the messages that report the cursor of the user, and the trust in the workspace."""

from pathlib import Path

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor

URI = "file:///ws/a.py"
DOCUMENT = {"uri": URI}


async def open_text(spawn: Spawn) -> Editor:
    editor = await spawn("vscode")
    editor.open(URI, "ab\ncd\n")
    await editor.until(lambda: "warm None" in editor.errors)
    return editor


def make_action_params(start: int, end: int) -> dict[str, object]:
    lsp_range = {"start": {"line": 1, "character": start}, "end": {"line": 1, "character": end}}
    return {"textDocument": DOCUMENT, "range": lsp_range, "context": {"diagnostics": []}}


async def test_opening_and_saving_warm_the_place_the_user_was_last_seen_at(spawn: Spawn):
    editor = await open_text(spawn)

    editor.notify("textDocument/didSave", {"textDocument": DOCUMENT})

    await editor.until(lambda: editor.errors.count("warm None") == 2)


async def test_a_code_action_without_a_selection_says_where_the_cursor_is(spawn: Spawn):
    editor = await open_text(spawn)

    await editor.request("textDocument/codeAction", make_action_params(1, 1))
    await editor.request("textDocument/codeAction", make_action_params(0, 2))

    await editor.until(lambda: "warm 4" in editor.errors)
    assert "warm 5" not in editor.errors


async def test_a_client_can_report_the_cursor_and_the_focused_document(spawn: Spawn):
    editor = await open_text(spawn)

    position = {"line": 1, "character": 2}
    editor.notify("lspHarness/didMoveCursor", {"textDocument": DOCUMENT, "position": position})
    await editor.until(lambda: "warm 5" in editor.errors)

    editor.notify("lspHarness/didFocus", {"textDocument": DOCUMENT})
    await editor.until(lambda: editor.errors.count("warm None") == 2)


@pytest.mark.parametrize(
    ("method", "params", "log_text"),
    [
        ("lspHarness/didMoveCursor", {"textDocument": DOCUMENT}, "needs a textDocument with a uri and a position"),
        ("lspHarness/didMoveCursor", None, "needs a textDocument with a uri and a position"),
        ("lspHarness/didFocus", {"textDocument": {"uri": 1}}, "needs a textDocument with a uri"),
        ("lspHarness/didFocus", {"textDocument": {"uri": "file:///b.py"}}, "is not open"),
    ],
)
async def test_a_message_that_does_not_fit_is_a_line_in_the_log(
    spawn: Spawn, method: str, params: object, log_text: str
):
    editor = await open_text(spawn)

    editor.notify(method, params)

    await editor.until(lambda: log_text in editor.errors)


@pytest.mark.parametrize(
    ("options", "trusted"),
    [
        ({}, True),
        ({"trusted": True}, True),
        ({"trusted": False}, False),
        ({"trusted": 1}, False),
        ({"lspHarness": {"trusted": False}}, False),
    ],
)
async def test_trust_is_an_initialization_option_and_no_setting(
    spawn: Spawn, options: dict[str, object], trusted: bool
):
    editor = await spawn("vscode", initializationOptions=options)
    editor.open(URI, "trust?")

    await editor.until(lambda: f"trusted {trusted}" in editor.errors)

    assert "unknown table" not in editor.errors


@pytest.mark.parametrize(("trusted", "model"), [(True, "theirs"), (False, "qwen2.5-coder-0.5b-instruct")])
async def test_settings_of_a_workspace_are_used_only_with_trust(
    spawn: Spawn, tmp_path: Path, trusted: bool, model: str
):
    (tmp_path / "lsp-harness.toml").write_text('[model]\npath = "theirs"\n')
    editor = await spawn("plain", rootUri=tmp_path.as_uri(), initializationOptions={"trusted": trusted})

    assert (await editor.request("workspace/executeCommand", {"command": "lspHarness.status"}))["model"] == model
