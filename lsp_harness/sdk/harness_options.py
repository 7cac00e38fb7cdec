"""The options of a session: those of `query`, `HarnessClient` and `HarnessOptions` are the same."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypedDict, cast, get_args

from lsp_harness.sdk.hook_functions import HookTable, collect_hooks
from lsp_harness.sdk.sdk_errors import HarnessError

PermissionMode = Literal["ask", "trust", "deny", "acceptEdits", "plan", "auto", "bypassPermissions"]
SettingSource = Literal["user", "project", "local"]
Driver = Literal["chat", "code"]
PermissionAnswer = str | Mapping[str, Any]
PermissionCallback = Callable[[dict[str, Any]], PermissionAnswer | Awaitable[PermissionAnswer]]

CHOICES: dict[str, tuple[str, ...]] = {"permission_mode": get_args(PermissionMode), "driver": get_args(Driver)}
PERMISSION_WAIT_S = 30.0
START_WAIT_S = 60.0
LIMITS = ("max_turns", "max_tokens_total", "max_seconds", "permission_timeout", "start_timeout")


class HarnessKeywords(TypedDict, total=False):
    """The options as keyword arguments; `HarnessOptions` describes them."""

    model: str | None
    provider: str | None
    permission_mode: PermissionMode | None
    allowed_tools: Sequence[str] | None
    disallowed_tools: Sequence[str] | None
    max_turns: int | None
    system_prompt: str | None
    cwd: str | Path | None
    env: Mapping[str, str] | None
    tools: Sequence[Callable[..., Any]] | None
    can_use_tool: PermissionCallback | None
    permission_timeout: float | None
    hooks: HookTable | None
    resume: str | None
    setting_sources: Sequence[SettingSource] | None
    mcp_config: str | Path | None
    strict_mcp_config: bool | None
    json_schema: Mapping[str, Any] | None
    session_persistence: bool | None
    max_tokens_total: int | None
    max_seconds: float | None
    driver: Driver | None
    attach: str | Path | bool | None
    in_process: bool | None
    start_timeout: float | None


@dataclass(frozen=True, slots=True)
class HarnessOptions:
    """The options of a session. None means the default of the program.

    Attributes:
        model: A GGUF file, the name of a model of the catalogue, or `provider/model`.
        provider: The provider of the model.
        permission_mode: What a tool may do if no rule and no hook decides.
        allowed_tools: The only tools that may run. An empty list allows none.
        disallowed_tools: Tools that may not run, also if `allowed_tools` names them. Patterns such as `bash(git *)`.
        max_turns: The most model calls for one prompt.
        system_prompt: The text that replaces the system prompt.
        cwd: The working folder of the session.
        env: Environment variables that are added to those of this process.
        tools: Python functions that the model may call; see `tool`.
        can_use_tool: A function that decides about every tool call that no rule denies, in every permission mode.
        permission_timeout: The seconds that `can_use_tool` has for an answer. Afterwards the call is denied.
        hooks: Functions that hear of events, and may forbid or change what they are about: event → functions; see
            `HookMatcher`.
        resume: The id of the session that is continued.
        setting_sources: The files of settings that apply: "user", "project", "local". None means all, and an empty
            list none.
        mcp_config: A JSON file with further MCP servers.
        strict_mcp_config: Whether the MCP servers of the settings are left out.
        json_schema: The schema of the answer; see `TurnStop.structured_output`.
        session_persistence: Whether the log of the session is kept.
        max_tokens_total: The most tokens of the session, those of prompts and answers together.
        max_seconds: The longest time of a turn.
        driver: "chat" calls tools, and "code" runs the steps of an edit.
        attach: The socket of a running server, or True for that of the server of `cwd`. No process is started then.
        in_process: Whether the session runs in this process.
        start_timeout: The seconds that a session has to begin.
    """

    model: str | None = None
    provider: str | None = None
    permission_mode: PermissionMode | None = "trust"
    allowed_tools: Sequence[str] | None = None
    disallowed_tools: Sequence[str] | None = None
    max_turns: int | None = 20
    system_prompt: str | None = None
    cwd: str | Path | None = None
    env: Mapping[str, str] | None = None
    tools: Sequence[Callable[..., Any]] | None = None
    can_use_tool: PermissionCallback | None = None
    permission_timeout: float | None = PERMISSION_WAIT_S
    hooks: HookTable | None = None
    resume: str | None = None
    setting_sources: Sequence[SettingSource] | None = None
    mcp_config: str | Path | None = None
    strict_mcp_config: bool | None = None
    json_schema: Mapping[str, Any] | None = None
    session_persistence: bool | None = None
    max_tokens_total: int | None = None
    max_seconds: float | None = None
    driver: Driver | None = None
    attach: str | Path | bool | None = None
    in_process: bool | None = None
    start_timeout: float | None = START_WAIT_S

    def __post_init__(self) -> None:
        """Check the values. Raise HarnessError."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise usage_error(f"{name} is {value!r}, and must be one of {', '.join(choices)}")
        for name in LIMITS:
            value = getattr(self, name)
            # True is an int
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise usage_error(f"{name} is {value!r}, and must be a number above 0")
        for name in ("allowed_tools", "disallowed_tools", "setting_sources", "tools"):
            if isinstance(getattr(self, name), str):
                raise usage_error(f"{name} is a text, and must be a list")
        if any(not isinstance(text, str) for pair in (self.env or {}).items() for text in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise usage_error("env has a name or a value that is not a text")
        unknown = set(self.setting_sources or ()) - set(get_args(SettingSource))
        if unknown:
            sources = ", ".join(get_args(SettingSource))
            raise usage_error(f"setting_sources has {', '.join(sorted(unknown))}, and may have {sources}")
        if self.resume is not None and not self.resume.strip():
            # a session of nobody's choice must not begin where one was to be continued
            raise usage_error("resume is empty, and must be the id of a session, or None for a new one")
        collect_hooks(self.hooks or {})
        if self.in_process and self.attach:
            raise usage_error("in_process and attach exclude each other")

    def to_kwargs(self) -> HarnessKeywords:
        """Return the options as keyword arguments of `query` and `HarnessClient`, without those that are None."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return cast("HarnessKeywords", {name: value for name, value in pairs if value is not None})

    def working_folder(self) -> Path:
        """Return the absolute path of the working folder. Raise HarnessError if it is not a folder."""
        try:
            path = Path(os.path.abspath(self.cwd if self.cwd is not None else os.getcwd()))
            exists = path.is_dir()
        except (OSError, ValueError) as error:
            raise usage_error(f"the working folder cannot be used: {error}") from error
        if not exists:
            raise usage_error(f"the working folder {path} does not exist")
        return path


def usage_error(message: str) -> HarnessError:
    """Return the error that an option is wrong."""
    return HarnessError(message, code="usage")
