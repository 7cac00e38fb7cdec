"""Tests of the number of threads of a step: fewer while other programs have cores, and more again afterwards."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from lsp_harness.engine.decode.thread_count import (
    FIRST_PROBE_S,
    LONG_STEP_S,
    MAX_PROBE_S,
    CoreUse,
    ThreadCount,
)
from lsp_harness.process import machine_load

STEP_S = 0.03


class Machine:
    """A machine with some cores, of which other programs have a part."""

    def __init__(self, threads: int) -> None:
        self.now_s = 0.0
        self.busy_cores = 0.0
        self.idle_s = self.own_s = 0.0
        self.tells_idle_time = False
        self.count = ThreadCount(threads, lambda: self.now_s, self.read_use)
        self.threads = threads

    def read_use(self) -> CoreUse | None:
        return CoreUse(self.now_s, self.idle_s, self.own_s) if self.tells_idle_time else None

    def step(self, wall_s: float = STEP_S) -> int:
        """Run a step, and return its number of threads."""
        threads = self.count.choose()
        got = min(threads, self.threads - self.busy_cores)
        self.wait(wall_s, got)
        self.count.record(wall_s, wall_s * got)
        return threads

    def wait(self, seconds: float, own_cores: float = 0.0) -> None:
        """Let time pass in which our process uses some cores."""
        self.now_s += seconds
        self.own_s += seconds * own_cores
        self.idle_s += seconds * max(0.0, self.threads - self.busy_cores - own_cores)


def test_all_threads_are_used_while_they_get_cores():
    machine = Machine(4)
    assert {machine.step() for _ in range(100)} == {4}


def test_a_short_disturbance_changes_nothing():
    machine = Machine(2)
    machine.busy_cores = 1
    assert machine.step() == 2
    machine.busy_cores = 0
    assert {machine.step() for _ in range(10)} == {2}


def test_fewer_threads_are_used_while_another_program_is_busy():
    machine = Machine(2)
    machine.busy_cores = 0.6
    assert [machine.step() for _ in range(4)] == [2, 2, 1, 1]
    # a long step is reason enough
    machine = Machine(2)
    machine.busy_cores = 0.6
    assert [machine.step(LONG_STEP_S), machine.step()] == [2, 1]


def test_programs_of_low_priority_cost_no_thread():
    machine = Machine(2)
    machine.busy_cores = 0.3
    assert {machine.step() for _ in range(100)} == {2}


def test_all_busy_cores_are_left_at_once():
    machine = Machine(8)
    machine.busy_cores = 5
    assert [machine.step() for _ in range(3)] == [8, 8, 3]


def test_one_more_thread_is_tried_after_longer_and_longer_times():
    machine = Machine(2)
    machine.busy_cores = 1
    probes: list[float] = []
    while machine.now_s < 60:
        before_s = machine.now_s
        if machine.step() == 2:
            probes.append(before_s)
    gaps = [round(after - before, 1) for before, after in pairwise(probes[1:])]
    assert gaps[0] < 2 * FIRST_PROBE_S
    assert max(gaps) <= MAX_PROBE_S + 4 * STEP_S
    assert gaps == sorted(gaps)
    assert len(probes) < 15


def test_the_threads_come_back_one_by_one_when_the_cores_are_free():
    machine = Machine(4)
    machine.busy_cores = 3
    for _ in range(5):
        machine.step()
    machine.busy_cores = 0
    seen: list[int] = []
    while machine.now_s < 20:
        seen.append(machine.step())
    assert seen == sorted(seen)
    assert seen[-1] == 4


def test_one_thread_is_the_least():
    machine = Machine(1)
    machine.busy_cores = 0.9
    assert {machine.step() for _ in range(50)} == {1}


def test_no_thread_is_tried_while_the_system_says_that_no_core_is_idle():
    machine = Machine(2)
    machine.tells_idle_time = True
    machine.busy_cores = 1
    assert [machine.step() for _ in range(3)] == [2, 2, 1]
    threads: list[int] = []
    for _ in range(40):
        # an engine that waits for requests uses no core, which says nothing about the other program
        machine.wait(0.5)
        threads.append(machine.step())
    assert set(threads) == {1}
    machine.busy_cores = 0
    machine.wait(2 * FIRST_PROBE_S)
    machine.step()
    machine.wait(FIRST_PROBE_S)
    assert [machine.step() for _ in range(3)] == [2, 2, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the idle time")
def test_the_idle_time_of_this_machine_grows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine_load, "PROC", Path("/proc"))
    first, last = CoreUse.read(), CoreUse.read()
    assert first
    assert last
    assert last.idle_s >= first.idle_s >= 0
    assert last.own_s >= first.own_s > 0
