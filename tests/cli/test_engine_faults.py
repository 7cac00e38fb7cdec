"""Commands beside an engine that is stopped or dead: each ends, by itself and with one outcome."""

import multiprocessing
from multiprocessing import forkserver
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.inference.running_engines import peer_pid
from lsp_harness.inference.supervisor import engine_address
from lsp_harness.session.log import SessionLog
from lsp_harness.session.turn_events import InvocationReceived
from tests.cli.conftest import Shell
from tests.cli.engine_faults import CELLS, Cell
from tests.faults.commands import COMMANDS
from tests.support.stuck import gone, listener

NAMES = [
    tuple(command.name.split()[: 2 if command.name.split()[0] in ("index", "model", "engine") else 1])
    for command in COMMANDS
]
"""Commands of the matrix of faults, without what they are asked."""
FILES = {
    "half.py": "def area(r):\n    return r * \n",
    "unknown.py": "def area(r):\n    return zzqx * r\n",
    "unused.py": "import os\n\n\ndef area(r):\n    return r * r\n",
    "out.txt": "half.py:2:12: F821 Undefined name `pi`\n",
    "node_modules/tiny/package.json": '{"name": "tiny", "version": "1.0.0", "types": "index.d.ts"}',
    "node_modules/tiny/index.d.ts": "export declare function area(r: number): number;\n",
}


@pytest.fixture(scope="session")
def forked() -> None:
    """The process that those which read files come from: begun before a test has a home, it is not that test's to end."""
    multiprocessing.set_forkserver_preload(["lsp_harness.index.builder.reader_processes"])
    forkserver.ensure_running()


@pytest.fixture
def project(forked: None, shell: Shell, home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A folder with files, a session, and settings that name the tiny model and little patience."""
    shell.set("LSP_HARNESS_HOME", str(home))
    shell.set("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    shell.set("LSP_HARNESS_ENGINE__SILENCE_S", "0.5")
    shell.set("LSP_HARNESS_ENGINE__THREADS", "1")
    for module in ("inference.engine_inventory", "inference.running_engines"):
        monkeypatch.setattr(f"lsp_harness.{module}.HEALTH_TIMEOUT_S", 0.3)
    monkeypatch.setattr("lsp_harness.harness.engines.LOOK_S", 0.3)
    (shell.folder / "node_modules" / "tiny").mkdir(parents=True)
    for name, text in FILES.items():
        shell.file(name, text)
    (shell.folder / "tiny.gguf").symlink_to(tiny_model)
    log = SessionLog(paths.state_folder() / "sessions")
    log.turn().append(InvocationReceived("edit", "use pi", "half.py"))
    log.close()
    return shell


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_command_beside_such_an_engine(cell: Cell, project: Shell):
    config = load(project.folder)[0]
    place = engine_address(Path(config.model.path), config).socket
    with listener(place, stopped=cell.fault == "SIGSTOP") as process:
        if cell.fault == "SIGKILL":
            process.kill()
            process.wait(30)

        ran = project.run(*cell.command)

        assert ran.code == cell.code, ran
        assert cell.out in ran.out
        assert cell.err in ran.err
        assert (peer_pid(place) not in (None, process.pid)) is (cell.engine in ("replaced", "started"))
        assert gone(process.pid) is (cell.engine != "left alone")


def test_the_table_has_every_command_of_the_matrix_under_both_faults() -> None:
    tried = {(cell.command[: len(name)], cell.fault) for cell in CELLS for name in NAMES}
    missing = [(name, fault) for name in NAMES for fault in ("SIGSTOP", "SIGKILL") if (name, fault) not in tried]
    # a server is tried in the tests of the server
    assert [name for name, _ in missing if name != ("serve",)] == []
