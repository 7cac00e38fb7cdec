"""Actions of a project, comments that ask, and the fix of all findings of a kind, in a real server."""

from pathlib import Path
from typing import Any

from tests.server.sessions.conftest import Serve
from tests.support.lsp import Editor

SETTINGS = """\
[generation]
candidates = 1
max_retries = 0

[[actions]]
name = "guard"
title = "Guard the arguments"
prompt = "Check the arguments of {symbol}"
"""
BROKEN = '[[actions]]\nname = "guard"\nprompt = "in {folder}"\n'
TEXT = "def add(a, b):\n    # subtract instead ai!\n    return a + b\n"
DONE = "def add(a, b):\n    return a - b\n"


def make_line_range(first: int, last: int) -> dict[str, Any]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}


async def request_offers(
    editor: Editor, uri: str, place: dict[str, Any], *diagnostics: dict[str, Any]
) -> dict[str, Any]:
    context = {"diagnostics": list(diagnostics)}
    params = {"textDocument": {"uri": uri}, "range": place, "context": context}
    actions = await editor.request("textDocument/codeAction", params)
    # this client knows commands only
    return {action["title"]: {key: action[key] for key in ("command", "arguments")} for action in actions}


async def apply_and_read_edit(editor: Editor, command: dict[str, Any] | None = None) -> tuple[Any, str]:
    """Return the result of a command, and the new text of the edit that the server sent."""
    editor.replies["workspace/applyEdit"] = {"applied": True}
    result = None
    if command:
        result = await editor.request("workspace/executeCommand", command)
    edit = (await editor.find_params("workspace/applyEdit"))["edit"]
    changes = edit["changes"] if "changes" in edit else {"": edit["documentChanges"][0]["edits"]}
    [edits] = changes.values()
    return result, "".join(change["newText"] for change in edits)


def open_app(editor: Editor, root: Path, text: str) -> str:
    uri = (root / "app.py").as_uri()
    editor.open(uri, text)
    return uri


async def test_an_action_and_a_comment_are_offered_and_done(serve: Serve, root: Path) -> None:
    (root / "lsp-harness.toml").write_text(SETTINGS)
    editor = await serve("```python\ndef add(a, b):\n    return int(a) + b\n```")
    uri = open_app(editor, root, TEXT)
    actions = await request_offers(editor, uri, make_line_range(1, 1))
    assert {"Guard the arguments", "Do what the comment says"} <= actions.keys()
    assert "Do what the comment says" not in await request_offers(editor, uri, make_line_range(0, 0))
    result, text = await apply_and_read_edit(editor, actions["Guard the arguments"])
    assert result["applied"]
    assert "return int(a) + b" in text


async def test_the_code_action_of_a_comment_makes_the_edit(serve: Serve, root: Path) -> None:
    (root / "lsp-harness.toml").write_text(SETTINGS)
    editor = await serve(f"```python\n{DONE}```")
    uri = open_app(editor, root, TEXT)
    result, text = await apply_and_read_edit(
        editor, (await request_offers(editor, uri, make_line_range(1, 1)))["Do what the comment says"]
    )
    assert (result["applied"], "ai!" in text, "return a - b" in text) == (True, False, True)


async def test_a_comment_is_followed_on_save_if_the_setting_says_so(serve: Serve, root: Path) -> None:
    (root / "lsp-harness.toml").write_text("[generation]\ncandidates = 1\nmax_retries = 0\n")
    editor = await serve(f"```python\n{DONE}```", actions={"comment_trigger": True})
    uri = open_app(editor, root, TEXT)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    _, text = await apply_and_read_edit(editor)
    assert "return a - b" in text


async def test_without_the_setting_a_save_starts_no_edit(serve: Serve, root: Path) -> None:
    editor = await serve()
    uri = open_app(editor, root, TEXT)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert not [message for message in editor.received if message.get("method") == "workspace/applyEdit"]


async def test_a_question_is_answered_with_a_text(serve: Serve, root: Path) -> None:
    editor = await serve("Because it adds.")
    uri = open_app(editor, root, TEXT.replace("subtract instead ai!", "why? ai?"))
    command = (await request_offers(editor, uri, make_line_range(1, 1)))["Answer the comment"]
    result = await editor.request("workspace/executeCommand", command)
    assert result["text"].startswith("Because it adds.")


async def test_an_invalid_definition_is_a_diagnostic_until_it_is_repaired(serve: Serve, root: Path) -> None:
    file = root / "lsp-harness.toml"
    file.write_text(BROKEN)
    editor = await serve()
    published = await editor.find_params("textDocument/publishDiagnostics", lambda p: p["uri"] == file.as_uri())
    [diagnostic] = published["diagnostics"]
    assert diagnostic["message"].startswith("the action 'guard' is not offered: its prompt has the unknown placeholder")
    assert diagnostic["range"]["start"]["line"] == 0
    uri = open_app(editor, root, TEXT)
    assert "guard" not in await request_offers(editor, uri, make_line_range(0, 0))

    file.write_text(BROKEN.replace("{folder}", "{file}"))
    editor.notify("textDocument/didSave", {"textDocument": {"uri": file.as_uri()}})
    await editor.find_params(
        "textDocument/publishDiagnostics", lambda p: p["uri"] == file.as_uri() and not p["diagnostics"]
    )
    assert "guard" in await request_offers(editor, uri, make_line_range(0, 0))


async def test_all_findings_of_a_kind_are_fixed_by_one_edit(serve: Serve, root: Path) -> None:
    editor = await serve()
    uri = open_app(editor, root, "import os\nimport re\nimport sys\n\nprint(re)\n")
    diagnostic = {
        "range": {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 9}},
        "message": "`os` imported but unused",
        "code": "F401",
        "source": "Ruff",
    }
    actions = await request_offers(editor, uri, make_line_range(0, 0), diagnostic)
    command = actions["Fix all 2 of F401 in this file with lsp-harness"]
    editor.replies["workspace/applyEdit"] = {"applied": True}
    result = await editor.request("workspace/executeCommand", command)
    assert result["applied"]
    assert result["summary"] == (
        "the fix of 2 of 2 diagnostics passes (gone ✓, parse ✓, lint ✓, "
        "types – (ty is not installed (pip install ty)), "
        "tests – (a fix without the model is shown before its tests run))"
    )
