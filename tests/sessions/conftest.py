"""Sessions with a scripted model in a temporary folder."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat.chat_model import Model
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from tests.harness.tools import require_verified_proposals

OpenScripted = Callable[..., Awaitable[OpenSession]]


def make_tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a reply that calls a tool."""
    return {"text": f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"}


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


async def ask(opened: OpenSession, text: str) -> TurnStopped:
    return await opened.submit(Ingress("message", text), opened.create_driver())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder in which `open_scripted` opens its sessions."""
    return tmp_path / "project"


@pytest.fixture
async def open_scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenScripted]:
    """Return a function that opens a session in the folder `project` with replies of the model."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "geo.py").write_text("PI = 3\n")
    opened: list[OpenSession] = []

    async def create(*replies: dict[str, Any], **options: Any) -> OpenSession:
        engine = ScriptedEngine(list(replies))
        given = SessionOptions(cwd=str(tmp_path / "project"), **options)
        opened.append(await open_session(given, models=[Model("scripted", engine)]))
        return opened[-1]

    yield create
    for session in opened:
        await session.aclose()
        if session.session.log.path.exists():
            require_verified_proposals(read_log(session.session.log.path))
