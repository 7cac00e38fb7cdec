"""The real agents of other makers in terminals: ready, permission questions, exact answers, missing logins and ends."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from lsp_harness.runtime.adapters.adapter_registry import AdapterRegistry
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_errors import AuthRequired, UnsentText
from lsp_harness.runtime.agent_pool import AgentPool, PoolLimits
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import AgentState
from tests.runtime.conftest import AnsweringGate
from tests.support.fake_model_server import FakeModelServer
from tests.support.real_agents import ADAPTERS, LIMIT_S, AgentRun, make_spec, require_agent, seed_home

START_LIMIT_S = 60.0
"""opencode shows nothing for half a minute on a machine that is busy with other tests."""
PROMPT_ROWS = 20
"""Rows at the end of the screen that have the prompt. Further up, the output has older copies of it."""
pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def fake_model_server() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentRun:
    folder = tmp_path / "agent"
    folder.mkdir(mode=0o700)
    run = AgentRun(folder)
    monkeypatch.setattr(os, "environ", run.environment)
    return run


@pytest.fixture
def answering_gate() -> AnsweringGate:
    return AnsweringGate()


@pytest.fixture
async def pool(run: AgentRun, answering_gate: AnsweringGate) -> AsyncIterator[AgentPool]:
    registry = AdapterRegistry()
    for name in ADAPTERS:
        registry.add(ADAPTERS[name](str(run.folder / "none")))
    pool = AgentPool(registry, PoolLimits(allowed_roots=[run.workdir]), answering_gate, run.folder / "agents")
    yield pool
    await pool.aclose()


async def wait_for_status(agent: Agent, *statuses: str) -> AgentState:
    """Wait for a status of an agent."""
    try:
        async with asyncio.timeout(START_LIMIT_S):
            return await agent.wait_until(lambda state: state.status in statuses)
    except TimeoutError:
        pytest.fail(f"the agent is {agent.state}\n{agent.explain()}\n" + "\n".join(agent.read_lines(60)))


def list_statuses(pool: AgentPool, agent: Agent) -> list[str]:
    """Return the statuses of an agent in their order."""
    return [event.data["status"] for event in pool.feed.read(0, agent.id) if event.event == "status"]


@pytest.mark.parametrize(
    ("name", "transport"),
    [*((name, "pty") for name in ("claude", "codex", "opencode")), ("claude", ""), ("codex", "")],
)
async def test_an_agent_of_a_pool_answers_and_asks_for_permission(
    name: str,
    transport: str,
    pool: AgentPool,
    answering_gate: AnsweringGate,
    run: AgentRun,
    fake_model_server: FakeModelServer,
) -> None:
    pool.registry.add(require_agent(name))
    seed_home(run)
    agent = await pool.spawn(make_spec(name, run, fake_model_server.url, "pty" if transport else ""))
    await wait_for_status(agent, "ready")
    made = run.workdir / "made.txt"

    reply = await agent.send("SAY the exact answer", timeout_s=LIMIT_S)
    assert reply.submitted
    # without hooks the answer is what the screen shows, with its decoration
    is_read_off = transport == "pty" and name != "claude"
    assert "the exact answer" in reply.response if is_read_off else reply.response == "the exact answer"

    reply = await agent.send(f"RUN touch {made.name} && echo done", timeout_s=LIMIT_S)
    assert len(answering_gate.asked) == 1
    assert f"touch {made.name}" in str(answering_gate.asked[0])
    assert not made.exists()
    await wait_for_status(agent, "ready")

    answering_gate.allows = True
    reply = await agent.send(f"RUN touch {made.name} && echo done", timeout_s=LIMIT_S)
    assert "done" in reply.response
    assert len(answering_gate.asked) == 2
    assert made.exists()

    await wait_for_status(agent, "ready")
    assert await agent.stop() == []
    assert run.find_processes(agent.id) == []
    events = [event.event for event in pool.feed.read(0, agent.id)]
    assert "approval_undelivered" not in events


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
async def test_a_message_is_not_appended_to_an_unsent_text(
    name: str, pool: AgentPool, answering_gate: AnsweringGate, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    pool.registry.add(require_agent(name))
    seed_home(run)
    # trust in the folder
    answering_gate.allows = True
    agent = await pool.spawn(make_spec(name, run, fake_model_server.url, "pty"))
    await wait_for_status(agent, "ready")
    assert agent.terminal
    changed = asyncio.Event()
    agent.terminal.listeners.append(lambda signal: changed.set())

    async def press(keys: bytes, is_done: Callable[[str], bool]) -> None:
        agent.press(keys)
        async with asyncio.timeout(LIMIT_S):
            while not is_done("\n".join(agent.read_lines(PROMPT_ROWS))):
                changed.clear()
                await changed.wait()

    draft = b"half a thought"
    await press(draft, lambda text: draft.decode() in text)
    with pytest.raises(UnsentText, match="half a thought"):
        await agent.send("SAY something", timeout_s=LIMIT_S)
    await press(b"\x7f" * len(draft), lambda text: "half" not in text)
    await wait_for_status(agent, "ready")
    reply = await agent.send("SAY something", timeout_s=LIMIT_S)
    assert "something" in reply.response
    assert await agent.stop() == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
async def test_a_terminal_without_a_login_asks_for_the_login(name: str, pool: AgentPool, run: AgentRun) -> None:
    pool.registry.add(require_agent(name))
    if name != "codex":
        seed_home(run)
        (run.home / ".gemini" / "settings.json").unlink()
    agent = await pool.spawn(AgentSpec(name, run.workdir, transport="pty"))
    state = await wait_for_status(agent, "authenticating", "blocked")
    if state.kind == "trust":
        # gemini asks for trust first, which the gate denies
        state = await wait_for_status(agent, "authenticating")
    assert state.kind == "auth"
    with pytest.raises(AuthRequired):
        await agent.send("SAY something", timeout_s=LIMIT_S)
    assert "ready" not in list_statuses(pool, agent)
    assert await agent.stop() == []
    assert run.find_processes(agent.id) == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
async def test_a_pool_says_that_a_login_is_missing(name: str, pool: AgentPool, run: AgentRun) -> None:
    pool.registry.add(require_agent(name))
    with pytest.raises(AuthRequired):
        await pool.spawn(AgentSpec(name, run.workdir))
    agent = pool.list()[0]
    assert agent.state.status == "error"
    assert "ready" not in list_statuses(pool, agent)
    assert run.find_processes(agent.id) == []
