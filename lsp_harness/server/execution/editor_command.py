"""The description of one command of `workspace/executeCommand`.

From these descriptions the server announces its commands and lists them for editors, and `make docs` generates the
protocol page and the commands in the manifest of the VS Code extension.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lsprotocol import types


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
    document: "Callable[[types.ExecuteCommandParams], str | None]" = no_document
    """Returns the URI of the document that the command works on. Raises UsageError if the arguments name none."""
    palette: PaletteEntry | None = None
    """None if only code of the editors and of the server executes the command."""

    @property
    def short_name(self) -> str:
        """The name without the prefix, such as `pullModel`."""
        return self.name.partition(".")[2]
