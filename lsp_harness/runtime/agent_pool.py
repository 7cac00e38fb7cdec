"""All agents of one process: it starts them, finds them by id, and ends them."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_harness.process.code_variables import is_credential, is_harmless
from lsp_harness.runtime.adapter import Adapter, Launch, LaunchOrder
from lsp_harness.runtime.adapters.adapter_registry import AdapterRegistry
from lsp_harness.runtime.agent import Agent, AgentContext
from lsp_harness.runtime.agent_errors import InvalidSpec, SpawnFailed, TooManyAgents, UnknownAgent
from lsp_harness.runtime.agent_events import AgentEvent, AgentEventFeed
from lsp_harness.runtime.agent_spec import AGENT_VARIABLE, AgentSpec, TransportName
from lsp_harness.runtime.isolation.runners import Runners
from lsp_harness.runtime.question_desk import QuestionGate
from lsp_harness.runtime.viewer_sizes import MAX_SIDE
from lsp_harness.text.ulid import make_ulid

TICK_S = 0.5
"""Time between two looks at the clock for all agents."""
KEPT_AGENTS = 100
"""Agents that have ended and can still be read."""
EARLY_END_S = 0.3
"""Time for which `spawn` watches whether the program ends at once."""
"""The variable that tells the processes of an agent whose they are."""
TERMINAL_ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
HIDDEN_VARIABLES = ("LSP_HARNESS_API_TOKEN", "LSP_HARNESS_API_KEY", "CLAUDECODE", "COLUMNS", "LINES")
"""Inherited variables that no agent sees: secrets of lsp-harness, and facts about another terminal."""
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_ARGUMENT_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """The limits of a pool.

    Attributes:
        max_agents: The largest number of agents that run at once.
        default_timeout_s: The time for a message without a time of its own.
        idle_timeout_s: The idle time of agents without one of their own. 0 is no limit.
        allowed_roots: The folders in which agents may work.
        client_variables: Variables that a client may set, besides keys and those that change no program.
    """

    max_agents: int = 10
    default_timeout_s: float = 60.0
    idle_timeout_s: float = 0.0
    allowed_roots: Sequence[Path] = field(default_factory=tuple[Path, ...])
    client_variables: Sequence[str] = ()


class AgentPool:
    """All agents of one process. All methods must be called in one event loop.

    Attributes:
        feed: The events of all agents.
        limits: The limits. They can be replaced.
        runners: The places where agents run. They can be replaced.

    Args:
        registry: The kinds of agents.
        limits: The limits.
        gate: Decides what agents may do.
        folder: The private folder for the logs and the settings of the agents.
        runners: The places where agents run. The default is those of settings that are empty.
    """

    def __init__(
        self,
        registry: AdapterRegistry,
        limits: PoolLimits,
        gate: QuestionGate,
        folder: Path,
        runners: Runners | None = None,
    ) -> None:
        self.feed, self.registry, self.limits = AgentEventFeed(), registry, limits
        self.runners = runners or Runners()
        self._gate, self._folder = gate, folder
        self._orders: dict[str, LaunchOrder] = {}
        self._cleaning: set[asyncio.Task[None]] = set()
        self.feed.listeners.append(self._clean_up)
        self._agents: dict[str, Agent] = {}
        self._starting = 0
        self._ticking: asyncio.Task[None] | None = None
        self._is_closed = False

    # -- finding
    def list(self) -> list[Agent]:
        """Return all agents, also those that have ended, the oldest first."""
        return [*self._agents.values()]

    @property
    def running(self) -> "list[Agent]":
        """The agents that have not ended."""
        return [agent for agent in self._agents.values() if not agent.has_ended]

    def require(self, agent_id: str) -> Agent:
        """Return an agent by its id, or by its name if only one that runs has this name.

        Raises:
            UnknownAgent: There is none.
        """
        if agent := self._agents.get(agent_id.upper()):
            return agent
        named = [agent for agent in self.running if agent_id == agent.spec.shown_name]
        if len(named) == 1:
            return named[0]
        if named:
            raise UnknownAgent(f"{len(named)} agents have the name {agent_id}", "use the id of one of them")
        raise UnknownAgent("there is no such agent", "list the agents")

    # -- starting and ending
    async def spawn(self, spec: AgentSpec) -> Agent:
        """Start an agent. Its status is `starting` at first, and an event says when the agent is ready.

        Raises:
            AgentError: The description is wrong, there are too many agents, the gate does not allow it, or the program
                cannot be started.
        """
        if self._is_closed:
            raise InvalidSpec("the runtime is closing and starts no more agents", "start the server again")
        if len(self.running) + self._starting >= self.limits.max_agents:
            raise TooManyAgents(f"{self.limits.max_agents} agents run already", "stop one, or raise runtime.max_agents")
        self._starting += 1
        try:
            adapter, order = self._make_order(spec)
            await self._gate.require_spawn(order)
            # it may run programs, and connect to another machine
            await asyncio.to_thread(self.runners.choose(order.spec).check, order)
            order.folder.mkdir(mode=0o700, parents=True)
            agent = Agent(order, adapter, AgentContext(self.feed, self._gate, self.limits.default_timeout_s))
            self._agents[agent.id] = agent
            self._orders[agent.id] = order
        finally:
            self._starting -= 1
        self._forget_old()
        if self._ticking is None:
            self._ticking = asyncio.ensure_future(self._look_at_agents())
        await agent.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(EARLY_END_S):
                await agent.wait_until(lambda state: state.status != "starting")
        if agent.state.status == "error":
            raise agent.failure or SpawnFailed(agent.state.message)
        return agent

    async def aclose(self) -> None:
        """End all agents."""
        self._is_closed = True
        if self._ticking:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)
        stops = [agent.stop(timeout_s=2.0, reason="lsp-harness ended") for agent in self.running]
        await asyncio.gather(*stops, return_exceptions=True)
        await asyncio.gather(*(agent.aclose() for agent in self.list()), return_exceptions=True)
        await asyncio.gather(*self._cleaning, return_exceptions=True)

    # -- parts
    def _make_order(self, spec: AgentSpec) -> tuple[Adapter, LaunchOrder]:
        adapter = self.registry.require(spec.type)
        spec = replace(
            self.runners.complete(check_spec(spec, self.limits)),
            idle_timeout_s=spec.idle_timeout_s or self.limits.idle_timeout_s,
        )
        transport: TransportName = spec.transport or adapter.transports[0]
        if transport not in adapter.transports:
            offered = ", ".join(adapter.transports)
            raise InvalidSpec(f"{spec.type} has no transport {transport!r}", f"it has {offered}")
        launch, agent_id = adapter.build_launch(spec, transport), make_ulid()
        env = make_environment(launch, spec, agent_id)
        added = {**launch.env, **spec.env, AGENT_VARIABLE: agent_id}
        folder = self._folder / agent_id
        return adapter, LaunchOrder(agent_id, spec, transport, launch.argv, env, folder, added, self.runners.wrap)

    def _clean_up(self, event: AgentEvent) -> None:
        """Remove what an agent that has ended left in the place where it ran."""
        if event.event not in ("agent_stopped", "agent_error"):
            return
        if (order := self._orders.pop(event.agent_id, None)) and order.spec.runner != "local":
            task = asyncio.ensure_future(asyncio.to_thread(self.runners.choose(order.spec).clean_up, order))
            self._cleaning.add(task)
            task.add_done_callback(self._cleaning.discard)

    def _forget_old(self) -> None:
        ended = [agent for agent in self._agents.values() if agent.has_ended]
        for agent in ended[: max(0, len(ended) - KEPT_AGENTS)]:
            del self._agents[agent.id]

    async def _look_at_agents(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for agent in self.running:
                agent.tick()


def check_spec(spec: AgentSpec, limits: PoolLimits) -> AgentSpec:
    """Return the description of a new agent with its real working folder.

    Raises:
        InvalidSpec: Something in it is not allowed.
    """
    try:
        folder = Path(os.path.realpath(os.path.expanduser(spec.workdir), strict=True))
    except (OSError, ValueError) as error:
        raise InvalidSpec("the working folder does not exist", "name a folder that exists") from error
    if not folder.is_dir():
        raise InvalidSpec("the working folder is not a folder", "name a folder")
    if not any(folder.is_relative_to(os.path.realpath(root)) for root in limits.allowed_roots):
        raise InvalidSpec(
            "the working folder is not in an allowed folder", "use a workspace folder, or set runtime.allowed_roots"
        )
    texts = (*spec.args, *spec.env, *spec.env.values(), spec.name, spec.model, spec.permission_mode)
    if any("\0" in text for text in texts) or sum(map(len, texts)) > MAX_ARGUMENT_CHARS:
        raise InvalidSpec("an argument has a NUL character, or all together are too long")
    if any(not sign.isprintable() for sign in spec.name) or len(spec.name) > 100:
        raise InvalidSpec("the name must have at most 100 printable characters")
    for name in spec.env:
        # each program may read what it likes, so only names that are known to choose no code are given to it
        is_known = is_harmless(name) or is_credential(name) or name in limits.client_variables
        if not VARIABLE_NAME.fullmatch(name) or not is_known:
            raise InvalidSpec(
                f"the variable {name[:40]!r} cannot be set for an agent",
                "set it before lsp-harness is started, or name it in runtime.client_variables of your settings",
            )
    if not (1 <= spec.columns <= MAX_SIDE and 1 <= spec.rows <= MAX_SIDE):
        raise InvalidSpec(f"the size must be from 1 to {MAX_SIDE}")
    return replace(spec, workdir=folder)


def make_environment(launch: Launch, spec: AgentSpec, agent_id: str) -> dict[str, str]:
    """Return the whole environment of an agent."""
    removed = (*HIDDEN_VARIABLES, *launch.removed_env)
    inherited = {name: value for name, value in os.environ.items() if not _is_removed(name, removed)}
    added: Mapping[str, str] = {**TERMINAL_ENVIRONMENT, **launch.env, **spec.env, AGENT_VARIABLE: agent_id}
    return {**inherited, **added}


def _is_removed(name: str, removed: Sequence[str]) -> bool:
    return any(name == pattern or (pattern[-1:] == "*" and name.startswith(pattern[:-1])) for pattern in removed)
