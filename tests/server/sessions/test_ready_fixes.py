"""Saved edits and fixes that are ready, from a real language server with its real checks."""

from pathlib import Path
from typing import Any

from tests.server.sessions.conftest import Serve
from tests.support.lsp import Editor

BROKEN = "def area(radius):\n    return 3 * raduis ** 2\n"
FIXED = BROKEN.replace("raduis", "radius")
ALWAYS = {"when": "always", "prepare_fixes": 1}


async def change(editor: Editor, uri: str, version: int, text: str) -> None:
    params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
    editor.notify("textDocument/didChange", params)


async def wait_for_diagnostics(editor: Editor, version: int, *, count: int) -> Any:
    """Wait for diagnostics of a version, and return them."""
    params = await editor.find_params(
        "textDocument/publishDiagnostics",
        lambda params: params.get("version") == version and len(params["diagnostics"]) == count,
    )
    return params["diagnostics"]


async def request_quick_fixes(editor: Editor, uri: str, diagnostic: dict[str, Any]) -> list[dict[str, Any]]:
    context = {"diagnostics": [diagnostic], "only": ["quickfix"], "triggerKind": 1}
    params = {"textDocument": {"uri": uri}, "range": diagnostic["range"], "context": context}
    return await editor.request("textDocument/codeAction", params)


async def test_a_saved_edit_is_verified_and_its_fix_is_prepared(serve: Serve, root: Path):
    editor = await serve(client="vscode", verification={"on_save": True}, background=ALWAYS)
    uri = (root / "app.py").as_uri()
    editor.open(uri, "def area(radius):\n    return 3\n")
    await change(editor, uri, 2, BROKEN)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    [diagnostic] = await wait_for_diagnostics(editor, 2, count=1)
    assert (diagnostic["source"], diagnostic["code"]) == ("lsp-harness", "lint/F821")
    assert diagnostic["data"]["finding"]["source"] == "ruff"
    line, place = diagnostic["relatedInformation"]
    assert (line["message"], line["location"]["range"]) == ("LINT: F821 Undefined name `raduis`", diagnostic["range"])
    assert diagnostic["data"]["feedback"] == line["message"]
    assert place["message"] == "it came with a change that was saved here"

    while "edit" not in (fix := (await request_quick_fixes(editor, uri, diagnostic))[0]):
        assert editor.process.returncode is None
    assert fix["title"] == "Fix with lsp-harness: `raduis` → `radius` (parse ✓, kept ✓, lint ✓, gone ✓)"
    [edit] = fix["edit"]["changes"][uri]
    assert edit["newText"] == "radius"

    await change(editor, uri, 3, FIXED)
    assert await wait_for_diagnostics(editor, 3, count=0) == []
    executed = {"command": "lspHarness.statistics", "arguments": []}
    statistics = await editor.request("workspace/executeCommand", executed)
    names = ("fixes_prepared", "fixes_used", "fixes_dropped", "fixes_offered")
    assert [statistics[name] for name in names] == [1, 1, 0, 1]
    # a text that was fixed is no text of the old diagnostic
    assert not [fix for fix in await request_quick_fixes(editor, uri, diagnostic) if "edit" in fix]


async def test_no_fix_is_prepared_in_a_workspace_that_is_not_trusted(serve: Serve, root: Path):
    editor = await serve(client="vscode", trusted=False, verification={"on_save": True}, background=ALWAYS)
    uri = (root / "app.py").as_uri()
    editor.open(uri, "def area(radius):\n    return 3\n")
    await change(editor, uri, 2, BROKEN + "(\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    # settings in a workspace that is not trusted count if they come from the editor; the linter does not run
    [diagnostic] = await wait_for_diagnostics(editor, 2, count=1)
    assert diagnostic["code"] == "syntax"
    assert diagnostic["data"]["feedback"].startswith("SYNTAX ERROR at line 3: ")
    assert [fix["title"] for fix in await request_quick_fixes(editor, uri, diagnostic)] == ["Why lsp-harness says this"]
