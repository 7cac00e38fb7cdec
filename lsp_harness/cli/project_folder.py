"""The argument FOLDER of commands, and the project that it names."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import TerminalNotices
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.project.command_project import CommandProject, open_project

Folder = Annotated[Path, Parameter(help="The folder of the project. The default is the current folder.")]


def load_project_at(folder: Path) -> CommandProject:
    """Return the project of a folder, and warn of mistakes in its settings. Raise UsageError if there is no folder."""
    return open_project(folder, read_settings, TerminalNotices())
