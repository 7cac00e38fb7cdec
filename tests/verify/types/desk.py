"""A type gate with a fake type checker, and the texts that it looks at."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.config.schema import Config
from lsp_harness.text.document import Document
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.tsserver_conversation import TsserverConversation
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker
from lsp_harness.verify.types.type_gate import TypeGate
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.workspace import Workspace
from tests.harness.tools import make_settings

FOLDER = Path(__file__).parent
BUDGET_MS = 5000
"""Long enough for a slow machine: only tests of the budget set another."""


async def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is true of the processes that a test started."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - no event reports it
            await asyncio.sleep(0.01)


class FakeChecker(TypeChecker):
    """A checker whose program is the fake server."""

    name: ClassVar[str] = "ty"
    install_hint: ClassVar[str] = "install fake"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        "unresolved-reference": "always",
        "import-not-found": "environment",
        "missing-argument": "closed",
    }

    def __init__(self, log: Path, *manner: str) -> None:
        self.log, self.manner = log, manner
        self.is_installed = True

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        if not self.is_installed:
            return None
        if "tsserver" in self.manner:
            argv = [sys.executable, str(FOLDER / "fake_tsserver.py"), str(self.log)]
            return Program(argv, TsserverConversation.start)
        return Program([sys.executable, str(FOLDER / "fake_type_server.py"), str(self.log), *self.manner])

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        return {"python": python}


class Desk:
    """A type gate for the folder of a test."""

    def __init__(self, folder: Path, *manner: str, is_trusted: bool = True, **completion: Any) -> None:
        self.root = folder
        if not (folder / "release").exists():
            os.mkfifo(folder / "release")
        self.checker = FakeChecker(folder / "log", *manner)
        self.config: Config = make_settings(completion={"type_gate_ms": BUDGET_MS, **completion})
        self.open_texts: list[Document] = []
        self.pool = CheckerPool(lambda: self.config.knowledge.python, lambda: self.open_texts, [self.checker])
        self.gate = TypeGate(Workspace([folder], is_trusted=is_trusted), lambda: self.config, self.pool)

    def release(self) -> None:
        """Let the fake server send the answer that it delays."""
        (self.root / "release").write_text("")

    def cursor(self, marked: str, name: str = "a.py", language: str = "python") -> Cursor:
        """Return the place of `<|>` in a text."""
        before, _, after = marked.partition("<|>")
        document = Document.from_text((self.root / name).as_uri(), before + after, language=language, version=1)
        return Cursor(document, None, len(before.encode()), name)

    @property
    def session(self) -> CheckerSession:
        [session] = self.pool._sessions.values()
        return session

    async def wait_until(self, state: str) -> None:
        await wait_for(lambda: self.pool.state()[0]["state"] == state)

    async def warm(self) -> None:
        """Start the checker and wait until it is ready."""
        self.gate.prepare(self.cursor("").document)
        await self.wait_until("ready")

    async def check(self, marked: str, *texts: str, name: str = "a.py", is_cut: bool = False) -> list[str]:
        outcomes = await self.gate.check(self.cursor(marked, name), texts, is_cut=is_cut)
        return [outcome.status for outcome in outcomes]

    def rows(self, *kinds: str) -> Sequence[Any]:
        """Return the rows in the log of the fake server."""
        if not self.checker.log.exists():
            return []
        rows = [json.loads(line) for line in self.checker.log.read_text().splitlines()]
        return [row for row in rows if not kinds or row[0] in kinds]
