"""The list of all tools. Whatever offers or shows tools reads this list."""

from collections.abc import Callable, Iterable

from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tools.command_tools import BashTool, CancelTaskTool, ReadTaskTool, WaitTaskTool
from lsp_harness.chat.tools.edit_tools import CreateTool, EditTool
from lsp_harness.chat.tools.file_search_tools import GlobTool, GrepTool
from lsp_harness.chat.tools.read_tool import ReadArtifactTool, ReadTool
from lsp_harness.chat.tools.symbol_edit_tools import InsertAfterSymbolTool, InsertBeforeSymbolTool, ReplaceSymbolTool
from lsp_harness.chat.tools.symbol_tools import FindReferencesTool, FindSymbolTool, SymbolOverviewTool
from lsp_harness.chat.tools.tool_environment import CommandTasks, ToolEnvironment
from lsp_harness.errors import UsageError

FILE_TOOLS: tuple[Callable[[ToolEnvironment], Tool], ...] = (
    ReadTool,
    EditTool,
    CreateTool,
    GlobTool,
    GrepTool,
    FindSymbolTool,
    SymbolOverviewTool,
    FindReferencesTool,
    ReplaceSymbolTool,
    InsertBeforeSymbolTool,
    InsertAfterSymbolTool,
)
TASK_TOOLS: tuple[Callable[[CommandTasks], Tool], ...] = (BashTool, ReadTaskTool, WaitTaskTool, CancelTaskTool)


def create_tools(environment: ToolEnvironment, names: Iterable[str] | None = None) -> dict[str, Tool]:
    """Return the tools by their names, in the order of the list.

    Args:
        environment: The surroundings. Without tasks there are no tools for commands, without artifacts none for these.
        names: The names of the wanted tools. None means all that the environment allows.

    Raises:
        UsageError: There is no tool with one of the names, or the environment does not allow it.
    """
    tools: list[Tool] = [create(environment) for create in FILE_TOOLS]
    if environment.tasks:
        tools += [create_task_tool(environment.tasks) for create_task_tool in TASK_TOOLS]
    if environment.artifacts:
        tools.append(ReadArtifactTool(environment.artifacts))
    by_name = {tool.name: tool for tool in tools}
    if names is None:
        return by_name
    wanted = list(names)
    if unknown := [name for name in wanted if name not in by_name]:
        raise UsageError(f"there is no tool {unknown[0]!r}; the tools are {', '.join(by_name)}")
    return {name: tool for name, tool in by_name.items() if name in wanted}
