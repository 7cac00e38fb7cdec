"""The parts of a running server that its routes use."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.agents.agent_verbs import AgentVerbs
from lsp_harness.api.api_settings import ApiSettings
from lsp_harness.api.browser_access import BrowserAccess
from lsp_harness.config.schema import Config
from lsp_harness.errors import UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.harness import Harness
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.runtime.agent_pool import AgentPool
from lsp_harness.sessions.session_verbs import SessionVerbs

MAX_STREAMS = 128
"""Streams and WebSockets that may be open at once."""
REFUSAL_S = 0.05
"""Time in which the runtime refuses a message that it cannot give to an agent."""


@dataclass(slots=True)
class ApiContext:
    """The parts of a running server.

    Attributes:
        settings: The settings of the server.
        roots: The folders in which sessions and agents may work.
        harness: The harness of these folders.
        sessions: The sessions of these folders.
        agents: The foreign agents.
        browsers: The links and tokens of browsers.
        read_settings: Returns the settings of a folder.
        url: The address of the server.
        tasks: Work that goes on after its request was answered.
        open_streams: The number of open streams and WebSockets.
        max_streams: The largest number of them.
        store: The saved sessions.
    """

    settings: ApiSettings
    roots: Sequence[Path]
    harness: Harness
    sessions: SessionVerbs
    agents: AgentVerbs
    browsers: BrowserAccess
    read_settings: Callable[[Path], Config]
    url: str = ""
    store: SessionStore = field(default_factory=SessionStore)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])
    open_streams: int = 0
    max_streams: int = MAX_STREAMS

    @property
    def pool(self) -> AgentPool:
        """The pool of the agents."""
        return self.agents.pool

    def find_folder(self, text: str, more_roots: Sequence[Path] = ()) -> Path:
        """Return the folder that a client names, without links. Relative ones begin at the first root.

        Args:
            text: The name of the folder.
            more_roots: Other folders in which it may lie.

        Raises:
            UsageError: There is no such folder, or it does not lie in a root.
        """
        try:
            folder = resolve_links(self.roots[0] / text)
            is_folder = folder.is_dir()
        except (OSError, ValueError):
            folder, is_folder = Path(), False
        # whether a folder outside of the roots exists is not told
        if not is_folder or not any(map(folder.is_relative_to, (*self.roots, *more_roots))):
            shown = ", ".join(map(str, self.roots))
            raise UsageError(f"the folder does not exist in {shown}; name one there, or start the server with --root")
        return folder

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Let some work go on after its request was answered."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def wait_briefly(self, task: asyncio.Task[Any]) -> None:
        """Give a task the time in which a request that cannot be done is refused."""
        await asyncio.wait((task,), timeout=REFUSAL_S)

    async def aclose(self) -> None:
        """End all agents, sessions and work."""
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        # the agents end with the harness, and a session that cannot be closed must not keep them
        await self.harness.aclose()
