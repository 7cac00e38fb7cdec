"""Real language servers whose engine plays a script."""

import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.lsp import Editor, leave_all, read_capabilities

Serve = Callable[..., Awaitable[Editor]]
EDIT = '<tool_call>\n{"name": "edit", "arguments": {"path": "app.py", "old": "a + b", "new": "a - b"}}\n</tool_call>'
TEXT = "def add(a, b):\n    return a + b\n"
EDITED = TEXT.replace("a + b", "a - b")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace folder with one file. All other folders are those of this test."""
    # the path of a socket has at most 107 characters
    home = tempfile.mkdtemp(prefix="lsp-harness-")
    monkeypatch.setenv("LSP_HARNESS_HOME", home)
    monkeypatch.delenv("LSP_HARNESS_SOCKET", raising=False)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "app.py").write_text(TEXT)
    yield folder
    shutil.rmtree(home)


@pytest.fixture
async def serve(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serve]:
    """Start editors with a server each. The engine has these replies and no others."""
    editors: list[Editor] = []

    async def start(
        *replies: dict[str, Any] | str,
        announced: dict[str, Any] | None = None,
        client: str = "plain",
        mode: str = "",
        applies_edits: bool = True,
        has_index: bool = False,
        workspace: dict[str, Any] | None = None,
        window: dict[str, Any] | None = None,
        **options: Any,
    ) -> Editor:
        script = tmp_path / f"script{len(editors)}.json"
        script.write_text(json.dumps([{"text": reply} if isinstance(reply, str) else reply for reply in replies]))
        environment = {**os.environ, "LSP_HARNESS_ENGINE__SCRIPT": str(script)}
        environment["LSP_HARNESS_INDEX__ENABLED"] = str(has_index).lower()
        # errors that nobody asked for would stand beside those that a test waits for
        environment["LSP_HARNESS_VERIFICATION__ON_OPEN"] = "false"
        # the settings of an editor can only forbid more, because they may belong to a project
        environment |= {"LSP_HARNESS_PERMISSIONS__MODE": mode} if mode else {}
        editor = await Editor.spawn("-m", "lsp_harness", "serve", env=environment, cwd=root)
        editors.append(editor)
        known = {
            **read_capabilities(client),
            "experimental": {"lspHarness": announced or {}},
            "workspace": {"applyEdit": applies_edits, **(workspace or {})},
            **({"window": window} if window else {}),
        }
        folders = [{"uri": root.as_uri(), "name": "work"}]
        await editor.initialize(
            client, capabilities=known, workspaceFolders=folders, initializationOptions={"trusted": True, **options}
        )
        return editor

    yield start
    await leave_all(editors)


async def run_command(editor: Editor, name: str, /, **fields: Any) -> Any:
    """Run a command about sessions, and return its result."""
    return await editor.request("workspace/executeCommand", {"command": f"lspHarness.{name}", "arguments": [fields]})


async def run_and_fail(editor: Editor, name: str, /, **fields: Any) -> str:
    """Run a command that must fail, and return its message."""
    id = ask(editor, name, **fields)
    answer = await editor.find(lambda message: message.get("id") == id and "method" not in message)
    return answer["error"]["message"]


def ask(editor: Editor, name: str, /, **fields: Any) -> int:
    """Send a command without waiting for its answer, and return its id."""
    return editor.ask("workspace/executeCommand", {"command": f"lspHarness.{name}", "arguments": [fields]})
