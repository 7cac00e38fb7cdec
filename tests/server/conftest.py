"""Server processes with a scripted harness."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.lsp import Editor, leave_all

FAKE = str(Path(__file__).with_name("fake_main.py"))

Spawn = Callable[..., Awaitable[Editor]]


@pytest.fixture
async def spawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Spawn]:
    """Start editors with a server each. At the end, every request must have exactly one answer."""
    editors: list[Editor] = []
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))

    async def start(client: str | None = "vscode", *arguments: str, **params: object) -> Editor:
        """Start a server. `client` names the capabilities for `initialize`. With None, the test sends `initialize`."""
        editor = await Editor.spawn(FAKE, *arguments)
        editors.append(editor)
        if client:
            await editor.initialize(client, **params)
        return editor

    yield start
    await leave_all(editors)


async def release_harness(editor: Editor, uri: str) -> None:
    """Let the work that waits in the fake harness go on, and let the harness publish its findings."""
    await editor.request("workspace/executeCommand", {"command": "lspHarness.accepted", "arguments": [uri, "go on"]})
