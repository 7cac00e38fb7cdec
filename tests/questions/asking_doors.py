"""The surfaces that ask a person: each lets a model make the same calls, and returns what the person sees.

The model is a script, and the person always says no.
"""

import asyncio
import io
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from acp import text_block

from lsp_harness.cli.sessions.chat_cli import TerminalConversation
from lsp_harness.cli.sessions.session_flags import SessionFlags
from tests.acp.conftest import Editor as AcpEditor
from tests.api.conftest import open_servers
from tests.questions.misleading_calls import CALLS
from tests.support.lsp import Editor, leave_all, read_capabilities
from tests.support.scripted_session import call_text, write_script

TEXT = "def add(a, b):\n    return a + b\n"
PAGE_TESTS = Path(__file__).parents[1] / "api" / "page"
REPLIES = [call_text(call.tool, **call.input) for call in CALLS.values()]


def make_project(folder: Path) -> Path:
    """Return a new folder with a file."""
    root = folder / "work"
    root.mkdir(parents=True)
    (root / "app.txt").write_text(TEXT)
    return root


class ReadingPerson:
    """A person in a terminal who looks at all of each question and says no."""

    def __init__(self, screen: io.StringIO, prompts: int) -> None:
        self.seen: list[str] = []
        self._screen, self._prompts = screen, prompts

    async def read(self, prompt: str) -> str | None:
        """Return a prompt, as often as there are calls."""
        self._prompts -= 1
        return "go on" if self._prompts >= 0 else None

    async def answer(self, question: str) -> str | None:
        """Return the answer, after the whole question was looked at."""
        shown = self._screen.getvalue()
        self._screen.truncate(0)
        self._screen.seek(0)
        if "press v" in shown:
            return "v"
        # a line about the running call may stand above the question
        begin = max(shown.rfind("bash: run a program\n"), shown.rfind("edit: change files\n"))
        self.seen.append(shown[begin:].removesuffix("\n"))
        return "n"

    def cancel(self) -> bool:
        """Return false: nobody presses Ctrl-C."""
        return False


def ask_in_terminal(folder: Path) -> list[str]:
    """Return the questions of `lsp-harness chat`."""
    root, screen = make_project(folder), io.StringIO()
    person = ReadingPerson(screen, len(REPLIES))
    flags = SessionFlags(provider=write_script(folder, *REPLIES), cwd=str(root), permission_mode="ask")
    with redirect_stdout(screen):
        assert asyncio.run(TerminalConversation(flags, person).run()) == 0
    return person.seen


async def ask_over_lsp(folder: Path) -> list[str]:
    """Return the messages that an editor is asked to show."""
    root = make_project(folder)
    script = write_script(folder, *REPLIES).removeprefix("scripted:")
    environment = {**os.environ, "LSP_HARNESS_ENGINE__SCRIPT": script, "LSP_HARNESS_INDEX__ENABLED": "false"}
    editor = await Editor.spawn("-m", "lsp_harness", "serve", env=environment, cwd=root)
    try:
        folders = [{"uri": root.as_uri(), "name": "work"}]
        await editor.initialize(
            "plain",
            capabilities=read_capabilities("plain"),
            workspaceFolders=folders,
            initializationOptions={"trusted": True},
        )
        editor.replies["window/showMessageRequest"] = {"title": "Reject"}
        session = ""
        for _ in REPLIES:
            given = {"prompt": "go on", "sessionId": session}
            parameters = {"command": "lspHarness.agent.run", "arguments": [given]}
            session = (await editor.request("workspace/executeCommand", parameters))["sessionId"]
    finally:
        await leave_all([editor])
    asked = [m["params"]["message"] for m in editor.received if m.get("method") == "window/showMessageRequest"]
    return [message.removeprefix("lsp-harness asks:\n") for message in asked]


async def ask_over_acp(folder: Path) -> list[str]:
    """Return the texts of the questions that an agent asks an editor, which are those of their calls, too."""
    editor = AcpEditor(make_project(folder), Path(os.environ["LSP_HARNESS_HOME"]), choice="reject")
    editor.script(*REPLIES)
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        for _ in REPLIES:
            await agent.prompt(session_id=session.session_id, prompt=[text_block("go on")])
    texts: list[str] = []
    for call, _ in editor.questions:
        assert call.status == "pending"
        updates = [u for u in editor.updates if getattr(u, "tool_call_id", "") == call.tool_call_id]
        # refused before it ever ran
        assert [update.status for update in updates] == ["pending", "pending", "failed"]
        assert updates[1].content[0] == call.content[0]
        texts.append(call.content[0].content.text)
    return texts


async def ask_over_http(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the open questions."""
    folder.mkdir()
    rows: list[dict[str, Any]] = []
    async with open_servers(Path(os.environ["LSP_HARNESS_HOME"]), folder) as start:
        api = await start(replies=tuple(REPLIES))
        (api.root / "app.txt").write_text(TEXT)
        async with api.client() as client:
            place = (await client.post("/sessions", json={"workdir": "."})).headers["location"]
            for _ in REPLIES:
                running = asyncio.ensure_future(client.post(f"{place}/turns", json={"prompt": "go on"}))
                listed: list[Any] = []
                while not listed and not running.done():
                    listed = (await client.get("/permissions")).json()["permissions"]
                rows += listed
                for row in listed:
                    await client.post(f"/permissions/{row['request_id']}", json={"decision": "deny"})
                await running
    return rows


def show_in_page(node: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the inspector shows of these questions."""
    script = str(PAGE_TESTS / "shown_questions.mjs")
    return json.loads(
        subprocess.run([node, script], input=json.dumps(rows).encode(), capture_output=True, check=True).stdout
    )


def replace_places(texts: Iterable[str], *folders: Path) -> list[str]:
    """Return texts with the same name for the folders that each surface has of its own."""
    names = sorted((str(folder.resolve()) for folder in folders), key=len, reverse=True)
    shown: list[str] = []
    for text in texts:
        for name in names:
            text = text.replace(name, "PLACE")
        shown.append(text)
    return shown
