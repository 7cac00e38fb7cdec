"""Tests that working processes without output are distinguished from stuck ones."""

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from lsp_harness.process.activity import ProcessActivity, cpu_ticks, session_pids
from lsp_harness.process.line_output import stream_lines
from tests.support.stuck import has_ended, stop

SPINS = "print(flush=True)\nwhile True: pass"
WAITS = "print(flush=True)\ninput()"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def start_script(script: str) -> Iterator[psutil.Popen]:
    pipe = subprocess.PIPE
    process = psutil.Popen([sys.executable, "-S", "-c", script], stdin=pipe, stdout=pipe, start_new_session=True)
    assert process.stdin
    assert process.stdout
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def spinning_process() -> Iterator[psutil.Popen]:
    yield from start_script(SPINS)


@pytest.fixture
def waiting_process() -> Iterator[psutil.Popen]:
    yield from start_script(WAITS)


def test_a_process_that_uses_the_processor_is_not_stuck(spinning_process: psutil.Popen):
    clock = Clock()
    activity = ProcessActivity(lambda: [spinning_process.pid], 100, clock=clock)
    for _ in range(3):
        before = cpu_ticks(spinning_process.pid)
        while cpu_ticks(spinning_process.pid) == before:
            pass
        clock.now += 1000
        assert not activity.is_stuck()
    stop(spinning_process.pid)
    assert not activity.is_stuck()
    clock.now += 99
    assert not activity.is_stuck()
    clock.now += 1
    assert activity.is_stuck()
    activity.record_sign()
    assert not activity.is_stuck()


def test_a_process_without_work_is_not_stuck(waiting_process: psutil.Popen):
    clock, idle = Clock(), True
    activity = ProcessActivity(lambda: [waiting_process.pid], 100, lambda: idle, clock)
    clock.now = 1000
    assert not activity.is_stuck()
    idle = False
    assert not activity.is_stuck()
    clock.now = 1100
    assert activity.is_stuck()


def test_a_session_has_its_leader_and_the_started_processes(waiting_process: psutil.Popen):
    assert session_pids(waiting_process.pid) == [waiting_process.pid]
    assert cpu_ticks(2**22 + 1) == 0


async def test_a_process_that_is_stopped_is_ended_and_that_is_an_error():
    stops = "import os, signal; print(os.getpid(), flush=True); os.kill(os.getpid(), signal.SIGSTOP)"
    lines = stream_lines([sys.executable, "-S", "-c", stops], look_s=0.01, silence_s=0.1)
    pid = int(await anext(lines))

    with pytest.raises(TimeoutError):
        await anext(lines)
    assert has_ended(pid)
