"""Files that a real agent writes in the folder of an editor: their findings are the diagnostics of the editor."""

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.server.sessions.conftest import Serve, root, run_command, serve
from tests.support.lsp import Editor

__all__ = ["root", "serve"]
PUBLISH = "textDocument/publishDiagnostics"
REFRESH = "workspace/diagnostic/refresh"
BUG = "print(nowhere)\n"
FIXED = "print(1)\n"


@pytest.fixture(autouse=True)
def lint_rules(root: Path) -> None:
    """Let the linter report undefined names."""
    (root / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')


async def run(editor: Editor, agent_id: str, line: str) -> None:
    """Type a command into the shell of an agent."""
    keys = base64.b64encode(f"{line}\r".encode()).decode()
    await run_command(editor, "runtime.press", agentId=agent_id, keys=keys)


async def write(editor: Editor, agent_id: str, text: str) -> None:
    """Let the shell write a text to the file of these tests."""
    await run(editor, agent_id, f"echo {text.strip()!r} > bug.py")


async def start(editor: Editor) -> str:
    agent = await run_command(editor, "runtime.spawn", type="shell")
    wanted = {"event": "agent_ready", "agentId": agent["id"]}
    await editor.find_params("$/lspHarness/event", lambda params: wanted.items() <= params.items())
    return agent["id"]


def list_diagnostic_codes(params: dict[str, Any]) -> list[str]:
    return [diagnostic["code"] for diagnostic in params["diagnostics"]]


def forget(editor: Editor, method: str) -> None:
    """Forget the messages of one method that have come until now."""
    editor.received[:] = [message for message in editor.received if message.get("method") != method]


async def wait_for_published_codes(editor: Editor, uri: str, wanted: list[str], **fields: Any) -> dict[str, Any]:
    """Wait for diagnostics with these codes, and forget all diagnostics until then."""

    def fits(params: dict[str, Any]) -> bool:
        return params["uri"] == uri and list_diagnostic_codes(params) == wanted and fields.items() <= params.items()

    params = await editor.find_params(PUBLISH, fits)
    forget(editor, PUBLISH)
    return params


async def test_the_bug_of_an_agent_is_a_diagnostic_until_it_is_fixed(serve: Serve, root: Path):
    editor = await serve(announced={"agents": True})
    agent_id, uri = await start(editor), (root / "bug.py").as_uri()

    # the file is not open, so the diagnostics have no version
    await write(editor, agent_id, BUG)
    params = await wait_for_published_codes(editor, uri, ["lint/F821"])
    assert "version" not in params
    assert params["diagnostics"][0]["range"]["start"] == {"line": 0, "character": 6}

    # an open document has the diagnostics of its text only
    editor.open(uri, BUG, version=1)
    await wait_for_published_codes(editor, uri, ["lint/F821"], version=1)
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": BUG + "\n"}]},
    )
    await wait_for_published_codes(editor, uri, [], version=2)
    editor.close_document(uri)
    await wait_for_published_codes(editor, uri, ["lint/F821"])

    await write(editor, agent_id, FIXED)
    await wait_for_published_codes(editor, uri, [])


async def test_a_client_that_pulls_gets_the_bug_of_an_agent_with_the_other_diagnostics(serve: Serve, root: Path):
    workspace = {"diagnostics": {"refreshSupport": True}}
    editor = await serve(announced={"agents": True}, client="vscode", workspace=workspace)
    agent_id, uri = await start(editor), (root / "bug.py").as_uri()
    editor.open(uri, BUG, version=1)

    async def pull() -> list[str]:
        report = await editor.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return [item["code"] for item in report["items"]]

    assert await pull() == []
    await write(editor, agent_id, BUG)
    await editor.find_params(REFRESH)
    assert await pull() == ["lint/F821"]
    forget(editor, REFRESH)
    await run_command(editor, "runtime.stop", agentId=agent_id)
    assert await pull() == ["lint/F821"]

    # after the end of the agent, its findings go with the bytes that they are about
    (root / "bug.py").write_text(BUG + "\n")
    await editor.find_params(REFRESH)
    assert await pull() == []
    assert not any(message.get("method") == PUBLISH for message in editor.received)
