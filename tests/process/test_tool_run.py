"""Tests that tools and the processes that they started always end."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lsp_harness.process import tool_run


@pytest.fixture
def pid_pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pids"
    os.mkfifo(path)
    return path


@pytest.fixture
def escaped_processes() -> Iterator[list[psutil.Process]]:
    """Yield a list of processes that `run` could not end; they are ended after the test."""
    processes: list[psutil.Process] = []
    yield processes
    for process in processes:
        process.kill()


def make_parent_command(pipe: Path, *, then: str = "wait", start: str = "sleep 1000") -> list[str]:
    """Return the command of a tool that starts another process, writes both process numbers, and continues."""
    return ["sh", "-c", f"{start} & echo $$ $! > {pipe}; {then}"]


async def find_family(pipe: Path) -> list[psutil.Process]:
    """Return the tool and its child, without those that have ended."""
    processes: list[psutil.Process] = []
    for pid in (await asyncio.to_thread(pipe.read_text)).split():
        with suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(int(pid)))
    return processes


async def wait_for_end(processes: list[psutil.Process]) -> None:
    """Wait until the processes have ended. The time limit of the test run stops a wait without end.

    A zombie counts as ended, because the server does not reap orphans.
    """
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            while process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0)


async def test_a_tool_reads_standard_input_and_returns_its_output():
    script = "import sys; text = sys.stdin.read(); print(text.upper()); print(len(text), file=sys.stderr); sys.exit(3)"

    result = await tool_run.run_tool([sys.executable, "-c", script], stdin=b"a" * 300_000)

    assert result == (3, b"A" * 300_000 + b"\n", b"300000\n")


async def test_a_tool_may_ignore_its_input(tmp_path: Path):
    result = await tool_run.run_tool(
        [sys.executable, "-c", "import os; print(os.getcwd())"], stdin=b"a" * 300_000, cwd=tmp_path
    )

    assert result == (0, f"{tmp_path}\n".encode(), b"")


async def test_a_tool_has_a_lower_priority_than_the_engine():
    result = await tool_run.run_tool(
        [sys.executable, "-c", "import os; print(os.nice(0), os.getsid(0) == os.getpid())"]
    )

    assert result.stdout == f"{os.nice(0) + 5} True\n".encode()


async def test_a_missing_tool_raises_an_error():
    with pytest.raises(FileNotFoundError):
        await tool_run.run_tool(["/no/such/tool"])


async def test_a_slow_tool_is_killed_with_its_children(pid_pipe: Path):
    running = asyncio.create_task(tool_run.run_tool(make_parent_command(pid_pipe), limit_s=1))
    processes = await find_family(pid_pipe)

    assert await running == (None, b"", b"")
    await wait_for_end(processes)


async def test_a_cancelled_tool_is_killed_with_its_children(pid_pipe: Path):
    running = asyncio.create_task(tool_run.run_tool(make_parent_command(pid_pipe), limit_s=1000))
    processes = await find_family(pid_pipe)
    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()
    await wait_for_end(processes)


async def test_a_child_that_outlives_its_tool_is_killed(pid_pipe: Path):
    running = asyncio.create_task(tool_run.run_tool(make_parent_command(pid_pipe, then="exit 0"), limit_s=1))
    processes = await find_family(pid_pipe)

    # it holds the pipes, so the tool has not ended before the time did
    assert (await running).exit_code is None
    await wait_for_end(processes)


async def test_a_child_that_closed_the_pipes_is_killed(pid_pipe: Path):
    quiet = "subprocess.Popen(['sleep', '1000'], stdin=-3, stdout=-3, stderr=-3)"
    script = f"import subprocess, sys; child = {quiet}; print(child.pid)"

    result = await tool_run.run_tool([sys.executable, "-c", script], limit_s=1000)

    assert result.exit_code == 0
    with suppress(psutil.NoSuchProcess):
        await wait_for_end([psutil.Process(int(result.stdout))])


async def test_a_child_in_another_session_does_not_delay_the_result(
    pid_pipe: Path, escaped_processes: list[psutil.Process]
):
    running = asyncio.create_task(
        tool_run.run_tool(make_parent_command(pid_pipe, start="setsid sleep 1000"), limit_s=1)
    )
    parent, child = await find_family(pid_pipe)
    escaped_processes.append(child)

    assert (await running).exit_code is None
    await wait_for_end([parent])
    assert child.is_running()


def test_tools_beside_our_interpreter_come_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/bin:/usr/bin")

    assert tool_run.find_tool("ruff") == str(Path(sys.executable).with_name("ruff"))
    assert tool_run.find_tool("sh") in ("/bin/sh", "/usr/bin/sh")
    assert tool_run.find_tool("no-such-tool") is None
