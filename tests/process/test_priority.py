"""The priority of a process and of its session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.process import priority
from lsp_harness.process.priority import lower_priority

REPORT = "import os; print(os.nice(0), *open('/proc/self/autogroup').read().split()[-1:])"
"""A program that prints its niceness, and that of its session. The first sessions of a system have none."""
has_autogroups = pytest.mark.skipif(
    not Path(priority.AUTOGROUP_FILE).exists() or Path("/proc/sys/kernel/sched_autogroup_enabled").read_text() != "1\n",
    reason="this kernel does not share the processor between sessions",
)


def run_lowered(*, leads: bool) -> list[str]:
    """Return the niceness of a process that lowered its priority, and that of its session."""

    def prepare() -> None:
        lower_priority(7, tries=50)

    child = subprocess.run(
        [sys.executable, "-c", REPORT],
        stdout=subprocess.PIPE,
        start_new_session=leads,
        preexec_fn=prepare,
        check=True,
    )
    return child.stdout.decode().split()


@has_autogroups
def test_a_session_leader_lowers_the_priority_of_its_session():
    assert run_lowered(leads=True) == [str(min(19, os.nice(0) + 7)), "7"]


@has_autogroups
def test_a_process_does_not_change_a_foreign_session():
    before = Path(priority.AUTOGROUP_FILE).read_text()
    assert run_lowered(leads=False) == [str(min(19, os.nice(0) + 7)), *before.split()[-1:]]
    assert Path(priority.AUTOGROUP_FILE).read_text() == before


@pytest.mark.parametrize("refusals", [0, 2, 5])
def test_a_priority_is_set_again_while_the_kernel_is_busy(
    refusals: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "autogroup"
    file.touch()
    pauses, left = list[float](), [refusals]

    def write(descriptor: int, data: bytes) -> int:
        if left[0]:
            left[0] -= 1
            raise BlockingIOError
        return len(data)

    monkeypatch.setattr(priority, "AUTOGROUP_FILE", str(file))
    monkeypatch.setattr(os, "nice", lambda step: step)
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid())
    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(priority.time, "sleep", pauses.append)
    lower_priority(tries=4)
    assert len(pauses) == min(refusals, 3)


def test_a_system_without_the_feature_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(priority, "AUTOGROUP_FILE", str(tmp_path / "missing"))
    monkeypatch.setattr(os, "nice", lambda step: step)
    monkeypatch.setattr(os, "getsid", lambda pid: os.getpid())
    lower_priority(tries=4)
    assert list(tmp_path.iterdir()) == []
