"""The load of the machine by other programs, and the battery, from files as Linux writes them."""

from pathlib import Path

import pytest

from lsp_harness.process import allowed_cores, machine_load
from lsp_harness.process.machine_load import LoadSample, MachineLoad, compare_samples, is_on_battery, read_sample


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of a machine with two cores on which nothing runs."""
    monkeypatch.setattr(machine_load, "PROC", tmp_path)
    monkeypatch.setattr(machine_load, "POWER_SUPPLIES", tmp_path / "power")
    monkeypatch.setattr(machine_load.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(allowed_cores, "CGROUP_ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(allowed_cores, "PROCESS_CGROUPS", tmp_path / "self-cgroup")
    (tmp_path / "pressure").mkdir()
    write_use(tmp_path)
    return tmp_path


def write_use(machine: Path, used: int = 0, nice: int = 0, steal: int = 0, waited_us: int = 0) -> None:
    """Write the counters of the machine. Times are in ticks of 10 ms."""
    (machine / "stat").write_text(f"cpu  {used} {nice} 0 500 7 0 0 {steal} 0 0\ncpu0 1 2 3\n")
    (machine / "pressure" / "cpu").write_text(
        f"some avg10=9.99 avg60=1.00 avg300=0.50 total={waited_us}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    )


def write_process(machine: Path, pid: int, ticks: int, command: str, parent: int = 1, nice: int = 0) -> None:
    folder = machine / str(pid)
    folder.mkdir(exist_ok=True)
    fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", "0", "0", "20", str(nice), *["0"] * 5]
    (folder / "stat").write_text(f"{pid} (a) odd) name) {' '.join(fields)}\n")
    (folder / "cmdline").write_bytes(command.replace(" ", "\0").encode() + b"\0")


class Clock:
    """A clock that a wait moves on, and that then shows the machine as it is at the end of the wait."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.waited_s: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.waited_s.append(seconds)
        self.now_s += seconds


def measure(machine: Path, seconds: float = 5.0) -> tuple[MachineLoad, Clock]:
    """Return a load whose first sample is so many seconds old."""
    clock = Clock()
    load = MachineLoad(clock, clock.wait)
    load.begin()
    clock.now_s += seconds
    return load, clock


def test_two_other_programs_on_two_cores_are_a_load_without_any_pressure(machine: Path) -> None:
    load, _ = measure(machine)
    write_use(machine, used=990)
    assert load.measure() == "other programs use 2.0 of 2 cores"


def test_our_own_engine_is_not_counted_as_load(machine: Path) -> None:
    write_process(machine, 7, 100, "/usr/bin/python -P -m lsp_harness.engine.main --model m")
    load, _ = measure(machine)
    write_process(machine, 7, 1000, "/usr/bin/python -P -m lsp_harness.engine.main --model m")
    write_use(machine, used=960, waited_us=4_000_000)
    assert load.measure() == ""


@pytest.mark.parametrize(
    ("command", "is_own"),
    [
        ("/x/python /x/bin/lsp-harness serve", True),
        ("/x/bin/lsp-harness serve", True),
        ("python -m lsp_harness serve", True),
        ("vim lsp-harness/a.py lsp_harness.py", False),
        ("python -m lsp_harness_other.main", False),
        ("cc -c /src/lsp_harness/a.c", False),
    ],
)
def test_our_programs_are_known_by_their_command_line(machine: Path, command: str, is_own: bool) -> None:
    load, _ = measure(machine)
    write_process(machine, 7, 900, command)
    write_use(machine, used=900)
    assert (load.measure() == "") == is_own


def test_a_type_checker_of_our_server_is_not_counted_as_load(machine: Path) -> None:
    write_process(machine, 7, 0, "/x/bin/lsp-harness serve")
    write_process(machine, 8, 0, "ty server", parent=7)
    load, _ = measure(machine)
    write_process(machine, 8, 900, "ty server", parent=7)
    write_use(machine, used=900)
    assert load.measure() == ""


