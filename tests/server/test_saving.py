"""What is saved is indexed, also where the file system tells of no changes."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("shown", "hidden"):
        (folder / f"{name}.py").write_text("def before(): ...\n")
    return folder


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watching is looking once an hour."""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    monkeypatch.setenv("WATCHFILES_POLL_DELAY_MS", "3600000")


async def symbols(editor: Editor, query: str) -> list[str]:
    return [Path(one["location"]["uri"]).name for one in await editor.request("workspace/symbol", {"query": query})]


async def until(editor: Editor, query: str, files: list[str]) -> None:
    while await symbols(editor, query) != files:
        assert editor.process.returncode is None


def saved(file: Path) -> tuple[str, dict[str, Any]]:
    return "textDocument/didSave", {"textDocument": {"uri": file.as_uri()}}


def watched(file: Path) -> tuple[str, dict[str, Any]]:
    return "workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]}


@pytest.mark.usefixtures("deaf")
@pytest.mark.parametrize("told", [saved, watched])
async def test_what_is_written_is_indexed_where_the_system_tells_of_nothing(spawn: Spawn, workspace: Path, told: Any):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await until(editor, "before", ["hidden.py", "shown.py"])
    # everything is looked at once more when watching has begun, which is over when this is seen
    (workspace / "shown.py").write_text("def between(): ...\n")
    editor.notify(*told(workspace / "shown.py"))
    await until(editor, "between", ["shown.py"])
    for name in ("hidden", "shown"):
        (workspace / f"{name}.py").write_text("def after_it(): ...\n")

    editor.notify(*told(workspace / "shown.py"))

    await until(editor, "after_it", ["shown.py"])
    # that nobody has told of, and nobody looked for
    assert await symbols(editor, "before") == ["hidden.py"]
