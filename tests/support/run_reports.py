"""Reports at the end of a run of the tests: a file of the slowest ones, and a list of those that were skipped."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

SLOWEST = ".pytest-slowest.txt"
SLOWEST_COUNT = 50
"""Tests in the file. A run of fewer tests leaves the file as it is."""


class RunReports:
    """The times and the skipped tests of all workers, which xdist reports to the process that shows them."""

    def __init__(self, config: pytest.Config) -> None:
        self._folder = config.rootpath
        self._seconds: dict[str, float] = {}
        self._absent: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of a part of a test, and the reason for which it was skipped."""
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.skipped and not hasattr(report, "wasxfail"):
            self._add_absent(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Add the reason for which a whole module was skipped."""
        if report.skipped:
            self._add_absent(report)

    def pytest_sessionfinish(self) -> None:
        """Write the slowest tests."""
        if len(self._seconds) > SLOWEST_COUNT:
            write_slowest(self._folder / SLOWEST, self._seconds)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the reasons for which tests were skipped."""
        for line in describe_absent(self._absent):
            terminalreporter.write_line(line)

    def _add_absent(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        # an empty list of parameters has a reason with the name of the function
        reason = re.sub(r"^got empty parameter set.*", "nothing to test with is on this machine", reason)
        self._absent.setdefault(reason.removeprefix("Skipped: "), set()).add(report.nodeid)


def write_slowest(file: Path, seconds: Mapping[str, float]) -> None:
    """Write the tests that took longest, with their fixtures, and what all tests took together."""
    slowest = sorted(seconds.items(), key=lambda entry: -entry[1])[:SLOWEST_COUNT]
    lines = [f"{time:8.2f} s  {test}\n" for test, time in slowest]
    total = f"{sum(seconds.values()):8.2f} s  all {len(seconds)} tests, one after another\n"
    file.write_text("".join([total, *lines]))


def describe_absent(absent: dict[str, set[str]]) -> list[str]:
    """Return the lines that say how many tests were skipped for each reason, and in which files."""
    if not absent:
        return []
    count = sum(len(tests) for tests in absent.values())
    lines = [f"not tested on this machine: {count} {'test' if count == 1 else 'tests'}"]
    for reason, tests in sorted(absent.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        files = sorted({test.partition("::")[0] for test in tests})
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        lines.append(f"{len(tests):6}  {reason} ({files[0]}{more})")
    return lines
