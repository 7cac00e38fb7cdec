"""Tools of a session in an editor: texts that are not saved count, and the editor makes the edits of them."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.sessions.conftest import EDIT, TEXT, Serve, run_command
from tests.support.lsp import Editor

READ = '<tool_call>\n{"name": "read", "arguments": {"path": "app.py"}}\n</tool_call>'
UNSAVED = "def add(a, b):\n    # not saved\n    return a + b\n"
REPLACED = UNSAVED.replace("a + b", "a - b")


def change(editor: Editor, uri: str, version: int, text: str) -> None:
    """Tell the server the whole new text of a document."""
    document = {"uri": uri, "version": version}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


async def read_tool_ends(editor: Editor, session_id: str) -> list[dict[str, Any]]:
    events = await run_command(editor, "events.since", sessionId=session_id)
    return [frame for frame in events["events"] if frame["type"] == "tool_end"]


async def run_with_unsaved_text(editor: Editor, uri: str) -> list[dict[str, Any]]:
    """Run a turn about a document that was edited and not saved, and return the ends of its tool calls."""
    editor.open(uri, TEXT)
    change(editor, uri, 2, UNSAVED)
    answer = await run_command(editor, "agent.run", prompt="subtract")
    return await read_tool_ends(editor, answer["sessionId"])


async def test_the_model_reads_and_edits_the_unsaved_text(serve: Serve, root: Path):
    editor = await serve(READ, EDIT, READ, "done", mode="acceptEdits")
    uri = (root / "app.py").as_uri()
    asked: list[Any] = []

    def apply(params: Any) -> dict[str, Any]:
        asked.append(params["edit"])
        change(editor, uri, 3, REPLACED)
        return {"applied": True}

    editor.replies["workspace/applyEdit"] = apply

    read, edited, again = await run_with_unsaved_text(editor, uri)

    assert "# not saved" in read["output"]
    assert edited["output"] == "app.py was changed in the editor, where it is not saved yet, in line 3."
    assert "return a - b" in again["output"]
    assert [("a - b" in str(edit), str(edit).count("newText")) for edit in asked] == [(True, 1)]
    assert (root / "app.py").read_text() == TEXT


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"applied": False, "failureReason": "the text is locked"}, "the editor did not apply the edit: the text is"),
        (RuntimeError("no such method"), "the editor did not apply the edit"),
    ],
)
async def test_an_edit_that_the_editor_refuses_changes_no_text(serve: Serve, root: Path, reply: Any, message: str):
    editor = await serve(EDIT, "done", mode="acceptEdits")
    editor.replies["workspace/applyEdit"] = reply
    [edited] = await run_with_unsaved_text(editor, (root / "app.py").as_uri())
    assert edited["error"]
    assert message in edited["output"]
    assert (root / "app.py").read_text() == TEXT


async def test_an_editor_that_applies_no_edits_is_asked_to_save(serve: Serve, root: Path):
    editor = await serve(EDIT, "done", mode="acceptEdits", applies_edits=False)
    [edited] = await run_with_unsaved_text(editor, (root / "app.py").as_uri())
    assert edited["error"]
    assert "app.py has unsaved changes, and this editor does not let a server edit its texts" in edited["output"]
    assert (root / "app.py").read_text() == TEXT


async def test_a_saved_open_text_is_edited_in_its_file(serve: Serve, root: Path):
    editor = await serve(EDIT, "done", mode="acceptEdits")
    uri = (root / "app.py").as_uri()
    editor.open(uri, TEXT)
    change(editor, uri, 2, UNSAVED)
    change(editor, uri, 3, TEXT)
    answer = await run_command(editor, "agent.run", prompt="subtract")
    [edited] = await read_tool_ends(editor, answer["sessionId"])
    assert edited["output"].startswith("app.py was changed in line 2.")
    assert "a - b" in (root / "app.py").read_text()
