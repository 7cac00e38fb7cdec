"""Tests of the worktrees of real agents, which are made and reviewed automatically, and of watched folders."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.agents.agent_verbs import AgentVerbs
from lsp_harness.permission.gate_policy import make_policy
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_errors import AgentError, InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.verify.ruff_linter import Ruff
from tests.agents.test_agent_worktrees import BETTER, GOOD, UNDEFINED, AgentWorkspace, git
from tests.harness.bench import QUICK

DEADLINE_S = 60.0


@pytest.fixture
async def agent_workspace(
    tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[AgentWorkspace]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    bed = AgentWorkspace(tmp_path / "w", ruff)
    yield bed
    await bed.bench.harness.aclose()


def agents_of(bed: AgentWorkspace) -> AgentVerbs:
    return bed.agents


async def wait_for_verdict(verbs: AgentVerbs, since: int) -> Mapping[str, Any]:
    async with asyncio.timeout(DEADLINE_S):
        async for event in verbs.feed.follow(since):
            if event.event == "verified":
                return event.data
    raise AssertionError("the feed has ended")


async def start(verbs: AgentVerbs, spec: AgentSpec) -> Agent:
    agent = await verbs.spawn(spec)
    async with asyncio.timeout(DEADLINE_S):
        await agent.wait_until(lambda state: state.status == "ready")
    return agent


def make_writing_command(text: str) -> str:
    escaped = text.replace("\n", "\\n")
    return f"printf '{escaped}' > shape.py"


async def test_an_edit_in_a_worktree_gets_a_verdict_without_a_request(agent_workspace: AgentWorkspace):
    verbs = agents_of(agent_workspace)
    agent = await start(verbs, AgentSpec("shell", agent_workspace.folder, isolation="worktree"))
    assert agent.spec.workdir != agent_workspace.folder
    seq = verbs.feed.last_seq
    await agent.send(make_writing_command(UNDEFINED), timeout_s=DEADLINE_S)
    verdict = await wait_for_verdict(verbs, seq)
    assert (verdict["passed"], verdict["agent"]["id"]) == (False, agent.id)
    assert "F821" in verdict["findings"][0]
    assert agent_workspace.text == GOOD
    seq = verbs.feed.last_seq
    await agent.send(make_writing_command(BETTER), timeout_s=DEADLINE_S)
    verdict = await wait_for_verdict(verbs, seq)
    await agent.stop()
    await verbs.changes.worktrees.apply(agent.id, verdict["reviewId"])
    assert agent_workspace.text == BETTER
    await verbs.changes.worktrees.undo(agent.id)
    assert agent_workspace.text == GOOD
    await verbs.changes.worktrees.discard(agent.id)
    assert git(agent_workspace.folder, "branch", "--list") == "* main"


async def test_an_agent_in_the_folder_of_the_user_is_watched(agent_workspace: AgentWorkspace):
    verbs = agents_of(agent_workspace)
    agent = await start(verbs, AgentSpec("shell", agent_workspace.folder))
    seq = verbs.feed.last_seq
    await agent.send(make_writing_command(UNDEFINED), timeout_s=DEADLINE_S)
    verdict = await wait_for_verdict(verbs, seq)
    assert (verdict["isApplied"], verdict["passed"]) == (True, False)


async def test_no_worktree_is_made_for_a_refused_agent(agent_workspace: AgentWorkspace, tmp_path: Path):
    verbs = agents_of(agent_workspace)
    outside = tmp_path / "outside"
    outside.mkdir()
    git(outside, "init", "-q")
    git(outside, "commit", "-q", "--allow-empty", "-m", "first")
    with pytest.raises(InvalidSpec, match="not in an allowed folder"):
        await verbs.spawn(AgentSpec("shell", outside, isolation="worktree"))
    with pytest.raises(AgentError):
        await verbs.spawn(AgentSpec("no-such-agent", agent_workspace.folder, isolation="worktree"))
    for folder in (outside, agent_workspace.folder):
        assert len(git(folder, "worktree", "list").splitlines()) == 1
        assert "lsp-harness" not in git(folder, "branch", "--list")


async def test_an_agent_may_edit_only_its_worktree(agent_workspace: AgentWorkspace):
    worktrees = agents_of(agent_workspace).changes.worktrees
    spec = await worktrees.isolate(AgentSpec("shell", agent_workspace.folder, isolation="worktree"))
    policy, _ = make_policy(QUICK, [spec.workdir])
    assert policy.protected.edit_problem(spec.workdir / "shape.py")
    adapted = worktrees.adapt_policy(policy, spec.workdir).protected
    assert adapted.edit_problem(spec.workdir / "shape.py") == ""
    assert adapted.edit_problem(spec.workdir / ".git")
    for other in (
        worktrees.folder / "other/shape.py",
        worktrees.folder.parent / "x",
        agent_workspace.folder / "shape.py",
    ):
        assert adapted.edit_problem(other)
    await worktrees.abandon(spec)
