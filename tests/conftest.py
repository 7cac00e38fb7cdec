"""Options of the whole test run."""

import faulthandler
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from lsp_harness.config.schema import Config, EngineSettings, ModelSettings
from lsp_harness.inference.libraries.library_choice import libraries_folder
from lsp_harness.process import machine_load
from tests.support.process_guard import ProcessGuard, mark_process_tests, select_unit_tests
from tests.support.real_checkers import PROGRAM_VARIABLES
from tests.support.rounds import THOROUGH
from tests.support.run_reports import RunReports
from tests.support.tiny import tiny_gguf
from tests.support.user_home import open_home, reuse_measurements

if TYPE_CHECKING:
    from tests.support.grammar import Acceptor

STUCK_S = 60.0
"""Seconds after the limit of a test in which it must have ended. The limit itself does not end a thread that is waited
for, nor code in C."""

# no test but those of the type gate depends on a type checker, and on how fast it answers
os.environ.update(dict.fromkeys(PROGRAM_VARIABLES, "off"))
# no test depends on what else this machine does: not in this process, and not in the processes that tests start
machine_load.PROC = machine_load.POWER_SUPPLIES = Path("/dev/null")
os.environ["LSP_HARNESS_BACKGROUND__WHEN"] = "always"
# a shim of pyenv that starts the tests names its Python, which would be that of all projects of tests
os.environ.pop("PYENV_VERSION", None)
# tests with another home use the library of llama.cpp that `make setup` has stored
os.environ["LSP_HARNESS_LIBRARIES"] = str(libraries_folder())
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="rewrite what golden case files expect")
    parser.addoption(
        "--thorough", action="store_true", help="all rounds of the tests with random inputs, not one in five"
    )
    parser.addoption("--unit", action="store_true", help="only tests without a process and the model, which is checked")


def pytest_configure(config: pytest.Config) -> None:
    """Set the options of the run, and let the runs of pytest that tests start load no plug-ins, which takes seconds."""
    if config.getoption("thorough"):
        os.environ[THOROUGH] = "1"
    # our workers need the plug-ins
    if not config.getoption("numprocesses", default=None):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_FailuresAtOnce(config))
        config.pluginmanager.register(RunReports(config))
    if config.getoption("unit"):
        config.pluginmanager.register(ProcessGuard())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which tests start processes, and leave them out of `make unit`."""
    mark_process_tests(items)
    if config.getoption("unit"):
        select_unit_tests(config, items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use all cores that this process may use with `-n auto`. Three workers on two cores took as long as two."""
    return max(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class _FailuresAtOnce:
    """Show each failed test when it fails: a run that is ended before its summary says what failed, too."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter and report.failed:
            lines = report.longreprtext.splitlines()
            reporter.ensure_newline()
            reporter.write_line(f"FAILED {report.nodeid} ({report.when}, {report.duration:.0f} s)")
            reporter.write_line("\n".join(lines[-12:]))


@contextmanager
def _end_if_stuck(item: pytest.Item) -> Generator[None]:
    """End this process if a part of a test hangs although its time is up. The report then names the test."""
    marker = item.get_closest_marker("timeout")
    limit_s = float(marker.args[0] if marker and marker.args else item.config.getini("timeout"))
    stream = item.config.stash.get(fault_handler_stderr_fd_key, 2)
    faulthandler.dump_traceback_later(limit_s + STUCK_S, file=stream, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Limit the time of the fixtures of a test."""
    with _end_if_stuck(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Limit the time of a test."""
    with _end_if_stuck(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Limit the time of the end of a test, which may wait for threads that nothing stops."""
    with _end_if_stuck(item):
        return (yield)


@pytest.fixture(scope="session")
def golden_update(request: pytest.FixtureRequest) -> bool:
    """Return whether the run rewrites the expected parts of golden files."""
    return bool(request.config.getoption("--golden-update"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file that llama.cpp loads in milliseconds."""
    return tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def config(tiny_model: Path) -> Config:
    """Settings that start an engine with the tiny model."""
    model = ModelSettings(str(tiny_model), context_length=32768)
    return Config(model=model, engine=EngineSettings(threads=1, idle_seconds=60))


@pytest.fixture(scope="session")
def acceptor(tiny_model: Path) -> "Iterator[Acceptor]":
    """Return an object that tells whether a grammar accepts a text."""
    # imported here, because a library of llama.cpp takes long to load
    from tests.support.grammar import Acceptor

    acceptor = Acceptor(tiny_model)
    yield acceptor
    acceptor.close()


@pytest.fixture(scope="session")
def probed(tiny_model: Path) -> Iterator[Path]:
    """Return the file with the result of the repacking probe for the tiny model. The probe runs once a session."""
    from lsp_harness.engine.decode import repack_probe
    from lsp_harness.inference.libraries.library_choice import find_library

    home = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(home))
        # so that each machine runs it
        patch.setattr(repack_probe, "may_have_amx", lambda: True)
        repack_probe.can_repack(tiny_model, find_library())
    yield home / "cache" / "probe.json"
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which all processes of this run keep what engines measured with the real model."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "measurements"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def home(probed: Path, measurements: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A user's files of our own, short enough for sockets. No process started from here outlives the test."""
    with open_home(probed) as path:
        if request.node.get_closest_marker("model") is None:
            yield path
            return
        with reuse_measurements(measurements, path):
            yield path
