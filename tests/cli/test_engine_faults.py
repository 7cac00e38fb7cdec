"""Commands beside an engine that is stopped or was killed. Each command ends with one outcome."""

import multiprocessing
from multiprocessing import forkserver
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.inference.running_engines import peer_pid
from lsp_harness.inference.supervisor import engine_address
from lsp_harness.kernel.log.session_log import SessionLog
from tests.cli.conftest import Shell
from tests.cli.engine_faults import CELLS, CommandOutcome
from tests.faults.commands import COMMANDS
from tests.support.stuck import has_ended, start_listener

COMMAND_NAMES = [
    tuple(command.name.split()[: 2 if command.name.split()[0] in ("index", "model", "engine") else 1])
    for command in COMMANDS
]
"""The names of the commands in the matrix of faults, without their arguments."""
FILES = {
    "half.py": "def area(r):\n    return r * \n",
    "unknown.py": "def area(r):\n    return zzqx * r\n",
    "unused.py": "import os\n\n\ndef area(r):\n    return r * r\n",
    "out.txt": "half.py:2:12: F821 Undefined name `pi`\n",
    "node_modules/tiny/package.json": '{"name": "tiny", "version": "1.0.0", "types": "index.d.ts"}',
    "node_modules/tiny/index.d.ts": "export declare function area(r: number): number;\n",
}


@pytest.fixture(scope="session")
def fork_server() -> None:
    """Start the fork server of the reader processes before a test has its own home, so that no test ends it."""
    multiprocessing.set_forkserver_preload(["lsp_harness.index.builder.reader_processes"])
    forkserver.ensure_running()


@pytest.fixture
def project(fork_server: None, shell: Shell, home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a folder with files, a session, the tiny model and short time limits."""
    shell.set("LSP_HARNESS_HOME", str(home))
    shell.set("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    shell.set("LSP_HARNESS_ENGINE__SILENCE_S", "0.5")
    shell.set("LSP_HARNESS_ENGINE__THREADS", "1")
    monkeypatch.setattr("lsp_harness.inference.running_engines.HEALTH_TIMEOUT_S", 0.3)
    monkeypatch.setattr("lsp_harness.harness.engines.PROPS_TIMEOUT_S", 0.3)
    (shell.folder / "node_modules" / "tiny").mkdir(parents=True)
    for name, text in FILES.items():
        shell.file(name, text)
    (shell.folder / "tiny.gguf").symlink_to(tiny_model)
    log = SessionLog(paths.sessions_folder())
    log.turn().append(InvocationReceived("edit", "use pi", "half.py"))
    log.close()
    return shell


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_command_beside_a_stopped_or_killed_engine_has_the_expected_outcome(cell: CommandOutcome, project: Shell):
    config = load(project.folder)[0]
    place = engine_address(Path(config.model.path), config).socket
    with start_listener(place, stopped=cell.fault == "SIGSTOP") as process:
        if cell.fault == "SIGKILL":
            process.kill()
            process.wait(30)

        result = project.run(*cell.command)

        assert result.code == cell.code, result
        assert cell.out in result.out
        assert cell.err in result.err
        assert (peer_pid(place) not in (None, process.pid)) is (cell.engine in ("replaced", "started"))
        assert has_ended(process.pid) is (cell.engine != "left alone")


def test_the_table_has_every_command_of_the_matrix_under_both_faults() -> None:
    tried = {(cell.command[: len(name)], cell.fault) for cell in CELLS for name in COMMAND_NAMES}
    missing = [
        (name, fault) for name in COMMAND_NAMES for fault in ("SIGSTOP", "SIGKILL") if (name, fault) not in tried
    ]
    # a server is tried in the tests of the server
    assert [name for name, _ in missing if name != ("serve",)] == []
