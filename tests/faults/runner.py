"""`python -m tests.faults.runner FOLDER`: runs the chosen commands under each fault whose name comes in as a line; a
line of JSON comes out for it, with how each command ended. One process for all of them, as to import everything takes
longest."""

import gc
import json
import multiprocessing
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.faults.commands import Command
from tests.faults.fault import Fault
from tests.faults.forked import CommandEnd, CommandSurroundings, run
from tests.faults.table import FAULTS, choose_commands
from tests.faults.world import UserFolders


class Runner:
    """A runner of commands below `folder`, whose path is short enough for sockets."""

    def __init__(self, folder: Path) -> None:
        self._world, self._template = UserFolders(folder / "w"), folder / "t"
        self._world.base.mkdir(mode=0o700)
        self._world.make()
        for name in ("fix unused.py", "index rebuild"):
            made = self._run(Command(name, ""), FAULTS[0])
            assert made.code == 0, made
        self._world.fill()
        shutil.copytree(self._world.base, self._template, symlinks=True)

    def outcomes(self, fault: Fault) -> dict[str, Any]:
        """Return how each chosen command ended, by its name."""
        outcomes: dict[str, Any] = {}
        for command in choose_commands(fault):
            self._world.restore(self._template)
            outcomes[command.name] = asdict(self._run(command, fault))
        return outcomes

    def _run(self, command: Command, fault: Fault) -> CommandEnd:
        world = self._world
        environment = world.environment()
        if command.script:
            environment["LSP_HARNESS_ENGINE__SCRIPT"] = str(world.project / command.script)

        def run_command() -> None:
            fault.damage(world)
            command.prepare(world)()

        # what a server says on its standard output is for an editor
        stdout = fault.stdout if command.name != "serve" else ""
        return run(
            run_command,
            CommandSurroundings(world.project, environment, fault.encoding, stdout, world.project / "unused.py"),
        )


def _import_all() -> None:
    """Import once the modules that each command would import when it needs them."""
    from lsp_harness.cli.command_table import GROUPS
    from lsp_harness.index.builder import reader_processes

    # processes that read files come from a fork as well: there are no threads here that could mind
    reader_processes.START_METHOD = "fork"
    multiprocessing.set_start_method("fork", force=True)
    for name in (
        *sorted({command.target.partition(":")[0] for commands in GROUPS.values() for command in commands}),
        *(
            "lsp_harness.server.main",
            "lsp_harness.server.features.feature_table",
            "lsp_harness.server.features.feature_binding",
            "pathspec",
            "rich.progress",
            "rich.live",
        ),
        *("lsp_harness.completion.completer", "lsp_harness.coding.fix", "rich.table", "httpx2", "watchfiles"),
        *(
            "lsp_harness.inference.scripted_engine",
            "lsp_harness.harness.verdicts.accepted_edits",
            "lsp_harness.harness.indexes.folder_indexes",
        ),
    ):
        __import__(name)

    _parse_something()


def _parse_something() -> None:
    """Parse a text, because the patterns of a language are made at its first parse."""
    from lsp_harness.syntax.symbols.declarations import find_declarations
    from lsp_harness.syntax.tree import parse
    from lsp_harness.text.document import Document

    tree = parse(Document.from_text("file:///a.py", b"import a\ndef f(): pass\n"))
    assert tree
    find_declarations(tree.language, tree.data, tree.root)


if __name__ == "__main__":
    os.chdir("/")
    _import_all()
    # the processes of the commands need not look through the objects of the modules
    gc.freeze()
    runner = Runner(Path(sys.argv[1]))
    for line in sys.stdin:
        [chosen] = [fault for fault in FAULTS if fault.name == line.strip()]
        sys.stdout.write(json.dumps(runner.outcomes(chosen)) + "\n")
        sys.stdout.flush()
