"""Tests of `lsp-harness agents` against a running server."""

import asyncio
import json
import os
import sys
from pathlib import Path

import ptyprocess
import pytest

from tests.api.conftest import ROOT, ApiProcess, wait_for_status
from tests.api.test_agent_changes import project

__all__ = ["project"]


async def run_agents_command(api: ApiProcess, *arguments: str, input: str = "") -> tuple[int, str]:
    """Run a command, and return its exit status and output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_harness", "agents", *arguments),
        cwd=api.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate(input.encode())
    assert process.returncode is not None
    return process.returncode, output.decode()


async def test_an_agent_is_started_asked_read_and_stopped(api: ApiProcess):
    code, output = await run_agents_command(api, "spawn", "echo", "--name", "mine", "--json")
    assert code == 0, output
    assert json.loads(output)["name"] == "mine"
    assert "mine" in (await run_agents_command(api, "list"))[1]
    assert await run_agents_command(api, "send", "mine", "-", input="hello there") == (0, "hello there\n")
    code, output = await run_agents_command(api, "logs", "mine", "--lines", "3")
    assert "hello there" in output
    assert json.loads((await run_agents_command(api, "explain", "mine"))[1])["state"]["status"] == "ready"
    assert await run_agents_command(api, "stop", "mine") == (0, "")
    assert await run_agents_command(api, "list") == (0, "no agent is running\n")
    code, output = await run_agents_command(api, "send", "mine", "again")
    assert code != 0
    assert "there is no such agent" in output
    assert "Traceback" not in output


async def test_changes_of_an_agent_are_shown_applied_and_undone(api: ApiProcess, project: Path):
    code, output = await run_agents_command(api, "spawn", "fake", "--name", "mine", "--isolation", "worktree")
    assert code == 0, output
    assert await run_agents_command(api, "changes", "mine") == (0, "the agent has changed nothing\n")
    assert (await run_agents_command(api, "send", "mine", "/write notes.txt more\\n"))[0] == 0
    code, output = await run_agents_command(api, "changes", "mine")
    assert (code, "not checked" in output, "+more" in output) == (1, True, True)
    review = json.loads((await run_agents_command(api, "changes", "mine", "--json"))[1])["reviewId"]
    assert f"agents apply mine {review} --unchecked" in output

    code, output = await run_agents_command(api, "apply", "mine", review)
    assert (code != 0, "no check can read these changes" in output) == (True, True)
    assert not (project / "notes.txt").exists()
    assert (await run_agents_command(api, "apply", "mine", review, "--unchecked"))[0] == 0
    assert (project / "notes.txt").read_text() == "more\n"
    assert await run_agents_command(api, "undo", "mine") == (0, "restored notes.txt\n")
    assert not (project / "notes.txt").exists()


async def test_values_of_variables_are_not_taken_from_the_command_line(api: ApiProcess):
    code, output = await run_agents_command(api, "spawn", "shell", "--env", "KEY=secret")
    assert code != 0
    assert "write only the name of the variable" in output


async def test_a_terminal_is_attached_and_left(api: ApiProcess):
    code, output = await run_agents_command(api, "spawn", "shell", "--name", "sh")
    assert code == 0, output
    async with api.client() as client:
        # a shell drops what is typed before its first prompt
        await wait_for_status(client, "sh", "ready")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    program = [sys.executable, "-m", "lsp_harness", "agents", "attach", "sh"]
    terminal = ptyprocess.PtyProcess.spawn(program, env=environment, cwd=str(api.root), dimensions=(30, 100))

    def read_until(text: bytes) -> bytes:
        output = b""
        while text not in output:
            output += terminal.read(4096)
        return output

    async with asyncio.timeout(60):
        await asyncio.to_thread(read_until, b"\x1b")
        terminal.write(b"stty size\r")
        await asyncio.to_thread(read_until, b"30 100")
        terminal.write(b"\x1d")
        await asyncio.to_thread(read_until, b"detached")
    terminal.close()
    assert "sh" in (await run_agents_command(api, "list"))[1], "the agent goes on"


async def test_without_a_server_one_sentence_says_what_to_do(api: ApiProcess):
    await api.end()
    code, output = await run_agents_command(api, "list")
    assert code == 2
    assert output == "lsp-harness: no server runs; start one with `lsp-harness api`\n"


@pytest.mark.parametrize("command", ["attach"])
async def test_attach_needs_a_terminal(api: ApiProcess, command: str):
    code, output = await run_agents_command(api, command, "x")
    assert code != 0
    assert "attach needs a terminal" in output
