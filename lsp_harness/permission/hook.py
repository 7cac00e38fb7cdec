"""Hooks: commands, addresses and functions of the user that are told about the events of a session."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

HookVerdict = Literal["allow", "deny", "ask", ""]
HookFunction = Callable[[Mapping[str, Any]], Any | Awaitable[Any]]
"""A function of the payload. It returns None or an object with the keys of `HookAnswer`."""
DEFAULT_HOOK_TIMEOUT_S = 10.0

HOOK_EVENTS: Mapping[str, bool] = {
    "sessionStart": False,
    "sessionEnd": False,
    "preToolUse": True,
    "postToolUse": False,
    "postToolUseFailure": False,
    "userPromptSubmit": True,
    "permissionRequest": True,
    "fileChanged": False,
    "cwdChanged": False,
    "subagentStart": True,
    "subagentStop": False,
    "preCompact": True,
    "postCompact": False,
    "configChange": True,
    "notification": False,
    "turnStart": True,
    "turnStop": False,
}
"""Event → whether its hooks can block. A blocking hook that fails denies; another one that fails is ignored."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook. Exactly one of `command`, `url` and `function` is set.

    Attributes:
        event: The event, one of `HOOK_EVENTS`.
        matcher: A pattern for tools, such as `Bash` or `mcp__*`. Empty is every event, also those without a tool.
        command: A shell command. It reads the payload as JSON.
        url: An address to which the payload is posted as JSON.
        function: A function in this process.
        timeout_s: How long it may take.
    """

    event: str
    matcher: str = ""
    command: str = ""
    url: str = ""
    function: HookFunction | None = None
    timeout_s: float = DEFAULT_HOOK_TIMEOUT_S

    @property
    def name(self) -> str:
        """Return the command, the address or the name of the function."""
        return self.command or self.url or getattr(self.function, "__name__", "function")


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer of one hook. An empty decision is no opinion."""

    decision: HookVerdict = ""
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """The merged answers of the hooks of an event.

    Attributes:
        decision: Deny if any hook denied. Otherwise the first allow or ask; empty if no hook has an opinion.
        reason: The reason of the hook that decided.
        hook: The name of the hook that decided.
        updated_input: The last input that a hook put in place of that of the action.
        context: The contexts of all hooks that ran.
    """

    decision: HookVerdict = ""
    reason: str = ""
    hook: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""

    @property
    def is_denied(self) -> bool:
        """Return whether a hook forbids what the event is about."""
        return self.decision == "deny"


class HookError(Exception):
    """The failure of a hook: it ended with an error, took too long, or gave an answer that is not valid."""
