"""`lsp-harness acp` in a process, and a client of the library that plays an editor."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    WriteTextFileResponse,
)

from lsp_harness.inference.models import model_files
from tests.support.forked_process import ForkedProcess
from tests.support.scripted_session import Reply, write_script

AREA, EDGE = (
    "def area(radius):\n    return 3 * radius + math.pi\n",
    "def edge(radius):\n    return 2 * area(radius)\n",
)
GEO = f"import math\n\n\n{AREA}\n\n{EDGE}"
ACP_MODULES = ("lsp_harness.cli.usage_errors", "lsp_harness.cli.commands.acp_cli", "lsp_harness.acp.stdio_agent")


@dataclass
class Editor:
    """A client of the protocol that records what the agent sends.

    Attributes:
        root: The project.
        home: The home of the user.
        choice: The option that the user chooses, or an empty text for a question that is closed.
        unsaved: The unsaved texts, by path. None if the editor gives no texts.
        updates: The updates in their order.
        questions: The questions in their order.
    """

    root: Path
    home: Path
    choice: str = "once"
    unsaved: dict[str, str] | None = None
    updates: list[Any] = field(default_factory=list[Any])
    questions: list[Any] = field(default_factory=list[Any])
    options: list[str] = field(default_factory=list[str])
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def script(self, *replies: Reply) -> None:
        """Let the model answer with these replies."""
        self.options += ["--provider", write_script(self.root.parent, *replies)]

    # -- the interface of the protocol
    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **more: Any) -> Any:
        self.questions.append((tool_call, options))
        self._changed.set()
        if not self.choice:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.choice))

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update)
        self._changed.set()

    async def read_text_file(self, session_id: str, path: str, **more: Any) -> ReadTextFileResponse:
        texts = self.unsaved or {}
        return ReadTextFileResponse(content=texts[path] if path in texts else Path(path).read_text())

    async def write_text_file(self, session_id: str, path: str, content: str, **more: Any) -> WriteTextFileResponse:
        assert self.unsaved is not None
        self.unsaved[path] = content
        return WriteTextFileResponse()

    def on_connect(self, conn: Any) -> None:
        """Do nothing: this editor only answers."""

    # -- what a test waits for and looks at
    async def wait_for(self, condition: Callable[["Editor"], bool]) -> None:
        """Wait until a condition is true."""
        async with asyncio.timeout(60):
            while not condition(self):
                self._changed.clear()
                await self._changed.wait()

    def of_kind(self, kind: str) -> list[Any]:
        """Return the updates of a kind."""
        return [update for update in self.updates if update.session_update == kind]

    @property
    def text(self) -> str:
        """The text of the agent."""
        return "".join(update.content.text for update in self.of_kind("agent_message_chunk"))

    @asynccontextmanager
    async def start(self) -> AsyncGenerator[ClientSideConnection]:
        """Start the agent, and yield the connection after its handshake."""
        environment = {**os.environ, "LSP_HARNESS_HOME": str(self.home)}
        process = await ForkedProcess.start(
            *("-m", "lsp_harness", "acp", *self.options), env=environment, limit=2**24, preload=ACP_MODULES
        )
        log = asyncio.create_task(process.stderr.read())
        connection = ClientSideConnection(
            self,  # pyright: ignore[reportArgumentType] - it plays only a part of the client
            process.stdin,
            process.stdout,
            use_unstable_protocol=True,
        )
        try:
            files = FileSystemCapabilities(read_text_file=self.unsaved is not None, write_text_file=True)
            answer = await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities(fs=files))
            assert answer.protocol_version == 1
            yield connection
            assert process.returncode is None
        finally:
            await connection.close()
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 30)
            finally:
                process.kill()
                print((await log).decode(errors="replace"))
                process.close()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the models of the user, although the home directory is another one."""
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(model_files.models_folder()))


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    """An editor with a project of one file."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "geo.py").write_text(GEO)
    (root / "pyproject.toml").write_text('[project]\nname = "geo"\n')
    return Editor(root, tmp_path / "home")