def test_a_program_at_low_priority_is_no_load_and_another_virtual_machine_is(machine: Path) -> None:
    load, _ = measure(machine)
    write_use(machine, nice=1000)
    assert load.measure() == ""
    load, _ = measure(machine)
    write_use(machine, nice=1000, steal=600)
    assert load.measure() == "other programs use 1.2 of 2 cores"


@pytest.mark.parametrize(("waited_us", "expected"), [(0, ""), (4_000_000, "other programs use 0.8 of 2 cores")])
def test_programs_that_compete_with_our_engine_use_fewer_cores(machine: Path, waited_us: int, expected: str) -> None:
    write_process(machine, 7, 0, "python -m lsp_harness.engine.main")
    load, _ = measure(machine)
    write_process(machine, 7, 600, "python -m lsp_harness.engine.main")
    write_use(machine, used=1000, waited_us=waited_us)
    assert load.measure() == expected


def test_programs_at_low_priority_that_wait_are_no_load(machine: Path) -> None:
    load, _ = measure(machine)
    write_use(machine, used=50, nice=900, waited_us=5_000_000)
    assert load.measure() == ""


def test_the_pressure_of_the_cgroup_shows_the_limit_of_a_container(machine: Path) -> None:
    (machine / "self-cgroup").write_text("1:cpu:/x\n0::/box\n")
    (machine / "cgroup" / "box").mkdir(parents=True)
    file = machine / "cgroup" / "box" / "cpu.pressure"
    file.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
    load, _ = measure(machine)
    file.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=4500000\n")
    assert load.measure() == "other programs of the container wait for a core 90% of the time"
    write_process(machine, 7, 0, "lsp-harness serve")
    load, _ = measure(machine)
    write_process(machine, 7, 200, "lsp-harness serve")
    file.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=9000000\n")
    assert load.measure() == ""


def test_a_measurement_is_used_again_for_some_seconds(machine: Path) -> None:
    load, clock = measure(machine)
    assert load.measure() == ""
    write_use(machine, used=9000)
    clock.now_s += machine_load.LIFETIME_S - 0.1
    assert load.measure() == ""
    clock.now_s += 0.2
    assert load.measure() == "other programs use 2.0 of 2 cores"


def test_without_a_recent_sample_two_samples_are_taken(machine: Path) -> None:
    load, clock = measure(machine, seconds=machine_load.MAX_WINDOW_S + 1)
    assert load.measure() == ""
    assert clock.waited_s == [machine_load.WINDOW_S]
    clock.now_s += machine_load.LIFETIME_S
    assert load.measure() == ""
    assert len(clock.waited_s) == 1


def test_a_system_without_these_files_has_no_load(machine: Path) -> None:
    (machine / "stat").unlink()
    assert read_sample(0.0) is None
    assert MachineLoad().measure() == ""
    sample = LoadSample(1.0, 0.0, {})
    assert compare_samples(sample, sample) == ""


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ([], False),
        ([{"type": "Battery", "status": "Discharging"}], True),
        ([{"type": "Battery", "status": "Charging"}], False),
        ([{"type": "Battery", "status": "Discharging"}, {"type": "Mains", "online": "0"}], True),
        ([{"type": "Battery", "status": "Discharging"}, {"type": "Mains", "online": "1"}], False),
        ([{"type": "Battery", "status": "Discharging"}, {"type": "USB", "online": "1"}], False),
        ([{"type": "Battery", "status": "Discharging", "scope": "Device"}], False),
    ],
)
def test_the_battery_of_the_machine_is_distinguished_from_that_of_a_mouse(
    machine: Path, supplies: list[dict[str, str]], expected: bool
) -> None:
    for number, supply in enumerate(supplies):
        folder = machine / "power" / str(number)
        folder.mkdir(parents=True)
        for name, value in supply.items():
            (folder / name).write_text(f"{value}\n")
    assert is_on_battery() is expected
    assert MachineLoad().measure() == ("the machine runs on battery" if expected else "")
