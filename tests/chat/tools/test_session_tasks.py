"""Tests of the tools for commands and artifacts over the real tasks and artifacts of a session."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.chat.tools.session_tasks import SessionTasks
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints
from lsp_harness.kernel.tasks.task_runner import TaskRunner
from tests.chat.tools.surroundings import ToolWorkspace

pytestmark = pytest.mark.process


@pytest.fixture
async def tool_workspace(tmp_path: Path) -> AsyncIterator[ToolWorkspace]:
    desk, events = ToolWorkspace(tmp_path / "w", {}), list[SessionEvent]()
    artifacts = ArtifactStore(tmp_path, events.append)
    runner = TaskRunner(events.append, tmp_path, artifacts=artifacts)
    environment = ToolEnvironment(
        (desk.root,), PrivateFiles([desk.root]), tasks=SessionTasks(runner, desk.root), artifacts=artifacts
    )
    desk.tools = create_tools(environment)
    yield desk
    await runner.aclose()


def keep_in(checkpoints: Checkpoints, environment: ToolEnvironment) -> ToolEnvironment:
    """Return the surroundings with real checkpoints, as far as types go."""
    return replace(environment, before_edit=checkpoints.capture)


async def test_a_command_runs_in_the_workspace(tool_workspace: ToolWorkspace):
    result = await tool_workspace.run("bash", command="pwd; exit 3")
    assert result.text == f"Exit status 3\n{tool_workspace.root}"
    assert result.is_error


async def test_a_command_runs_on_and_is_read_and_ended(tool_workspace: ToolWorkspace):
    text = await tool_workspace.text(
        "bash", command="echo begin; exec cat /dev/zero > /dev/null", execution="background"
    )
    [task_id] = re.findall(r"Task (\w+) runs in the background", text)
    assert (await tool_workspace.text("read_task", task_id=task_id)).startswith(
        f"Task {task_id} runs; read on with since="
    )
    assert (await tool_workspace.text("cancel_task", task_id=task_id)).startswith(f"Task {task_id} was cancelled")
    assert (await tool_workspace.text("wait_task", task_id=task_id)).startswith(f"Task {task_id} was cancelled")
    assert "this session has no task" in await tool_workspace.error("read_task", task_id="0" * 26)


async def test_a_large_output_is_an_artifact(tool_workspace: ToolWorkspace):
    text = await tool_workspace.text("bash", command="seq 1 5000")
    [artifact_id] = re.findall(r"\b[0-9A-Z]{26}\b", text)[:1]
    part = await tool_workspace.text("read_artifact", artifact_id=artifact_id, offset=0, limit=4)
    assert part == "1\n2\n\n(read on with offset=4)"
