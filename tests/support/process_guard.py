"""The marker `process`, and the guard of `make unit`: a test without the marker starts no process there.

A test has the marker by its own decorator, by `pytestmark` of its module, by its folder, or by a fixture that starts
processes.
"""

import multiprocessing.process
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROCESS_FOLDERS = tuple(
    f"tests/{name}/"
    for name in (
        *("acp", "agents", "api", "appendix", "bench", "benchmarks", "chaos", "cli", "e2e", "editors", "eval", "evals"),
        *("evaluation", "faults", "mcp", "package", "process", "project", "questions", "runtime", "scenarios", "sdk"),
        *("server", "sessions", "kernel/tasks", "verify/types"),
    )
)
"""Folders in which nearly all tests start processes."""
PROCESS_FIXTURES = frozenset({"home", "probed", "ruff", "workbench"})
"""Fixtures that start processes, for the tests that ask for them in any way."""
EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""Events of `sys.addaudithook` that start a process."""


class ProcessStartedError(Exception):
    """A test of `make unit` starts a process."""


def mark_process_tests(items: list[pytest.Item]) -> None:
    """Give the marker to the tests that have it by their folder or by a fixture."""
    for item in items:
        folder = item.path.relative_to(ROOT).as_posix()
        names = getattr(item, "fixturenames", ())
        if folder.startswith(PROCESS_FOLDERS) or not PROCESS_FIXTURES.isdisjoint(names):
            item.add_marker(pytest.mark.process)


def select_unit_tests(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need a process or the model."""
    left_out = [item for item in items if any(item.iter_markers("process")) or any(item.iter_markers("model"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        away = set(left_out)
        items[:] = [item for item in items if item not in away]


class ProcessGuard:
    """A guard that refuses to start processes during a test, and fails a test that tried to."""

    def __init__(self, *, is_installed: bool = True) -> None:
        """Create a guard.

        Args:
            is_installed: Whether it watches this process from now on, for ever.
        """
        self._pid = os.getpid()
        self._is_active = False
        self._started: list[str] = []
        if is_installed:
            self._install()

    def see(self, event: str, args: tuple[object, ...]) -> None:
        """Refuse what starts a process. `event` and `args` are those of an audit hook."""
        if event in EVENTS:
            self._refuse(f"{event}: {args[1] if event == 'subprocess.Popen' else ''}")

    def _install(self) -> None:
        guard, start = self, multiprocessing.process.BaseProcess.start

        def start_guarded(self: multiprocessing.process.BaseProcess) -> None:
            # the server of `multiprocessing` forks for this process, which no event tells
            guard._refuse(f"multiprocessing: {self.name}")
            start(self)

        multiprocessing.process.BaseProcess.start = start_guarded
        sys.addaudithook(self.see)

    def _refuse(self, what: str) -> None:
        if self._is_active and os.getpid() == self._pid:
            self._started.append(what[:200])
            raise ProcessStartedError(
                f"a test of `make unit` starts a process ({self._started[0]}): give it or its module the marker"
                " `pytest.mark.process`, or put its fixture into PROCESS_FIXTURES of tests/support/process_guard.py"
            )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Watch the fixtures, the test and its end."""
        self._is_active, self._started = True, []
        try:
            return (yield)
        finally:
            self._is_active = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """Fail the test if a refusal was taken for a usual error."""
        yield
        self._fail_if_started()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None]:
        """Fail the end of the test if a refusal was taken for a usual error."""
        yield
        self._fail_if_started()

    def _fail_if_started(self) -> None:
        if self._started:
            started, self._started = self._started[0], []
            self._is_active = False
            raise ProcessStartedError(
                f"a test of `make unit` starts a process ({started}): see tests/support/process_guard.py"
            )
