"""The settings of a folder, for commands. Mistakes are reported on standard error, and the other settings apply."""

from pathlib import Path

from lsp_harness.cli.console import warn
from lsp_harness.config.load import Problem, load
from lsp_harness.config.schema import Config

_reported: set[Problem] = set()


def read_settings(folder: Path | None = None) -> Config:
    """Return the settings of a folder. Each mistake is reported once in a process."""
    config, problems = load(folder)
    if config.actions.custom:
        # imported late, because it imports the checks
        from lsp_harness.coding.project_actions import read_actions

        problems = [*problems, *read_actions(config)[1]]
    for problem in problems:
        if problem not in _reported:
            _reported.add(problem)
            warn(problem.sentence)
    return config
