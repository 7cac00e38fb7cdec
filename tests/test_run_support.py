"""The reports of a run, the guard of `make unit`, and the search for programs that run."""

import sys
from pathlib import Path

import pytest

from tests.support.process_guard import ProcessGuard, ProcessStartedError
from tests.support.programs import find_program_problem
from tests.support.run_reports import SLOWEST_COUNT, describe_absent, write_slowest


def test_the_slowest_tests_are_written_with_the_sum_of_all(tmp_path: Path):
    seconds = {f"test_{number}": float(number) for number in range(60)}
    write_slowest(tmp_path / "slowest.txt", seconds)
    total, slowest, *others = (tmp_path / "slowest.txt").read_text().splitlines()
    assert total.split() == ["1770.00", "s", "all", "60", "tests,", "one", "after", "another"]
    assert slowest.split() == ["59.00", "s", "test_59"]
    assert len(others) == SLOWEST_COUNT - 1


def test_skipped_tests_are_one_list_by_reason():
    absent = {"no podman": {"a.py::one"}, "no bwrap": {"a.py::two[1]", "a.py::two[2]", "b.py::three"}}
    assert describe_absent(absent) == [
        "not tested on this machine: 4 tests",
        "     3  no bwrap (a.py and 1 more)",
        "     1  no podman (a.py)",
    ]
    assert describe_absent({}) == []


@pytest.mark.process
def test_a_program_that_does_not_run_is_a_problem(tmp_path: Path):
    broken = tmp_path / "cargo"
    broken.write_text("#!/bin/sh\necho 'error: no toolchain' >&2\nexit 1\n")
    broken.chmod(0o755)
    assert find_program_problem(str(broken)) == "cargo is on PATH and does not run: error: no toolchain"
    assert find_program_problem("no-such-program") == "no-such-program is not installed"
    assert find_program_problem(sys.executable) == ""


def test_a_unit_test_that_starts_a_process_fails_even_if_it_catches_the_error():
    guard = ProcessGuard(is_installed=False)
    around = guard.pytest_runtest_protocol()
    next(around)
    with pytest.raises(ProcessStartedError, match=r"pytest\.mark\.process"):
        guard.see("subprocess.Popen", ("git", ["git", "status"], None, None))
    call = guard.pytest_runtest_call()
    next(call)
    with pytest.raises(ProcessStartedError, match="git"):
        next(call)
    around.close()
    guard.see("subprocess.Popen", ("git", ["git", "status"], None, None))
