"""A pool of real agents, which are ended after each test."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.adapters.adapter_registry import AdapterRegistry
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_events import AgentEvent
from lsp_harness.runtime.agent_pool import AgentPool, PoolLimits
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import AgentState
from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer
from lsp_harness.runtime.question_desk import AskingAgent

FAKE_CLI = Path(__file__).with_name("fake_cli.py")
WAIT_S = 30.0


class AnsweringGate:
    """A gate that answers as a test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.allows = False
        self.asked: list[AgentQuestion] = []

    async def require_spawn(self, order: LaunchOrder) -> None:
        """Let every program be started."""

    async def decide(self, agent: AskingAgent, question: AgentQuestion) -> QuestionAnswer:
        """Return the answer of the test."""
        self.asked.append(question)
        return QuestionAnswer(self.allows, "the test says so")

    def answer(self, agent_id: str, question_id: str, answer: QuestionAnswer) -> bool:
        """Return that nothing is asked."""
        return False


class AgentBench:
    """A pool with the fake agent, and what a test does with it.

    Args:
        folder: The working folder of the agents.
        limits: Limits other than the usual ones.
        agents: More agents of the settings.
    """

    def __init__(self, folder: Path, limits: Mapping[str, Any], agents: Sequence[AgentSetting] = ()) -> None:
        self.folder, self.gate = folder, AnsweringGate()
        fake = AgentSetting(
            name="fake",
            command=sys.executable,
            args=(str(FAKE_CLI),),
            ready_pattern=r"\? for shortcuts",
            busy_pattern=r"esc to interrupt",
            blocked_pattern=r"Do you (want to|trust)",
            exit_keys=("ctrl-c", "ctrl-c"),
        )
        # its states are known by its reports and by the signs that all agents have
        plain = AgentSetting(name="plain", command=sys.executable, args=(str(FAKE_CLI),), exit_keys=("ctrl-d",))
        work = folder / "work"
        work.mkdir()
        self.work = work
        values = {"allowed_roots": [work], **limits}
        self.pool = AgentPool(
            AdapterRegistry([fake, plain, *agents]), PoolLimits(**values), self.gate, folder / "agents"
        )

    async def spawn(self, type: str = "fake", *arguments: str, **fields: Any) -> Agent:
        """Start an agent."""
        return await self.pool.spawn(AgentSpec(type, self.work, args=arguments, **fields))

    async def start(self, type: str = "fake", *arguments: str, **fields: Any) -> Agent:
        """Start an agent and wait until it is ready."""
        agent = await self.spawn(type, *arguments, **fields)
        await self.wait(agent, lambda state: state.status == "ready")
        return agent

    async def wait(self, agent: Agent, is_wanted: Callable[[AgentState], bool]) -> None:
        """Wait for a state of an agent."""
        try:
            async with asyncio.timeout(WAIT_S):
                await agent.wait_until(is_wanted)
        except TimeoutError:
            lines = "\n".join(agent.read_lines(60))
            pytest.fail(f"the agent is {agent.state}\n{agent.explain()}\n{lines}")

    async def wait_for_event(self, name: str, agent: Agent | None = None) -> AgentEvent:
        """Return the first event with a name, from the beginning on."""
        async with asyncio.timeout(WAIT_S):
            async for event in self.pool.feed.follow(0, agent.id if agent else ""):
                if event.event == name:
                    return event
        raise AssertionError(f"no event {name}")

    async def wait_for_text(self, agent: Agent, text: str) -> None:
        """Wait until the screen of an agent has a text."""
        terminal, changed = agent.terminal, asyncio.Event()
        assert terminal
        terminal.listeners.append(lambda signal: changed.set())
        async with asyncio.timeout(WAIT_S):
            while text not in "\n".join(terminal.screen.rows()):
                changed.clear()
                await changed.wait()

    def events(self, agent: Agent) -> list[str]:
        """Return the names of the events of an agent."""
        return [event.event for event in self.pool.feed.read(0, agent.id)]

    def statuses(self, agent: Agent) -> list[str]:
        """Return the statuses of an agent in their order."""
        return [event.data["status"] for event in self.pool.feed.read(0, agent.id) if event.event == "status"]


@pytest.fixture
async def make_bench(tmp_path: Path) -> AsyncIterator[Callable[..., AgentBench]]:
    """Return a function that makes a bench, whose agents are ended after the test."""
    benches: list[AgentBench] = []

    def make(agents: Sequence[AgentSetting] = (), **limits: Any) -> AgentBench:
        benches.append(AgentBench(tmp_path, limits, agents))
        return benches[-1]

    yield make
    for bench in benches:
        await bench.pool.aclose()
        ids = {agent.id for agent in bench.pool.list()}
        assert [process for process in psutil.process_iter() if _find_agent_of(process) in ids] == []


@pytest.fixture
def bench(make_bench: Callable[..., AgentBench]) -> AgentBench:
    """Return a bench with the usual limits."""
    return make_bench()


def _find_agent_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("LSP_HARNESS_AGENT_ID", "")
    except psutil.Error:
        return ""
