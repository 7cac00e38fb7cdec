"""No process of a program survives its end, wherever it went."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lsp_harness.process import process_table
from lsp_harness.process.process_table import environment_value, list_processes
from lsp_harness.process.process_tree import MARK_VARIABLE, ProcessTree, end_marked
from lsp_harness.process.termination import OpenProcess
from lsp_harness.text.ulid import make_ulid

ESCAPES = {
    "in the background": "sleep 1000 & echo ready",
    "in its own group": "bash -c 'set -m; sleep 1000 & exit'; echo ready",
    "in its own session": "setsid sleep 1000 & echo ready",
    "without hang-up": "nohup setsid sleep 1000 >/dev/null 2>&1 & echo ready",
    "an orphan in its own session": "(setsid sleep 1000 >/dev/null 2>&1 &); echo ready",
    "without the mark": "env -i setsid sleep 1000 & echo ready",
    "an orphan without the mark": "(env -i setsid sleep 1000 >/dev/null 2>&1 &); echo ready",
    "deaf": "sh -c 'trap \"\" TERM; echo ready; while :; do sleep 1000; done' & wait",
    "stopped": "sleep 1000 & kill -STOP $!; echo ready",
}


def find_marked_processes(mark: str) -> list[int]:
    return [row.pid for row in list_processes() if mark in environment_value(row.pid, MARK_VARIABLE).split(":")]


@pytest.fixture
async def mark() -> AsyncIterator[str]:
    name = make_ulid()
    yield name
    assert find_marked_processes(name) == []


async def start(script: str, mark: str) -> ProcessTree:
    """Start a script, and wait until it says that it is ready."""
    tree = await ProcessTree.start(["/bin/sh", "-c", script], mark=mark)
    assert await tree.output.readline() == b"ready\n"
    return tree


@pytest.mark.parametrize("escape", ESCAPES)
async def test_every_descendant_is_ended_while_the_program_runs(escape: str, mark: str):
    tree = await start(f"{ESCAPES[escape]}; exec sleep 1000", mark)
    rows = await tree.find_processes()

    # deaf: two shells and a sleep
    assert len(rows) >= 2
    assert await tree.end(grace_s=0.05) == []
    assert await tree.find_processes() == []
    assert {row.pid for row in list_processes()}.isdisjoint(row.pid for row in rows)
    assert await tree.wait() < 0
    tree.close()


@pytest.mark.parametrize("escape", [escape for escape in ESCAPES if "without the mark" not in escape])
async def test_processes_that_a_program_leaves_are_ended_too(escape: str, mark: str):
    tree = await start(
        f"{ESCAPES[escape].removesuffix('& wait')} & exit 3" if escape == "deaf" else ESCAPES[escape], mark
    )

    await tree.wait()
    assert await tree.find_processes()
    assert await tree.end(grace_s=0.05) == []
    assert await tree.find_processes() == []
    tree.close()


async def test_a_program_that_ends_by_itself_has_an_exit_status_and_an_output(mark: str):
    tree = await ProcessTree.start(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], mark=mark)

    assert await tree.output.read() == b"out\nerr\n"
    assert await tree.wait() == 3
    assert await tree.end() == []
    tree.close()


async def test_a_program_gets_its_session_folder_environment_and_a_lower_priority(mark: str, tmp_path: Path):
    script = f"import os; print(os.getsid(0) == os.getpid(), os.nice(0), os.getcwd(), os.environ['{MARK_VARIABLE}'])"
    env = {"PATH": os.environ["PATH"], MARK_VARIABLE: "outer"}
    tree = await ProcessTree.start([sys.executable, "-c", script], mark=mark, cwd=tmp_path, env=env)

    assert (await tree.output.read()).decode() == f"True {os.nice(0) + 5} {tmp_path} outer:{mark}\n"
    await tree.end()
    tree.close()


async def test_a_missing_program_raises_an_error():
    with pytest.raises(FileNotFoundError):
        await ProcessTree.start(["/no/such/program"], mark="x")


async def test_a_program_can_end_in_order_after_sigterm(mark: str):
    tree = await start("trap 'echo bye; exit 0' TERM; sleep 1000 & echo ready; wait", mark)

    await tree.end()
    assert await tree.output.read() == b"bye\n"
    assert await tree.wait() == 0
    tree.close()


async def test_processes_of_a_killed_server_are_found_by_their_mark(mark: str):
    tree = await start("(setsid sleep 1000 >/dev/null 2>&1 &); echo ready; exec sleep 1000", mark)
    os.kill(tree.pid, signal.SIGKILL)
    await tree.wait()
    assert len(find_marked_processes(mark)) == 1

    assert await end_marked(mark) == []
    tree.close()


async def test_a_program_ends_when_this_process_is_killed(mark: str):
    script = f"""
