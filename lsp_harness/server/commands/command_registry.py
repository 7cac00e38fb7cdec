"""The registry of the commands of `workspace/executeCommand`, and the decorator that describes one.

From the descriptions the server announces its commands and lists them for editors, and `make docs` generates the
protocol page and the commands in the manifest of the VS Code extension.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lsp_harness.server import commands

if TYPE_CHECKING:
    from lsprotocol import types

    from lsp_harness.server.editor_client import EditorClient
    from lsp_harness.workspace.snapshot import Snapshot

    CommandFunction = Callable[[EditorClient, Snapshot | None, types.ExecuteCommandParams], Awaitable[Any]]
    DocumentFinder = Callable[[types.ExecuteCommandParams], str | None]

MODULES = ("agents", "edits", "explanations", "fixes", "server_state", "sessions", "suggestions")
"""The modules of this package that have commands."""
DECORATOR = re.compile(r'^@command\(\s*"([\w.]+)"', re.MULTILINE)
"""The decorator of a command in the source of a module, with the name of the command."""


def no_document(params: "types.ExecuteCommandParams") -> None:
    """Return None: the command works on no document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteEntry:
    """How editors offer a command to users.

    VS Code shows `title` in its command palette. Neovim offers the command as `:LspHarness <name>`. For the handlers
    `text` and `edit`, no code in the editors is needed.
    """

    title: str
    """The title in the palette, in title case. It ends in `…` if the editor asks for input first."""
    handler: Literal["text", "edit", "custom"]
    """How the editors execute the command and show its result.

    `text` shows the Markdown in the key `text` of the result. `edit` reports an edit that was not applied; the edit
    itself arrives by `workspace/applyEdit`. `custom` means that each editor has hand-written code for the command,
    because the command needs input or its result a special presentation.
    """
    result_title: str = ""
    """A noun for the result: the title of its page, and the first word of messages about it. `title` if empty."""
    sends_selection: bool = False
    """Whether the argument is `{uri, range}`: the selection, or an empty range at the cursor.

    Otherwise there is none.
    """
    needs_trust: bool = False
    """Whether the command is disabled in a workspace that the user does not trust."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorCommand:
    """The description of a command: what a client sends, what the command does, and what the client gets."""

    name: str
    """The name in the protocol, such as `lspHarness.pullModel`."""
    arguments: str
    """The arguments as JSON, in the notation of docs/lsp-extensions.md."""
    description: str
    """One sentence about the effect of the command, as Markdown."""
    result: str
    """The result, as Markdown: its keys and their meaning."""
    run: "CommandFunction"
    """Executes the command and returns its result as JSON."""
    document: "DocumentFinder" = no_document
    """Returns the URI of the document that the command works on. Raises UsageError if the arguments name none."""
    palette: PaletteEntry | None = None
    """None if only code of the editors and of the server executes the command."""

    @property
    def short_name(self) -> str:
        """The name without the prefix, such as `pullModel`."""
        return self.name.partition(".")[2]


def command(
    name: str,
    *,
    arguments: str,
    description: str,
    result: str,
    document: "DocumentFinder" = no_document,
    palette: PaletteEntry | None = None,
) -> "Callable[[CommandFunction], EditorCommand]":
    """Make a function the command of a name, with a description. See `EditorCommand`."""

    def describe(run: "CommandFunction") -> EditorCommand:
        return EditorCommand(
            name=name,
            arguments=arguments,
            description=description,
            result=result,
            run=run,
            document=document,
            palette=palette,
        )

    return describe


def command_names() -> list[str]:
    """Return the names of all commands, sorted.

    The names are read from the sources and no module is imported, because the answer to `initialize` contains the
    names and must not wait for the import of the LSP types.
    """
    return sorted(_read_names(MODULES))


def find_command(name: str) -> EditorCommand | None:
    """Return a command, or None if there is no command of this name."""
    module = _read_names(MODULES).get(name)
    return next((command for command in _import_commands(module) if command.name == name), None) if module else None


def editor_commands() -> list[EditorCommand]:
    """Return all commands, sorted by name. All modules of commands are imported."""
    found = [command for module in MODULES for command in _import_commands(f"{commands.__name__}.{module}")]
    return sorted(found, key=lambda command: command.name)


@cache
def _read_names(modules: tuple[str, ...]) -> dict[str, str]:
    """Return the name of each command, and the module that has it."""
    names: dict[str, str] = {}
    for module in modules:
        path = f"{commands.__name__}.{module}"
        spec = find_spec(path)
        if spec and spec.origin:
            names |= dict.fromkeys(DECORATOR.findall(Path(spec.origin).read_text(encoding="utf-8")), path)
    return names


def _import_commands(module: str) -> list[EditorCommand]:
    return [value for value in vars(import_module(module)).values() if isinstance(value, EditorCommand)]
