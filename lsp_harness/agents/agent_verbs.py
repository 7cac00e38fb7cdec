"""The foreign agents of one client, in a workspace that the user trusts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lsp_harness.agents.agent_changes import AgentChanges
from lsp_harness.agents.agent_gate import AgentGate, GateParts
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.harness.events import AgentReported
from lsp_harness.harness.services import Services
from lsp_harness.permission.gate_policy import GatePolicy, make_hooks, make_policy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.runtime.adapters.adapter_registry import AdapterRegistry
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_errors import AgentError, UnknownAgent
from lsp_harness.runtime.agent_events import AgentEvent, AgentEventFeed, EventName
from lsp_harness.runtime.agent_pool import AgentPool, PoolLimits, check_spec
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.isolation.runners import Runners


@dataclass(frozen=True, slots=True)
class ChangeAuthor:
    """The author of the changes in a worktree.

    Attributes:
        id: The id of the agent.
        name: The name that the user gave it.
        agent: The agent, or None if it ran in an earlier process.
    """

    id: str
    name: str
    agent: Agent | None = None

    @property
    def shown_name(self) -> str:
        """The name that users see."""
        return self.agent.spec.shown_name if self.agent else self.name or self.id

    async def stop(self) -> None:
        """End the agent. One of an earlier process has ended with it."""
        if self.agent:
            await self.agent.stop()


class AgentVerbs:
    """The foreign agents of one client.

    Attributes:
        gate: The permission gate. Set its `has_person` if the client shows questions to a person.
        changes: What the agents change: their worktrees, and the watches of their folders.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._max_agents: int | None = None
        self._default_timeout_s: float | None = None
        self._settings: Config | None = None
        self.gate = AgentGate(
            GateParts(self._read_policy, self._create_hooks, self._record, lambda: services.workspace.is_trusted)
        )
        self.changes = AgentChanges(services, self._publish)
        services.closers.append(self.aclose)

    @cached_property
    def pool(self) -> AgentPool:
        """The pool of the agents."""
        folder = paths.state_folder() / "agents"
        registry = AdapterRegistry(self._services.config.runtime.agents)
        runners = Runners(self._services.config.runtime)
        pool = AgentPool(registry, self._read_limits(), self.gate, folder, runners)
        pool.feed.listeners.append(self._report)
        self._settings = self._services.config
        return pool

    @property
    def feed(self) -> AgentEventFeed:
        """The events of all agents."""
        return self.pool.feed

    def limit(self, *, max_agents: int | None = None, default_timeout_s: float | None = None) -> None:
        """Use limits of a command line. None is that of the settings."""
        self._max_agents, self._default_timeout_s = max_agents, default_timeout_s
        self.pool.limits = self._read_limits()

    async def spawn(self, spec: AgentSpec) -> Agent:
        """Start an agent. See `AgentPool.spawn`.

        Raises:
            AgentError: It cannot be started, or it may not.
        """
        self._follow_settings()
        # nothing is prepared in a folder that is not allowed
        spec = self.pool.runners.complete(check_spec(spec, self.pool.limits))
        prepared = await self.changes.prepare(spec)
        try:
            agent = await self.pool.spawn(prepared.spec)
        except BaseException:
            await self.changes.abandon(prepared)
            raise
        self.changes.adopt(agent.id, prepared)
        return agent

    def list(self) -> list[Agent]:
        """Return all agents, also those that have ended, the oldest first."""
        return self.pool.list()

    def require(self, agent_id: str) -> Agent:
        """Return an agent by its id or its name. Raises UnknownAgent."""
        return self.pool.require(agent_id)

    async def require_author(self, agent_id: str) -> ChangeAuthor:
        """Return who made the changes in a worktree: an agent, or one of an earlier process by its id.

        Raises:
            UnknownAgent: There is neither.
            UsageError: Another process that runs is in charge of the worktree.
        """
        try:
            agent = self.pool.require(agent_id)
        except UnknownAgent:
            record = await self.changes.worktrees.reopen(agent_id)
            if record is None:
                raise
            return ChangeAuthor(record.id, record.name)
        return ChangeAuthor(agent.id, agent.spec.name, agent)

    async def probe(self) -> "Sequence[dict[str, Any]]":
        """Return all kinds of agents, and what is known of their programs without the network.

        Raises:
            SpawnDenied: The workspace is not trusted, so that no program is asked for its version.
        """
        self.gate.require_trust()
        self._follow_settings()
        return await asyncio.gather(*(self._probe(name) for name in self.pool.registry.names))

    async def aclose(self) -> None:
        """End all agents."""
        if pool := self.__dict__.get("pool"):
            await pool.aclose()
        await self.changes.aclose()

    async def _probe(self, name: str) -> dict[str, Any]:
        try:
            adapter = self.pool.registry.require(name)
            probe = await adapter.probe()
        except AgentError as error:
            hint = f"{error.message}; {error.resolution}" if error.resolution else error.message
            return {"type": name, "transports": [], "isInstalled": False, "hint": hint}
        fields = asdict(probe)
        return {
            "type": name,
            "transports": list(adapter.transports),
            "program": fields["program"],
            "isInstalled": bool(fields["program"]),
            "version": fields["version"],
            "isRecorded": fields["is_recorded"],
            "auth": fields["auth"],
            "hint": fields["hint"],
        }

    # -- parts
    def _follow_settings(self) -> None:
        pool, config = self.pool, self._services.config
        pool.limits = self._read_limits()
        if config is not self._settings:
            self._settings = config
            pool.registry.configure(config.runtime.agents)
            pool.runners = Runners(config.runtime)

    def _read_limits(self) -> PoolLimits:
        settings = self._services.config.runtime
        roots = [*self._services.workspace.roots, *(Path(root).expanduser() for root in settings.allowed_roots)]
        return PoolLimits(
            max_agents=settings.max_agents if self._max_agents is None else self._max_agents,
            default_timeout_s=(
                settings.default_timeout_ms / 1000 if self._default_timeout_s is None else self._default_timeout_s
            ),
            idle_timeout_s=settings.idle_timeout_s,
            allowed_roots=[*roots, self.changes.worktrees.folder],
            client_variables=settings.client_variables,
        )

    def _read_policy(self, folder: Path) -> GatePolicy:
        # what an agent may change is its own folder, and not that of another agent
        policy, problems = make_policy(self._services.config, [folder])
        for problem in problems:
            warn_once(problem.sentence)
        return self.changes.worktrees.adapt_policy(policy, folder)

    def _create_hooks(self) -> Hooks:
        hooks, problems = make_hooks(self._services.config)
        for problem in problems:
            warn_once(problem.sentence)
        return Hooks(hooks, self._record, next(iter(self._services.workspace.roots), None))

    def _record(self, event: SessionEvent) -> object:
        return self._services.session.log.append_to_running(event)

    def _report(self, event: AgentEvent) -> None:
        if event.event in ("agent_stopped", "agent_error"):
            self.gate.forget(event.agent_id)
        self._services.events.publish(AgentReported(event))
        self.changes.follow(event)

    def _publish(self, agent_id: str, event: EventName, data: Mapping[str, Any]) -> None:
        try:
            agent = self.pool.require(agent_id)
        except AgentError:
            # it ended long ago, and is forgotten
            return
        agent.publish(event, data)
