"""Real agents of other makers edit a file in a worktree of their own. A fake of their models tells them what to do."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_events import AgentEvent
from lsp_harness.verify.ruff_linter import Ruff
from tests.agents.test_agent_worktrees import BETTER, GOOD, UNDEFINED, AgentWorkspace, git
from tests.harness.bench import QUICK
from tests.harness.tools import make_settings
from tests.support.fake_model_server import FakeModelServer
from tests.support.real_agents import LIMIT_S, AgentRun, make_spec, require_agent

pytestmark = pytest.mark.timeout(180)
EDITS_ALLOWED = make_settings(QUICK, permissions={"allow": ("Edit(shape.py)",)})


def write_claude_messages(folder: Path, before: str, after: str) -> list[str]:
    """Return the messages that make claude change a file: it must have read the file first."""
    file = str(folder / "shape.py")
    edit = {"file_path": file, "old_string": before, "new_string": after}
    return [f"USE Read {json.dumps({'file_path': file})}", f"USE Edit {json.dumps(edit)}"]


def write_codex_messages(folder: Path, before: str, after: str) -> list[str]:
    """Return the message that makes codex change a file by a patch."""
    lines = [*(f"-{line}" for line in before.splitlines()), *(f"+{line}" for line in after.splitlines())]
    patch = "\n".join(["*** Begin Patch", "*** Update File: shape.py", "@@", *lines, "*** End Patch", ""])
    # its shell knows this command, and asks for a change of files
    command = f"apply_patch <<'EOF'\n{patch}EOF"
    return [f"USE exec_command {json.dumps({'cmd': command})}"]


MESSAGES = {"claude": write_claude_messages, "codex": write_codex_messages}


@pytest.fixture
def fake_model_server() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentRun:
    folder = tmp_path / "agent"
    folder.mkdir(mode=0o700)
    run = AgentRun(folder)
    monkeypatch.setattr(os, "environ", {**run.environment, "LSP_HARNESS_HOME": str(tmp_path / "state")})
    return run


@pytest.fixture
async def agent_workspace(run: AgentRun, ruff: Ruff) -> AsyncGenerator[AgentWorkspace]:
    bed = AgentWorkspace(run.folder / "project", ruff, EDITS_ALLOWED)
    yield bed
    await bed.bench.harness.aclose()


async def wait_for_verdict(bed: AgentWorkspace, agent: Agent, *, passed: bool) -> Mapping[str, Any]:
    """Return the data of the event that tells the verdict about the changes of an agent."""

    def is_wanted(event: AgentEvent) -> bool:
        return event.event == "verified" and event.data["passed"] is passed

    async with asyncio.timeout(LIMIT_S):
        async for event in bed.agents.feed.follow(0, agent.id):
            if is_wanted(event):
                return event.data
    raise AssertionError("the feed has ended")


@pytest.mark.parametrize("name", MESSAGES)
async def test_the_bug_of_a_real_agent_is_named_and_its_fix_is_applied_and_undone(
    name: str, agent_workspace: AgentWorkspace, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    agents = agent_workspace.agents
    agents.pool.registry.add(require_agent(name))
    spec = replace(make_spec(name, run, fake_model_server.url), workdir=agent_workspace.folder, isolation="worktree")
    agent = await agents.spawn(spec)
    assert not agent.spec.workdir.is_relative_to(agent_workspace.folder)

    async def change(before: str, after: str) -> None:
        for message in MESSAGES[name](agent.spec.workdir, before, after):
            reply = await agent.send(message, timeout_s=LIMIT_S, queue=True)
            assert reply.response.startswith("RAN "), reply

    await change(GOOD, UNDEFINED)
    events = [event for event in agents.feed.read(0, agent.id) if event.event.startswith("permission_")]
    assert [event.event for event in events] == ["permission_request", "permission_decided"]
    assert "shape.py" in str(events[0].data["input"])
    assert events[1].data["decision"] == "allow"

    buggy = await wait_for_verdict(agent_workspace, agent, passed=False)
    assert "F821" in buggy["findings"][0]
    assert "widht" in buggy["findings"][0]
    with pytest.raises(UsageError, match="F821"):
        await agents.changes.worktrees.apply(agent.id, buggy["reviewId"])
    assert agent_workspace.text == GOOD

    await change(UNDEFINED, BETTER)
    fixed = await wait_for_verdict(agent_workspace, agent, passed=True)
    assert agent_workspace.text == GOOD
    await agents.changes.worktrees.apply(agent.id, fixed["reviewId"])
    assert agent_workspace.text == BETTER
    await agents.changes.worktrees.undo(agent.id)
    assert agent_workspace.text == GOOD
    assert git(agent_workspace.folder, "status", "--porcelain") == ""
    assert await agent.stop() == []
    assert run.find_processes(agent.id) == []


@pytest.mark.parametrize("name", MESSAGES)
async def test_an_edit_that_no_rule_allows_is_denied(
    name: str, run: AgentRun, ruff: Ruff, fake_model_server: FakeModelServer
) -> None:
    bed = AgentWorkspace(run.folder / "project", ruff)
    agents = bed.agents
    agents.pool.registry.add(require_agent(name))
    spec = replace(make_spec(name, run, fake_model_server.url), workdir=bed.folder, isolation="worktree")
    try:
        agent = await agents.spawn(spec)
        *reading, editing = MESSAGES[name](agent.spec.workdir, GOOD, UNDEFINED)
        for message in reading:
            await agent.send(message, timeout_s=LIMIT_S, queue=True)
        reply = await agent.send(editing, timeout_s=LIMIT_S, queue=True)
        assert reply.response == "REFUSED"
        assert (agent.spec.workdir / "shape.py").read_text() == GOOD
    finally:
        await bed.bench.harness.aclose()
