"""Nothing of an agent is left, wherever its processes went: processes, descriptors and files."""

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from lsp_harness.process.process_table import list_processes
from lsp_harness.process.termination import OpenProcess
from tests.runtime.terminal.conftest import StartTerminal
from tests.runtime.terminal.process_count import (
    ESCAPE_SCRIPTS,
    find_descendants,
    find_processes_with_mark,
    open_descriptors,
    until_shown,
)

ALL_ESCAPES = "; ".join(f"{{ {script} }}" if script.endswith("&") else script for script in ESCAPE_SCRIPTS.values())
ROUNDS = 6


def list_running_processes() -> set[int]:
    return {row.pid for row in list_processes()}


@pytest.mark.parametrize("escape", ESCAPE_SCRIPTS)
@pytest.mark.parametrize("force", [False, True], ids=["in order", "at once"])
async def test_every_process_ends_when_the_agent_is_stopped(escape: str, force: bool, start: StartTerminal):
    # the worker of the tests may have other children
    before = find_descendants(os.getpid())
    terminal = await start("bash", "-c", f"{ESCAPE_SCRIPTS[escape]}\necho re''ady; exec sleep 1000")
    await until_shown("ready", terminal)
    pids = find_descendants(os.getpid()) - before - {os.getpid()}
    assert terminal.pid in pids
    assert len(pids) >= 3

    assert await terminal.end(force=force, timeout_s=0.3) == []
    assert pids.isdisjoint(list_running_processes())
    assert await terminal.wait() == (-signal.SIGKILL if force else -signal.SIGTERM)


@pytest.mark.parametrize("escape", [name for name in ESCAPE_SCRIPTS if name != "deaf"])
async def test_every_process_ends_with_the_agent_itself(escape: str, start: StartTerminal):
    before = find_descendants(os.getpid())
    terminal = await start("bash", "-c", f"{ESCAPE_SCRIPTS[escape]}\necho re''ady; read x; exit 3")
    await until_shown("ready", terminal)
    pids = find_descendants(os.getpid()) - before - {os.getpid()}
    assert len(pids) >= 3
    terminal.write(b"\r")

    assert await terminal.wait() == 3
    assert pids.isdisjoint(list_running_processes())


async def test_an_interactive_shell_ends_by_the_signal_of_a_closed_terminal(start: StartTerminal):
    terminal = await start("bash", "--norc", "-i")
    terminal.write(b"sleep 1000 & echo re''ady\r")
    await until_shown("ready", terminal)

    assert await terminal.end(timeout_s=60.0) == []
    assert await terminal.wait() == -signal.SIGHUP


async def test_an_agent_that_stops_itself_is_continued(start: StartTerminal):
    terminal = await start("bash", "-c", "kill -STOP $$; echo goes on; read x")
    await until_shown("goes on", terminal)


async def test_ctrl_c_is_sent_to_the_program_and_not_to_its_supervisor(start: StartTerminal):
    terminal = await start("bash", "-c", "trap 'echo interrupted' INT; echo re''ady; while :; do sleep 0.05; done")
    await until_shown("ready", terminal)
    terminal.write(b"\x03\x1a\x1c")
    await until_shown("interrupted", terminal)

    assert terminal.exit_code is None


async def test_rounds_leave_no_process_no_descriptor_and_no_file(
    start: StartTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    await (await start("true")).wait()
    descriptors, before = open_descriptors(), list_running_processes()
    for number in range(ROUNDS):
        script = f"{ALL_ESCAPES}\necho re''ady; exec sleep 1000"
        env = {"TMPDIR": str(temporary)}
        terminal = await start("bash", "-c", script, env=env, log=tmp_path / "log")
        await until_shown("ready", terminal)
        assert len(find_descendants(os.getpid())) >= len(ESCAPE_SCRIPTS)
        assert await terminal.end(force=bool(number % 2), timeout_s=0.2) == []
        terminal.close()

    assert find_descendants(os.getpid()) <= before
    assert open_descriptors() == descriptors
    assert list(temporary.iterdir()) == []


SERVER = """
import asyncio, os, sys
from pathlib import Path
from lsp_harness.runtime.terminal.terminal import Terminal
from tests.runtime.terminal.process_count import until_shown

async def main():
    terminal = await Terminal.start(
        ["bash", "-c", sys.argv[2]], cwd=Path.cwd(), env=dict(os.environ), columns=80, rows=24, log_file=None,
        mark=sys.argv[1],
    )
    await until_shown("ready", terminal)
    print("ready", flush=True)
    await terminal.wait()

asyncio.run(main())
"""


async def test_no_process_is_left_when_the_server_is_killed(mark: str):
    script = f"{ALL_ESCAPES}\necho re''ady; exec sleep 1000"
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, mark, script, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout
    assert await server.stdout.readline() == b"ready\n"
    pids = find_descendants(server.pid)
    assert len(pids) > len(ESCAPE_SCRIPTS)
    processes = [OpenProcess(pid) for pid in pids]
    server.kill()
    await server.wait()

    assert all(await asyncio.gather(*(process.wait_for_end(30) for process in processes)))
    for process in processes:
        process.close()
    assert find_processes_with_mark(mark) == []


async def test_no_process_is_left_when_the_supervisor_is_killed(start: StartTerminal, mark: str):
    terminal = await start("bash", "-c", "(setsid sleep 1000 >/dev/null 2>&1 &); sleep 1000 & echo re''ady; wait")
    await until_shown("ready", terminal)
    os.kill(terminal._program.pid, signal.SIGKILL)

    assert await terminal.wait() == -signal.SIGKILL
    assert find_processes_with_mark(mark) == []


async def test_a_terminal_is_closed_when_its_processes_end(start: StartTerminal):
    """A second agent does not hold the terminal of the first open."""
    first = await start("bash", "-c", "echo re''ady; read x")
    second = await start("cat")
    await until_shown("ready", first)
    first.write(b"\r")

    assert await first.wait() == 0
    assert second.exit_code is None
