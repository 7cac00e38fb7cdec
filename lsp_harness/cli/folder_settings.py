"""The settings of a folder, for commands: what is wrong in them is said on standard error, and the rest counts."""

from pathlib import Path

from lsp_harness.cli.console import warn
from lsp_harness.config.load import Problem, load
from lsp_harness.config.schema import Config

_told: set[Problem] = set()


def settings(folder: Path | None = None) -> Config:
    """Read the settings; each problem is said once in a process."""
    # what is composed for a server imports this too, and needs nothing that reads a command line

    config, problems = load(folder)
    for problem in problems:
        if problem not in _told:
            _told.add(problem)
            warn(f"{problem.file.name if problem.file else 'settings'}: {problem.message}")
    return config
