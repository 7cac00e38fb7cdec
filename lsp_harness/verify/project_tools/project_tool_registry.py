"""The list of all tools that run on the files of a project."""

from pathlib import Path

from lsp_harness.verify.project_tools.cargo_tools import CargoCheck, CargoClippy
from lsp_harness.verify.project_tools.eslint_tool import Eslint
from lsp_harness.verify.project_tools.go_tools import GoBuild, GoVet
from lsp_harness.verify.project_tools.mypy_tool import Mypy
from lsp_harness.verify.project_tools.project_tool import ProjectTool

PROJECT_TOOLS: tuple[ProjectTool, ...] = (Mypy(), GoBuild(), GoVet(), CargoCheck(), CargoClippy(), Eslint())


def find_configured_tool(check: str, root: Path, file: Path) -> ProjectTool | None:
    """Return the tool that a project configures for a check of a file, or None. It need not be installed."""
    return next(
        (
            tool
            for tool in PROJECT_TOOLS
            if tool.check == check and file.suffix in tool.suffixes and tool.find_configuration(root, file)
        ),
        None,
    )
