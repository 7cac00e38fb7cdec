"""Tests of the tools for commands, tasks and artifacts, and of the list of tools."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.errors import UsageError
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.inference.json_schema import from_json_schema
from tests.chat.tools.surroundings import Outcome, ToolWorkspace
from tools import tools_page


@pytest.fixture
def tool_workspace(tmp_path: Path) -> ToolWorkspace:
    return ToolWorkspace(tmp_path, {})


async def test_a_command_is_a_task(tool_workspace: ToolWorkspace):
    action = tool_workspace.tools["bash"].action({"command": "ls"})
    assert (action.kind, action.command) == ("execute", "ls")
    assert await tool_workspace.text("bash", command="ls") == "out"
    await tool_workspace.run("bash", command="ls", execution="background")
    assert tool_workspace.tasks.asked == [("run", "ls", "auto", "call-1"), ("run", "ls", "background", "call-1")]


@pytest.mark.parametrize(
    ("outcome", "text", "is_error"),
    [
        (Outcome("completed", exit_code=0), "The command succeeded without output.", False),
        (Outcome("completed", "no such file\n", exit_code=2), "Exit status 2\nno such file", True),
        (
            Outcome("started", "begin\n"),
            "Task t1 runs in the background; use wait_task or read_task with this task_id.\nbegin",
            False,
        ),
        (Outcome("failed", "half", summary="no disk"), "Task t1 failed: no disk\nhalf", True),
        (Outcome("cancelled", summary="timeout"), "Task t1 was cancelled: timeout", True),
        (Outcome("cancelled", summary="cancelled"), "Task t1 was cancelled", True),
    ],
)
async def test_the_outcome_of_a_task_becomes_a_tool_result(
    tool_workspace: ToolWorkspace, outcome: Outcome, text: str, is_error: bool
):
    tool_workspace.tasks.outcome = outcome
    result = await tool_workspace.run("bash", command="ls")
    assert (result.text, result.is_error) == (text, is_error)
    assert result.data == {"status": outcome.status, "task_id": "t1", "exit_code": outcome.exit_code}


async def test_tasks_are_read_awaited_and_ended(tool_workspace: ToolWorkspace):
    text = await tool_workspace.text("read_task", task_id="t1", since=7)
    assert text == "Task t1 runs; read on with since=19\nmore output"
    await tool_workspace.run("wait_task", task_id="t1")
    await tool_workspace.run("wait_task", task_id="t1", seconds=5)
    tool_workspace.tasks.outcome = Outcome("cancelled")
    result = await tool_workspace.run("cancel_task", task_id="t1")
    assert not result.is_error
    assert tool_workspace.tasks.asked == [("read", "t1", 7), ("wait", "t1", 60), ("wait", "t1", 5), ("cancel", "t1")]


async def test_a_secret_in_an_output_is_hidden(tool_workspace: ToolWorkspace):
    tool_workspace.tasks.outcome = Outcome("completed", "ghp_" + "a" * 36, exit_code=0)
    assert await tool_workspace.text("bash", command="env") == "…"


@pytest.mark.parametrize(
    ("tool", "input", "message"),
    [
        ("bash", {"command": " "}, '"command" is empty or has a NUL character; give a shell command'),
        ("bash", {"command": "ls", "execution": "later"}, '"execution" must be one of inline, background, auto'),
        ("wait_task", {"task_id": "t1", "seconds": 301}, '"seconds" must be a whole number from 1 to 300'),
        ("read_artifact", {"artifact_id": "../x"}, "there is no artifact ../x"),
    ],
)
async def test_a_wrong_input_says_what_to_write(
    tool_workspace: ToolWorkspace, tool: str, input: dict[str, Any], message: str
):
    assert await tool_workspace.error(tool, **input) == message


async def test_an_artifact_is_read_in_parts(tool_workspace: ToolWorkspace):
    assert (
        await tool_workspace.text("read_artifact", artifact_id="a1", offset=5, limit=6)
        == "567890\n(read on with offset=11)"
    )
    assert await tool_workspace.text("read_artifact", artifact_id="a1", offset=9995) == "56789"
    assert await tool_workspace.text("read_artifact", artifact_id="a1", offset=10000) == (
        "there is nothing after byte 10000; the artifact has 10000 bytes"
    )


def test_the_tools_are_those_that_the_surroundings_allow_or_that_are_named(tool_workspace: ToolWorkspace):
    bare = ToolEnvironment((tool_workspace.root,), PrivateFiles([tool_workspace.root]))
    assert "bash" not in create_tools(bare)
    assert "read_artifact" not in create_tools(bare)
    assert list(create_tools(tool_workspace.environment, ["grep", "read"])) == ["read", "grep"]
    assert create_tools(tool_workspace.environment, []) == {}
    with pytest.raises(UsageError, match="there is no tool 'Bash'; the tools are read, edit, create"):
        create_tools(tool_workspace.environment, ["Bash"])


def test_each_tool_has_a_grammar_and_a_short_description(tool_workspace: ToolWorkspace):
    for tool in tool_workspace.tools.values():
        assert from_json_schema(tool.schema)
        assert len(tool.description) <= 120


def test_the_action_of_any_input_can_be_decided_about(tool_workspace: ToolWorkspace):
    for tool in tool_workspace.tools.values():
        for input in ({}, {"path": 5}, {"path": "\0"}, {"path": "a" * 5000}, {"command": []}, {"path": "/x"}):
            assert tool.action(input).tool == tool.name


def test_the_page_of_the_tools_is_generated():
    page = Path(__file__).parents[3] / "docs" / "tools.md"
    assert page.read_text(encoding="utf-8") == tools_page.render(), "run `make docs`"
