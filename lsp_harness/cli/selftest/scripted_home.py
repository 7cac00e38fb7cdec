"""A temporary home and project, in which the checks run sessions whose model plays replies."""

import json
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.errors import EngineError
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.inference.request import ModelRequest
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event

HOME_VARIABLE = "LSP_HARNESS_HOME"
SOURCE = "PI = 3\n\n\ndef area(radius):\n    return PI * radius * radius\n"


def tool_call(tool: str, **arguments: Any) -> str:
    """Return the reply of a model that calls a tool."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


class SelftestFailed(Exception):
    """An ability is missing. The message says what was seen instead."""


def require(is_true: object, message: str) -> None:
    """Raise SelftestFailed with the message unless something is true."""
    if not is_true:
        raise SelftestFailed(message)


@dataclass(frozen=True, slots=True)
class ScriptedHome:
    """A home for one check.

    Attributes:
        folder: The folder of everything.
    """

    folder: Path

    @property
    def project(self) -> Path:
        """The workspace folder."""
        return self.folder / "project"

    def write_script(self, replies: Sequence[str]) -> str:
        """Write the replies of a model, and return the provider that plays them."""
        script = self.folder / "script.json"
        script.write_text(json.dumps([{"text": text} for text in replies]))
        return f"scripted:{script}"

    @asynccontextmanager
    async def open(self, *replies: str, **options: Any) -> AsyncGenerator["ScriptedSession"]:
        """Open a session whose model gives these replies."""
        provider = self.write_script(replies)
        given = SessionOptions(cwd=str(self.project), provider=provider, bare=True, source="selftest", **options)
        session = ScriptedSession(await open_session(given))
        try:
            yield session
        finally:
            with suppress(EngineError):
                # a check that fails leaves replies
                await session.opened.aclose()


@dataclass(frozen=True, slots=True)
class ScriptedSession:
    """A session of a check."""

    opened: OpenSession

    async def ask(self, text: str) -> TurnStopped:
        """Run a turn."""
        return await self.opened.submit(Ingress("message", text, source="selftest"), self.opened.create_driver())

    def events(self, type: str = "", id: str = "") -> list[Event]:
        """Return the events of a session from its file, all or those of one type."""
        folder = self.opened.session.log.folder.parent / (id or self.opened.session.id)
        return [event for event in read_log(folder / "events.jsonl") if type in ("", event.type)]

    def first(self, type: str, id: str = "") -> dict[str, Any]:
        """Return the content of the first event of a type. Raises SelftestFailed."""
        found = self.events(type, id)
        require(found, f"the log has no event {type}")
        return found[0].data

    @property
    def prompts(self) -> list[str]:
        """The prompts that the model got."""
        engine = self.opened.parts.models[0].engine
        require(isinstance(engine, ScriptedEngine), "the model is not the scripted one")
        requests: list[ModelRequest] = getattr(engine, "foreground_requests", [])
        return [prompt_text(request) for request in requests]


@contextmanager
def scripted_home() -> Generator[ScriptedHome]:
    """Make a home for the time of the block, and remove it afterwards with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix="lh-selftest-"))
    before = os.environ.get(HOME_VARIABLE)
    home = ScriptedHome(folder)
    try:
        home.project.mkdir()
        (home.project / "geo.py").write_text(SOURCE)
        os.environ[HOME_VARIABLE] = str(folder / "home")
        yield home
    finally:
        if before is None:
            os.environ.pop(HOME_VARIABLE, None)
        else:
            os.environ[HOME_VARIABLE] = before
        shutil.rmtree(folder, ignore_errors=True)
