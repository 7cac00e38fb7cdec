"""The type checkers, linters and formatters that a project configures, for `doctor`."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from lsp_harness.knowledge.project_python import find_environment
from lsp_harness.verify.project_tools.formatters import FORMATTERS
from lsp_harness.verify.project_tools.tools import PROJECT_TOOLS
from lsp_harness.verify.types.checkers import TYPE_CHECKERS

MAX_LISTED_FOLDERS = 500
"""Number of folders that are looked at below the workspace folder."""
SKIPPED = {"node_modules", "venv", "env", "target", "vendor", "site-packages"}
"""Names of folders with the projects of others."""


class ConfiguredTool(NamedTuple):
    """A tool that a project configures.

    Attributes:
        name: The name of the tool.
        configuration: Where the project configures it.
        program: The path of the program, or an empty text if it is missing.
        install_hint: How to install it.
    """

    name: str
    configuration: str
    program: str
    install_hint: str


def list_project_tools(root: Path, python: str = "") -> Iterator[ConfiguredTool]:
    """Yield the tools that a project configures in its folder, and in folders at most two levels below. Nothing is run.

    Args:
        root: The workspace folder.
        python: The Python environment of the settings, or an empty text.
    """
    below = chain(root.glob("[!.]*/"), root.glob("[!.]*/[!.]*/"))
    folders = [path for path in islice(below, MAX_LISTED_FOLDERS) if path.is_dir() and not SKIPPED & {*path.parts}]
    for folder in (root, *sorted(folders)):
        place = "" if folder == root else f"{folder.relative_to(root).as_posix()}: "
        # tools look at the folders of a file, so they are asked about one that could be there
        file = folder / "file"
        for checker in TYPE_CHECKERS:
            if configuration := checker.configures(folder):
                program = checker.find_program(root, file, checker.find_environment(root, file, python))
                name = program.argv[0] if program else ""
                yield ConfiguredTool(checker.name, f"{place}{configuration}", name, checker.install_hint)
        for tool in (*PROJECT_TOOLS, *FORMATTERS):
            if configuration := tool.configures(folder):
                found = tool.find_program(root, file, find_environment(root, file, python))
                yield ConfiguredTool(tool.name, f"{place}{configuration}", found or "", tool.install_hint)
