"""The changes of all foreign agents of one client: in a worktree of their own, or in the folder of the user."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.agents.agent_watch import AgentWatch
from lsp_harness.agents.agent_worktrees import AgentWorktrees
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import HarnessError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.services import Services
from lsp_harness.runtime.agent_events import AgentEvent, EventName
from lsp_harness.runtime.agent_spec import AgentSpec

UNWATCHED_TYPES = frozenset({"echo"})
"""Types of agents that change no files."""


@dataclass(frozen=True, slots=True)
class PreparedAgent:
    """An agent before its start.

    Attributes:
        spec: Its description, with the folder in which it works.
        watch: The watch of that folder, or None.
    """

    spec: AgentSpec
    watch: AgentWatch | None = None


class AgentChanges:
    """The changes of all foreign agents of one client.

    Attributes:
        worktrees: The worktrees of agents: review, apply, undo and discard.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        publish: Publishes an event of an agent.
    """

    def __init__(self, services: Services, publish: Callable[[str, EventName, Mapping[str, Any]], object]) -> None:
        self._services, self._publish = services, publish
        self.worktrees = AgentWorktrees(services, publish)
        self._watches: dict[str, AgentWatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def prepare(self, spec: AgentSpec) -> PreparedAgent:
        """Give an agent its worktree, or watch its folder. Call it before the agent is started.

        Raises:
            InvalidSpec: There can be no worktree of its folder.
        """
        # nothing of a workspace that the user does not trust is run, and the gate refuses the agent anyway
        if not self._services.workspace.is_trusted:
            return PreparedAgent(spec)
        isolated = await self.worktrees.isolate(spec)
        if isolated is not spec or spec.type in UNWATCHED_TYPES or not self._is_in_workspace(spec.workdir):
            return PreparedAgent(isolated)
        watch = AgentWatch(self._services, spec.workdir, self._publish)
        await watch.start()
        return PreparedAgent(spec, watch)

    def adopt(self, agent_id: str, prepared: PreparedAgent) -> None:
        """Note that an agent was started."""
        self.worktrees.adopt(agent_id, prepared.spec)
        if prepared.watch:
            prepared.watch.agent_id = agent_id
            self._watches[agent_id] = prepared.watch

    async def abandon(self, prepared: PreparedAgent) -> None:
        """Take back the preparation of an agent that could not be started."""
        await self.worktrees.abandon(prepared.spec)
        if prepared.watch:
            await prepared.watch.aclose()

    def follow(self, event: AgentEvent) -> None:
        """Review what an agent changed when it has done its work, or has ended."""
        has_ended = event.event in ("agent_stopped", "agent_error")
        is_done = event.event == "status" and event.data.get("status") == "ready"
        if (has_ended or is_done) and self.worktrees.find(event.agent_id):
            self._run(self._review(event))
        if has_ended and (watch := self._watches.get(event.agent_id)):
            self._run(watch.finish())

    async def aclose(self) -> None:
        """End the watches and the reviews. Worktrees stay, because the work of the agents is in them."""
        watches, self._watches = self._watches, {}
        await asyncio.gather(*(watch.aclose() for watch in watches.values()), return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _review(self, event: AgentEvent) -> None:
        agent = event.data.get("agent", {})
        try:
            await self.worktrees.review(event.agent_id, str(agent.get("name", "")))
        except HarnessError as error:
            warn_once(f"the changes of an agent cannot be read: {error.message}")

    def _is_in_workspace(self, folder: Path) -> bool:
        inner = resolve_links(folder)
        return any(inner.is_relative_to(resolve_links(root)) for root in self._services.workspace.roots)

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
