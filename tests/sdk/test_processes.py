"""The end of the session's processes: nothing that a session started is left."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lsp_harness.sdk import HarnessClient, TextDelta, process_session, query
from lsp_harness.sdk.process_session import ProcessSession, live_sessions
from tests.sdk.conftest import FakeProgram
from tests.sdk.fake_session import write_fake

STUBBORN = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    grandchild = subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, process_group=0)
    grandchild.stdout.read(1)
    def never(frame, number):
        start(frame, number)
        say(frame, number, str(grandchild.pid))
        time.sleep(600)
    ready()
    serve(never)
"""


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def wait_until_ended(pid: int) -> None:
    """Wait for the end of a process that the system may still take apart."""
    async with asyncio.timeout(5):
        while is_running(pid):  # noqa: ASYNC110 - it is not our child
            await asyncio.sleep(0)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_harness.sdk.child_connection.TERM_WAIT_S", 0.2)
    monkeypatch.setattr("lsp_harness.sdk.child_connection.EXIT_WAIT_S", 0.2)


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("way", ["cancel", "aclose", "close"])
async def test_a_child_that_ignores_sigterm_is_killed_with_its_children(write_fake_program: FakeProgram, way: str):
    write_fake_program(STUBBORN)
    pids: list[int] = []
    has_text = asyncio.Event()

    async def read_query() -> None:
        async for event in query("hi"):
            if isinstance(event, TextDelta):
                pids.append(int(event.content))
                has_text.set()

    if way == "cancel":
        task = asyncio.create_task(read_query())
        await has_text.wait()
        [session] = live_sessions
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    elif way == "aclose":
        events = query("hi")
        async for event in events:
            if isinstance(event, TextDelta):
                pids.append(int(event.content))
                break
        [session] = live_sessions
        await events.aclose()
    else:
        async with HarnessClient() as client:
            turn = await client.send("hi")
            async for event in turn:
                if isinstance(event, TextDelta):
                    pids.append(int(event.content))
                    break
            [session] = live_sessions
    assert not is_running(session.leader)
    await wait_until_ended(pids[0])


def test_the_documented_limits_are_five_seconds():
    from lsp_harness.sdk import child_connection

    assert child_connection.TERM_WAIT_S == 5.0


async def test_a_second_cancellation_kills_at_once(write_fake_program: FakeProgram):
    write_fake_program(STUBBORN)
    client = HarnessClient()
    await client.__aenter__()
    turn = await client.send("hi")
    pid = client.pid
    assert pid
    await anext(turn)
    closing = asyncio.create_task(client.close())
    began = time.monotonic()
    await asyncio.sleep(0)
    closing.cancel()
    with suppress(asyncio.CancelledError):
        await closing
    await wait_until_ended(pid)
    assert time.monotonic() - began < 4
    await client.close()


async def test_processes_that_a_session_leaves_end_with_the_session(write_fake_program: FakeProgram):
    write_fake_program("""
        def leave(frame, number):
            child = subprocess.Popen(["/bin/sleep", "600"], process_group=0)
            start(frame, number)
            stop(frame, number, text=str(child.pid))
        ready()
        serve(leave)
    """)
    async with HarnessClient() as client:
        stop = await (await client.send("hi")).result()
        assert is_running(int(stop.text))
    await wait_until_ended(int(stop.text))


async def test_a_process_that_left_the_session_stays(write_fake_program: FakeProgram):
    # as the engine does, which other programs share
    write_fake_program("""
        def leave(frame, number):
            child = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
            start(frame, number)
            stop(frame, number, text=str(child.pid))
        ready()
        serve(leave)
    """)
    async with HarnessClient() as client:
        stop = await (await client.send("hi")).result()
    assert is_running(int(stop.text))
    os.kill(int(stop.text), signal.SIGKILL)


PROGRAM = """
import asyncio, sys
from lsp_harness.sdk import HarnessClient
def echo(text: str) -> str:
    return text
async def main():
    client = HarnessClient(tools=[echo] if "tools" in sys.argv else None)
    await client.__aenter__()
    turn = await client.send("hi")
    await anext(turn)
    print(client.pid, (await anext(turn)).content, flush=True)
    if "tools" in sys.argv:
        print(client._tool_config.path, flush=True)
asyncio.run(main())
"""


def test_children_end_with_the_interpreter(tmp_path: Path):
    program = write_fake(tmp_path, STUBBORN.replace("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "", 1))
    environment = {**os.environ, "LSP_HARNESS_BINARY": str(program)}
    argv = [sys.executable, "-c", PROGRAM, "tools"]
    ran = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    child, grandchild, config = ran.stdout.split()
    asyncio.run(wait_until_ended(int(child)))
    asyncio.run(wait_until_ended(int(grandchild)))
    assert not Path(config).parent.exists()


def test_a_forked_process_does_not_end_the_session_of_its_parent(monkeypatch: pytest.MonkeyPatch):
    killed: list[ProcessSession] = []
    monkeypatch.setattr(ProcessSession, "kill", lambda session: killed.append(session))
    monkeypatch.setattr(ProcessSession, "members", lambda self: [])
    mine, others = ProcessSession(1, "", os.getpid()), ProcessSession(2, "", os.getppid())
    monkeypatch.setattr(process_session, "live_sessions", {mine, others})
    process_session.kill_all()
    assert killed == [mine]


def test_a_reused_process_number_is_not_killed():
    session = ProcessSession(os.getpid(), "another time")
    assert session.members() == []
    session.kill()


async def test_no_task_and_no_descriptor_is_left(write_fake_program: FakeProgram):
    write_fake_program()
    [event async for event in query("warm up")]
    tasks, descriptors = asyncio.all_tasks(), len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        [event async for event in query("hi")]
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == tasks
    assert len(os.listdir("/proc/self/fd")) <= descriptors
