"""The registry of the commands. It finds the modules of this package by their names."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from lsp_harness.server import commands
from lsp_harness.server.execution.editor_command import EditorCommand

if TYPE_CHECKING:
    from lsprotocol import types

    from lsp_harness.server.editor_client import EditorClient
    from lsp_harness.workspace.snapshot import Snapshot

PREFIX = "lspHarness."
SUFFIX = "_command"
EDITS = "edits"
"""The package of more commands about edits."""
GROUPED = ("agents", "sessions")
"""The packages of commands about agents and about sessions. Their names have two parts after the prefix."""


class CommandModule(Protocol):
    """A module of a command."""

    COMMAND: EditorCommand

    async def run(
        self, client: "EditorClient", snapshot: "Snapshot | None", params: "types.ExecuteCommandParams"
    ) -> Any:
        """Execute the command and return its result as JSON."""
        ...


def command_names() -> list[str]:
    """Return the names of all commands, sorted.

    No module of a command is imported, because the answer to `initialize` contains the names and must not wait for the
    import of the LSP types.
    """
    return sorted(_module_names())


def find_command(name: str) -> CommandModule | None:
    """Return the module of a command, or None if there is no command of this name."""
    module = _module_names().get(name)
    return cast("CommandModule", importlib.import_module(f"{commands.__name__}.{module}")) if module else None


def editor_commands() -> list[EditorCommand]:
    """Return the descriptions of all commands, sorted by name. All modules of commands are imported."""
    return [module.COMMAND for name in command_names() if (module := find_command(name))]


def _module_names() -> dict[str, str]:
    """Return the name of each command and the name of its module in the package."""
    names = {_command_name(module): module for module in _modules(list(commands.__path__))}
    names |= {_command_name(module): f"{EDITS}.{module}" for module in _modules(_folders(EDITS))}
    for package in GROUPED:
        names |= {_grouped_name(module): f"{package}.{module}" for module in _modules(_folders(package))}
    return names


def _folders(package: str) -> list[str]:
    return [str(Path(path) / package) for path in commands.__path__]


def _modules(folders: list[str]) -> Iterator[str]:
    return (module.name for module in pkgutil.iter_modules(folders) if module.name.endswith(SUFFIX))


def _grouped_name(module: str) -> str:
    """Convert the name of a module of a group: `agent_follow_up_command` to `lspHarness.agent.followUp`."""
    group, _, rest = module.partition("_")
    return f"{PREFIX}{group}.{_command_name(rest).removeprefix(PREFIX)}"


def _command_name(module: str) -> str:
    """Convert the name of a module to the name of its command: `pull_model_command` to `lspHarness.pullModel`."""
    first, *rest = module.removesuffix(SUFFIX).split("_")
    return PREFIX + first + "".join(word.capitalize() for word in rest)
