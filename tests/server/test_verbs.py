"""Edits, docstrings, tests and explanations, as code actions and commands."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError

TEXT = "def area(r):\n    return 3 * r\n"
ALL = [
    ("Edit with lsp-harness…", "refactor.rewrite", "lspHarness.askInstruction"),
    ("Explain with lsp-harness", "refactor", "lspHarness.explain"),
]
SELECTION = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 16}}


def list_offered_actions(actions: list[Any]) -> list[tuple[str, str, str]]:
    return [(a["title"], a["kind"], a["command"]["command"]) for a in actions]


async def request_actions(editor: Editor, uri: str, *only: str) -> list[Any]:
    context = {"diagnostics": [], **({"only": list(only)} if only else {})}
    params = {"textDocument": {"uri": uri}, "range": SELECTION, "context": context}
    return await editor.request("textDocument/codeAction", params)


async def test_verbs_are_offered_by_kind_and_only_those_the_client_can_run(spawn: Spawn, tmp_path: Path):
    uri = (tmp_path / "a.py").as_uri()
    vscode, nvim = await spawn("vscode"), await spawn("nvim")
    for editor in (vscode, nvim):
        editor.open(uri, TEXT)

    assert list_offered_actions(await request_actions(vscode, uri)) == ALL
    assert list_offered_actions(await request_actions(vscode, uri, "refactor.rewrite")) == ALL[:1]
    assert list_offered_actions(await request_actions(vscode, uri, "refactor")) == ALL
    assert await request_actions(vscode, uri, "quickfix") == []
    # this client has no command that asks for an instruction
    assert list_offered_actions(await request_actions(nvim, uri)) == ALL[1:]
    [explain] = await request_actions(nvim, uri)
    assert explain["command"]["arguments"] == [{"uri": uri, "range": SELECTION}]


async def test_without_trust_only_completions_are_offered(spawn: Spawn, tmp_path: Path):
    uri = (tmp_path / "a.py").as_uri()
    editor = await spawn("vscode", initializationOptions={"trusted": False})
    editor.open(uri, TEXT)

    assert await request_actions(editor, uri) == []
    for command in ("docstring", "tests", "explain"):
        with pytest.raises(ResponseError, match="this workspace is not trusted"):
            await run(editor, command, {"uri": uri, "range": SELECTION})


async def run(editor: Editor, name: str, argument: Any) -> Any:
    params = {"command": f"lspHarness.{name}", "arguments": [argument]}
    return await editor.request("workspace/executeCommand", params)


@pytest.mark.parametrize(
    ("name", "argument", "reason"),
    [
        ("instruct", {"uri": "file:///ws/a.py", "range": SELECTION}, "needs an instruction as a string"),
        ("instruct", {"range": SELECTION}, "needs a uri and a range"),
        ("explain", {"uri": "file:///ws/a.py", "range": {"start": 3}}, "needs a uri and a range"),
        ("docstring", {"uri": "file:///gone.py", "range": SELECTION}, "is not open"),
        ("docstring", 7, "needs a uri and a range"),
        ("context", {"uri": "file:///ws/a.py", "range": SELECTION, "task": 7}, "needs a task as a string"),
        ("context", {"uri": "file:///ws/a.py"}, "needs a uri and a range"),
        *(
            (name, {"uri": "file:///ws/a.py", "range": SELECTION, "instruction": "mend it", "failing": failing}, reason)
            for name in ("instruct", "fix")
            for failing, reason in (
                (7, "takes in `failing` the output of a tool, as a string"),
                ("b.py:1:1: F821 no\n", "the output reports nothing in file:"),
            )
        ),
    ],
)
async def test_arguments_that_do_not_fit_are_named(spawn: Spawn, name: str, argument: Any, reason: str):
    editor = await spawn("vscode")
    editor.open("file:///ws/a.py", TEXT)

    with pytest.raises(ResponseError, match=reason):
        await run(editor, name, argument)


async def test_a_client_that_cannot_apply_edits_is_offered_none(spawn: Spawn):
    editor = await spawn("plain")
    editor.open("file:///ws/a.py", TEXT)

    assert await request_actions(editor, "file:///ws/a.py") == []
    with pytest.raises(ResponseError, match="does not apply edits"):
        await run(editor, "docstring", {"uri": "file:///ws/a.py", "range": SELECTION})
