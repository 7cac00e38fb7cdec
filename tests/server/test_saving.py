"""A saved file is indexed, also if the file system does not report changes."""

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
def without_file_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the index process look for changes only once an hour."""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    monkeypatch.setenv("WATCHFILES_POLL_DELAY_MS", "3600000")


async def find_symbol_files(editor: Editor, query: str) -> list[str]:
    return [
        Path(symbol["location"]["uri"]).name for symbol in await editor.request("workspace/symbol", {"query": query})
    ]


async def wait_for_symbols(editor: Editor, query: str, files: list[str]) -> None:
    while await find_symbol_files(editor, query) != files:
        assert editor.process.returncode is None


def make_did_save(file: Path) -> tuple[str, dict[str, Any]]:
    return "textDocument/didSave", {"textDocument": {"uri": file.as_uri()}}


def make_did_change_watched_files(file: Path) -> tuple[str, dict[str, Any]]:
    return "workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]}


@pytest.mark.usefixtures("without_file_events")
@pytest.mark.parametrize("notification", [make_did_save, make_did_change_watched_files])
async def test_a_saved_file_is_indexed_without_a_file_watch_of_the_system(
    spawn: Spawn, workspace: Path, notification: Any
):
    editor = await spawn("vscode", rootUri=workspace.as_uri())
    await wait_for_symbols(editor, "before", ["hidden.py", "shown.py"])
    # the index process scans once more when it starts to watch, and the server looks at the folder after that;
    # that scan may find the first change, but when the others are indexed, the scan and the look after it are over
    for name in ("first", "second", "third"):
        (workspace / "shown.py").write_text(f"def {name}_between(): ...\n")
        editor.notify(*notification(workspace / "shown.py"))
        await wait_for_symbols(editor, f"{name}_between", ["shown.py"])
    for name in ("hidden", "shown"):
        (workspace / f"{name}.py").write_text("def after_it(): ...\n")

    editor.notify(*notification(workspace / "shown.py"))

    await wait_for_symbols(editor, "after_it", ["shown.py"])
    # no notification named this file, and no scan found it
    assert await find_symbol_files(editor, "before") == ["hidden.py"]
