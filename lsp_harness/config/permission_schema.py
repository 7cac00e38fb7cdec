"""The tables of the settings about sessions, permissions and hooks, with their defaults."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RuleSetting:
    """A rule of `[[permissions.rules]]`, with examples that are checked when the settings are read."""

    decision: str = ""
    """`allow`, `ask` or `deny`."""
    tool: str = ""
    """The name of the tool, such as `Bash`, or a pattern, such as `mcp__server__*`."""
    pattern: str = ""
    """The commands or files that the rule is about, such as `git push *` or `src/*`. Empty is every use of the tool."""
    match: tuple[str, ...] = ()
    """Commands or files that the rule must match. Otherwise the rule is not valid."""
    not_match: tuple[str, ...] = ()
    """Commands or files that the rule must not match."""
    justification: str = ""
    """The reason for the rule. The model and the user read it."""
    file: Path | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class HookSetting:
    """A hook. It has either a `command` or a `url`."""

    matcher: str = ""
    """Tools that the hook is about, such as `Bash` or `mcp__*|Edit`. Empty is all."""
    command: str = ""
    """A shell command. It reads the facts about the event as JSON. Status 2 denies, and it may print a JSON object with
    `decision`, `reason`, `updated_input` and `context`.
    """
    url: str = ""
    """An address to which the facts are posted as JSON. Its answer is such an object."""
    timeout_s: float = 10.0
    """How many seconds the hook may take. After that it has failed."""
    file: Path | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Sessions:
    """Conversations in the editor. See [protocol](lsp-extensions.md#conversations)."""

    listen: bool = True
    """Serve sessions on a Unix socket that only you can open, so that your programs can use the model of the server."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """The actions that a conversation may do without a question. See [Permissions](permissions.md). The lists
    of all files count together. A project that you do not trust can only forbid more.
    """

    mode: str = ""
    """The permission mode: `ask`, `trust`, `deny`, `acceptEdits`, `plan`, `auto` or `bypassPermissions`. Empty is `ask`
    in an editor, `trust` for a program without a person, and `plan` for a command without a terminal.
    """
    allow: tuple[str, ...] = ()
    """Rules that allow, such as `Bash(git status *)`, `Edit(src/*)` or `mcp__server__*`."""
    ask: tuple[str, ...] = ()
    """Rules that ask. They win against rules that allow."""
    deny: tuple[str, ...] = ()
    """Rules that deny. They win against all others."""
    rules: tuple[RuleSetting, ...] = ()
    """Rules with examples."""
    callback_timeout_s: float = 30.0
    """How many seconds the permission callback of a program may take. After that the action is denied."""
    trusted_folders: tuple[str, ...] = ()
    """Folders of projects whose allow rules, mode, hooks, MCP servers and skills count, and whose own type checkers
    commands may start. Only for your own settings.
    """


@dataclass(frozen=True, slots=True)
class HookSettings:
    """Commands and addresses that are told about the events of a conversation, and that can deny. See
    [Permissions](permissions.md#hooks).
    """

    sessionStart: tuple[HookSetting, ...] = ()
    """When a session begins."""
    sessionEnd: tuple[HookSetting, ...] = ()
    """When a session ends."""
    preToolUse: tuple[HookSetting, ...] = ()
    """Before an action. Can deny, allow, ask, and change the input."""
    postToolUse: tuple[HookSetting, ...] = ()
    """After a tool call that succeeded."""
    postToolUseFailure: tuple[HookSetting, ...] = ()
    """After a tool call that failed."""
    userPromptSubmit: tuple[HookSetting, ...] = ()
    """Before a message of the user begins a turn. Can deny it and add context."""
    permissionRequest: tuple[HookSetting, ...] = ()
    """Before a person is asked. Can deny and allow."""
    fileChanged: tuple[HookSetting, ...] = ()
    """After a file was changed."""
    cwdChanged: tuple[HookSetting, ...] = ()
    """After the working folder was changed."""
    subagentStart: tuple[HookSetting, ...] = ()
    """Before a subagent begins. Can deny."""
    subagentStop: tuple[HookSetting, ...] = ()
    """After a subagent ended."""
    preCompact: tuple[HookSetting, ...] = ()
    """Before a conversation is shortened. Can deny."""
    postCompact: tuple[HookSetting, ...] = ()
    """After a conversation was shortened."""
    configChange: tuple[HookSetting, ...] = ()
    """Before changed settings count. Can deny."""
    notification: tuple[HookSetting, ...] = ()
    """When the user is told something."""
    turnStart: tuple[HookSetting, ...] = ()
    """Before a turn begins. Can deny and add context."""
    turnStop: tuple[HookSetting, ...] = ()
    """After a turn ended."""