import asyncio
from lsp_harness.process.process_tree import ProcessTree

async def main():
    tree = await ProcessTree.start(["sleep", "1000"], mark="{mark}")
    print(tree.pid, flush=True)
    await tree.wait()

asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout
    program = OpenProcess(int(await parent.stdout.readline()))
    parent.kill()
    await parent.wait()

    assert await program.wait_for_end(20)
    program.close()


@pytest.mark.parametrize("escape", ESCAPES)
async def test_no_descendant_of_a_supervised_program_survives_when_this_process_is_killed(escape: str, mark: str):
    script = f"""
import asyncio
from lsp_harness.process.process_tree import ProcessTree

async def main():
    command = ["/bin/sh", "-c", {ESCAPES[escape]!r} + "; exec sleep 1000"]
    tree = await ProcessTree.start_supervised(command, mark="{mark}")
    assert await tree.output.readline() == b"ready\\n"
    print(*(row.pid for row in await tree.find_processes()), flush=True)
    await tree.wait()

asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout
    pids = [int(word) for word in (await parent.stdout.readline()).split()]
    processes = [OpenProcess(pid) for pid in pids]
    parent.kill()
    await parent.wait()

    # the supervisor, and the program with what it started
    assert len(pids) >= 3
    assert all([await process.wait_for_end(20) for process in processes])
    for process in processes:
        process.close()


async def test_a_supervised_program_is_like_another_one(mark: str, tmp_path: Path):
    env = {"PATH": os.environ["PATH"], "LANG": "C"}
    tree = await ProcessTree.start_supervised(["/bin/sh", "-c", "pwd; kill -9 $$"], mark=mark, cwd=tmp_path, env=env)
    assert (await tree.output.read()).decode() == f"{tmp_path}\n"
    assert await tree.wait() == -signal.SIGKILL
    tree.close()

    listing = await ProcessTree.start_supervised(["env"], mark=mark, env=env)
    assert b"LC_CTYPE" not in await listing.output.read()
    assert await listing.wait() == 0
    listing.close()


@pytest.mark.parametrize(("program", "folder"), [("/no/such/program", "/"), ("true", "/no/such/folder")])
async def test_a_supervised_program_that_cannot_be_started(program: str, folder: str):
    with pytest.raises(FileNotFoundError, match="/no/such"):
        await ProcessTree.start_supervised([program], mark="x", cwd=Path(folder))


async def test_a_cancelled_end_kills_at_once(mark: str):
    tree = await start("trap '' TERM; echo ready; while :; do sleep 1000; done", mark)
    ending = asyncio.ensure_future(tree.end(grace_s=1000))
    while not (await tree.find_processes()):  # noqa: ASYNC110 - it runs at once
        await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})

    assert await tree.wait() == -signal.SIGKILL
    await tree.end(grace_s=0)
    tree.close()


async def test_without_proc_the_processes_are_found_too(mark: str, monkeypatch: pytest.MonkeyPatch):
    tree = await start("sleep 1000 & echo ready; exec sleep 1000", mark)
    rows = await tree.find_processes()
    monkeypatch.setattr(process_table, "HAS_PROC", False)

    assert sorted(row.pid for row in await tree.find_processes()) == sorted(row.pid for row in rows)
    assert all(environment_value(row.pid, MARK_VARIABLE).split(":")[-1] == mark for row in rows)
    monkeypatch.undo()
    await tree.end(grace_s=0.5)
    tree.close()
