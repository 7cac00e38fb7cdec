"""The code that a task is about, as editors request it."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError

SHOP = "# 𐐀\ndef total(prices):\n    return sum(prices)\n\n\ndef tax_of(price):\n    return price // 5  # 𐐀\n"
TASK = "let tax_of round up"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "notes.md").write_text("How tax_of rounds up: it does not.\n")
    return folder


async def run(editor: Editor, name: str, argument: Any) -> Any:
    params = {"command": f"lspHarness.{name}", "arguments": [argument]}
    return await editor.request("workspace/executeCommand", params)


async def wait_for_index(editor: Editor, query: str = "tax_of") -> None:
    """Wait until the index has this symbol. It is built while the test runs."""
    while not await editor.request("workspace/symbol", {"query": query}):
        assert editor.process.returncode is None


async def test_the_code_that_a_task_is_about(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_index(editor)
    located = await run(editor, "locate", {"task": TASK})

    first, *others = located["candidates"]
    assert (located["chosen"], located["by"]) == (0, "index")
    assert first == {
        "uri": (workspace / "shop.py").as_uri(),
        "path": "shop.py",
        # in UTF-16 units, as the client counts
        "range": {"start": {"line": 5, "character": 0}, "end": {"line": 6, "character": 27}},
        "symbol": "tax_of",
        "kind": "function",
        "signature": "def tax_of(price)",
        "reasons": ["named 1", "mention 1", "words 2"],
    }
    assert "notes.md" in [candidate["path"] for candidate in others]


async def test_the_unsaved_text_is_searched(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_index(editor)
    uri = (workspace / "shop.py").as_uri()
    editor.open(uri, "\n\n" + SHOP)

    [first, *_] = (await run(editor, "locate", {"task": TASK, "uri": uri}))["candidates"]

    assert first["range"]["start"] == {"line": 7, "character": 0}


async def test_a_task_can_name_one_of_several_folders(spawn: Spawn, workspace: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "tax.py").write_text("def tax_of(): ...\n")
    folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in (workspace, other)]
    editor = await spawn("vscode", workspaceFolders=folders)
    while len(await editor.request("workspace/symbol", {"query": "tax_of"})) != 2:
        assert editor.process.returncode is None

    for uri in (other.as_uri(), (other / "new.py").as_uri()):
        assert [
            candidate["path"] for candidate in (await run(editor, "locate", {"task": TASK, "uri": uri}))["candidates"]
        ] == ["tax.py"]
    with pytest.raises(ResponseError, match="several folders are open"):
        await run(editor, "locate", {"task": TASK, "uri": "untitled:one"})


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ({"task": " "}, "the task is empty; describe it in words"),
        ({}, "needs a task as a string"),
        ({"task": TASK, "uri": 7}, "takes the uri of a file or folder, or no uri"),
    ],
)
async def test_a_task_without_words_is_refused_with_a_remedy(
    spawn: Spawn, workspace: Path, argument: dict[str, Any], reason: str
):
    editor = await spawn("vscode", rootUri=workspace.as_uri())

    with pytest.raises(ResponseError, match=reason):
        await run(editor, "locate", argument)


async def test_a_search_without_a_result_says_why(spawn: Spawn, workspace: Path):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_index(editor)
    while True:
        with pytest.raises(ResponseError) as error:
            await run(editor, "locate", {"task": "zebra"})
        if "still being made" not in str(error.value):
            break
    assert "no code in ws fits this task; name a function in it" in str(error.value)

    without_folder = await spawn("vscode")
    with pytest.raises(ResponseError, match="no folder is open"):
        await run(without_folder, "locate", {"task": TASK})

    options = {"initializationOptions": {"index": {"enabled": False}}}
    without_index = await spawn("vscode", rootUri=workspace.as_uri(), **options)
    with pytest.raises(ResponseError, match=r"index\.enabled is false"):
        await run(without_index, "locate", {"task": TASK})

    untrusted = await spawn("vscode", rootUri=workspace.as_uri(), initializationOptions={"trusted": False})
    for command, argument in (("locate", {"task": TASK}), ("instruct", {"instruction": TASK})):
        with pytest.raises(ResponseError, match="this workspace is not trusted"):
            await run(untrusted, command, argument)


async def test_the_ranker_is_a_setting_and_a_wrong_one_is_named(spawn: Spawn, workspace: Path):
    options = {"initializationOptions": {"locate": {"ranking": "fate"}}}
    editor = await spawn("vscode", rootUri=workspace.as_uri(), **options)

    with pytest.raises(ResponseError, match=r"locate\.ranking must be one of index, model, not 'fate'"):
        await run(editor, "locate", {"task": TASK})
