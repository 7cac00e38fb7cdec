"""The type checkers and linters that a project configures, for `doctor`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lsp_harness.verify.project_tools.project_tool_registry import PROJECT_TOOLS
from lsp_harness.verify.types.checker_registry import TYPE_CHECKERS


class ConfiguredTool(NamedTuple):
    """A tool that a project configures.

    Attributes:
        name: Its name.
        configuration: Where the project configures it.
        program: The path of the program, or an empty text if it is missing.
        install_hint: How to install it.
    """

    name: str
    configuration: str
    program: str
    install_hint: str


def list_project_tools(root: Path) -> Iterator[ConfiguredTool]:
    """Yield the tools that a project configures in its folder. Nothing is run."""
    # tools look at the folders of a file, so they are asked about one that could be there
    file = root / "file"
    for checker in TYPE_CHECKERS:
        if configuration := checker.find_configuration(root, file):
            program = checker.find_program(root, file)
            name = program.argv[0] if program else ""
            yield ConfiguredTool(checker.name, configuration, name, checker.install_hint)
    for tool in PROJECT_TOOLS:
        if configuration := tool.find_configuration(root, file):
            yield ConfiguredTool(tool.name, configuration, tool.find_program(root, file) or "", tool.install_hint)
