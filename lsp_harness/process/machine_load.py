"""The load of this machine by other programs, and whether it runs on battery.

Work that no user waits for should not slow down a compiler, a test run or a video call, and should not empty a
battery. The pressure that Linux reports (`/proc/pressure/cpu`) does not show this alone: it is the time in which a task
waits for a core. So two programs that keep two cores busy cause almost none, and our own engine causes as much as
others. So do programs at low priority, which give way by themselves. Therefore the processor time of our own processes
is subtracted from that of the machine, and the pressure only says that ours compete with others. On a system without
`/proc` only the battery is known.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

from lsp_harness.process import allowed_cores

PROC = Path("/proc")
POWER_SUPPLIES = Path("/sys/class/power_supply")
OTHERS_SHARE = 0.5
"""Share of the machine's cores that other programs use on a loaded machine.

An editor, a browser and the other language servers stay below it while the user types; a build does not.
"""
COMPETING_SHARE = 0.25
"""Share of the cores that other programs use on a loaded machine while tasks wait for a core.

It is smaller, because programs that compete with our engine get only a part of what they need.
"""
WAITING_SHARE = 0.25
"""Share of the time in which a task waits for a core, if programs compete."""
OWN_IDLE_CORES = 0.2
"""Cores that our processes use at most while they count as idle. Then tasks of our cgroup that wait are not ours."""
LIFETIME_S = 3.0
"""Age after which the load is measured again."""
WINDOW_S = 0.25
"""Shortest time over which the load is measured. The processor time is counted in steps of 10 ms."""
MAX_WINDOW_S = 15.0
"""Longest time over which the load is measured. An older sample says nothing about now."""
PMSET_TIMEOUT_S = 2.0
OWN_MODULE, OWN_PROGRAM = b"lsp_harness", b"lsp-harness"


@dataclass(frozen=True, slots=True)
class LoadSample:
    """Counters of the machine at one time.

    Attributes:
        time_s: The time of the sample.
        used_s: The processor time of all programs at normal priority, and the time that other virtual machines took.
        own_s: The processor time of each of our processes.
        waiting_s: The time in which at least one task of the machine waited for a core.
        cgroup_waiting_s: The same for our cgroup, which may be a container with a limit.
    """

    time_s: float
    used_s: float
    own_s: dict[int, float]
    waiting_s: float = 0.0
    cgroup_waiting_s: float = 0.0


class MachineLoad:
    """The load of this machine by other programs. It is measured when somebody asks, at most every `LIFETIME_S`.

    Its methods may be called in any thread. They read a file for each process of the machine, so an event loop should
    not call `measure` itself.
    """

    def __init__(self, clock: Callable[[], float] = monotonic, wait: Callable[[float], None] = sleep) -> None:
        self._clock = clock
        self._wait = wait
        self._lock = threading.Lock()
        self._sample: LoadSample | None = None
        self._measured_s = -LIFETIME_S
        self._reason = ""

    def measure(self) -> str:
        """Return why work that can wait should wait; empty if it should not. This may take `WINDOW_S`."""
        with self._lock:
            if self._clock() - self._measured_s >= LIFETIME_S:
                self._reason = self._battery_reason() or self._others_reason()
                self._measured_s = self._clock()
            return self._reason

    def begin(self) -> None:
        """Take a sample, so that the next `measure` has one to compare with and need not wait."""
        with self._lock:
            if self._age_s() > MAX_WINDOW_S:
                self._sample = read_sample(self._clock())

    def _battery_reason(self) -> str:
        return "the machine runs on battery" if is_on_battery() else ""

    def _others_reason(self) -> str:
        if self._age_s() > MAX_WINDOW_S:
            self._sample = read_sample(self._clock())
        if (first := self._sample) is None:
            return ""
        if (age_s := self._age_s()) < WINDOW_S:
            self._wait(WINDOW_S - age_s)
        self._sample = last = read_sample(self._clock())
        return compare_samples(first, last) if last else ""

    def _age_s(self) -> float:
        return self._clock() - self._sample.time_s if self._sample else float("inf")


def read_idle_s() -> float | None:
    """Return the seconds that all cores together have spent idle or for programs at low priority; None without `/proc`.

    Programs at low priority give way by themselves.
    """
    if sys.platform == "win32":
        return None
    try:
        _, nice, _, idle, io_wait, *_ = _read_machine_ticks()
    except (OSError, ValueError):
        return None
    return (nice + idle + io_wait) / os.sysconf("SC_CLK_TCK")


def _read_machine_ticks() -> list[int]:
    """Return the processor time of the machine by its kind, in ticks of the kernel. Raise OSError or ValueError."""
    words = (PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return [int(word) for word in words[1:9]]


def compare_samples(first: LoadSample, last: LoadSample) -> str:
    """Return how other programs load the machine, if they do. The text is empty if they do not."""
    window_s = last.time_s - first.time_s
    if window_s <= 0:
        return ""
    own_cores = sum(max(0.0, s - first.own_s.get(pid, 0.0)) for pid, s in last.own_s.items()) / window_s
    other_cores = max(0.0, (last.used_s - first.used_s) / window_s - own_cores)
    cores = os.cpu_count() or 1
    is_waiting = (last.waiting_s - first.waiting_s) / window_s >= WAITING_SHARE
    if other_cores >= (COMPETING_SHARE if is_waiting else OTHERS_SHARE) * cores:
        return f"other programs use {min(other_cores, cores):.1f} of {cores} cores"
    share = (last.cgroup_waiting_s - first.cgroup_waiting_s) / window_s
    if share >= WAITING_SHARE and own_cores <= OWN_IDLE_CORES:
        return f"other programs of the container wait for a core {min(share, 1.0):.0%} of the time"
    return ""


def read_sample(time_s: float) -> LoadSample | None:
    """Return the present counters, or None on a system that has none."""
    if sys.platform == "win32":
        return None
    try:
        # A program at low priority (`nice`) gives way by itself, so its time does not count.
        user, _, system, _, _, irq, softirq, steal = _read_machine_ticks()
    except (OSError, ValueError):
        return None
    cgroup = allowed_cores.find_cgroup()
    ticks = os.sysconf("SC_CLK_TCK")
    return LoadSample(
        time_s,
        used_s=(user + system + irq + softirq + steal) / ticks,
        own_s={pid: own / ticks for pid, own in _read_own_ticks().items()},
        waiting_s=_read_waiting(PROC / "pressure" / "cpu"),
        cgroup_waiting_s=_read_waiting(cgroup / "cpu.pressure") if cgroup else 0.0,
    )


def is_on_battery() -> bool:
    """Return whether the machine runs on battery. It is False if that is not known."""
    if sys.platform == "win32":
        import psutil

        battery = psutil.sensors_battery()
        return battery is not None and battery.power_plugged is False
    if sys.platform == "darwin":
        # This branch is untested on a Mac. If the program is missing or prints something else, no battery is assumed.
        try:
            result = subprocess.run(
                ["/usr/bin/pmset", "-g", "batt"], capture_output=True, timeout=PMSET_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return b"'Battery Power'" in result.stdout
    supplies = list(_read_supplies())
    is_plugged = any(kind != "Battery" and online == "1" for kind, online, _ in supplies)
    is_discharging = any(kind == "Battery" and status == "Discharging" for kind, _, status in supplies)
    return is_discharging and not is_plugged


def _read_supplies() -> Iterator[tuple[str, str, str]]:
    """Yield type, online and status of each power supply of the machine, without those of mice and keyboards."""
    try:
        folders = sorted(POWER_SUPPLIES.iterdir())
    except OSError:
        return
    for folder in folders:
        if _read_word(folder / "scope") != "Device":
            yield _read_word(folder / "type"), _read_word(folder / "online"), _read_word(folder / "status")


def _read_word(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _read_waiting(file: Path) -> float:
    """Return the seconds in which at least one task waited for a core, or 0 if the kernel does not count them."""
    for line in _read_word(file).splitlines():
        kind, *fields = line.split()
        if kind == "some":
            total = next((field.removeprefix("total=") for field in fields if field.startswith("total=")), "0")
            return int(total) / 1_000_000 if total.isdecimal() else 0.0
    return 0.0


def _read_own_ticks() -> dict[int, int]:
    """Return the processor time of our processes and of those that they started, without those at low priority."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    own: set[int] = set()
    try:
        pids = [int(name) for name in os.listdir(PROC) if name.isdecimal()]
    except OSError:
        return {}
    for pid in pids:
        try:
            fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            arguments = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
            parents[pid] = int(fields[1])
            ticks[pid] = sum(map(int, fields[11:15])) if int(fields[16]) <= 0 else 0
        except (OSError, ValueError, IndexError):
            continue
        if _is_own(arguments):
            own.add(pid)
    return {pid: ticks[pid] for pid in ticks if any(ancestor in own for ancestor in _list_lineage(pid, parents))}


def _is_own(arguments: list[bytes]) -> bool:
    """Return whether a command line is that of one of our programs: `python -m lsp_harness.…` or `lsp-harness …`."""
    if any(os.path.basename(argument) == OWN_PROGRAM for argument in arguments[:2]):
        return True
    return any(option == b"-m" and module.split(b".")[0] == OWN_MODULE for option, module in pairwise(arguments))


def _list_lineage(pid: int, parents: dict[int, int]) -> Iterator[int]:
    """Yield a process and the processes that started it."""
    while pid in parents:
        yield pid
        pid = parents[pid]
