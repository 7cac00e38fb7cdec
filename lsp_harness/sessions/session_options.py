"""The options of a session, as the command line, the SDK and other programs give them."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from lsp_harness.config.load import SETTING_SOURCES
from lsp_harness.errors import UsageError
from lsp_harness.kernel.limits import DEFAULT_MAX_STEPS
from lsp_harness.permission.client_hooks import ClientHook, read_client_hooks
from lsp_harness.permission.mode_table import MODES

DRIVERS = ("chat", "code")
"""Drivers of prompts: a conversation with tools, or one checked edit for each prompt."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """The options of a session. The defaults are those of a program without a person.

    Attributes:
        model: A GGUF file, a name of the catalogue, or `provider/model`. Empty means that of the settings.
        provider: A provider, such as "openai", an address, or `scripted:FILE` for tests.
        fallback_model: The model to use if the first one cannot be reached.
        permission_mode: The permission mode. Empty means that of the settings, else `default_mode`.
        default_mode: The permission mode if neither an option nor the settings name one. Empty means "ask" with a
            person and "trust" without one.
        allowed_tools: The tools that may be called. None means all, and an empty tuple means none.
        disallowed_tools: The tools that may not be called.
        max_turns: Model calls of one turn.
        max_tokens_total: Tokens of the whole session; 0 means no limit.
        max_seconds: Seconds of one turn; 0 means no limit.
        system_prompt: The text that replaces the system prompt.
        cwd: The working folder.
        env: Variables that commands get in addition.
        resume: The session to continue, or the beginning of its id.
        setting_sources: The files of settings to read: some of "user", "project" and "local". None means all.
        mcp_config: A JSON file with MCP servers.
        strict_mcp_config: Use only the servers of that file.
        json_schema: The JSON schema of the answers.
        session_persistence: Whether the log is written to disk.
        ask_permissions: Whether every permission is asked from the client.
        driver: "chat" for a conversation with tools, "code" to make each prompt one checked edit.
        has_person: Whether the client can show questions to a person.
        parent: The session whose subagent this one is.
        bare: Use no settings, hooks, skills and servers of the project.
        source: The surface, for the log.
        context_tokens: The window of the model to use; 0 means all of it.
        client_hooks: The functions of the client that are asked as hooks.
        permission_timeout: Seconds in which the client must answer a question of `ask_permissions`; 0 means the
            setting `permissions.callback_timeout_s`.
    """

    model: str = ""
    provider: str = ""
    fallback_model: str = ""
    permission_mode: str = ""
    default_mode: str = ""
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    max_turns: int = DEFAULT_MAX_STEPS
    max_tokens_total: int = 0
    max_seconds: float = 0.0
    system_prompt: str | None = None
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    resume: str = ""
    setting_sources: tuple[str, ...] | None = None
    mcp_config: str = ""
    strict_mcp_config: bool = False
    json_schema: Mapping[str, Any] | None = None
    session_persistence: bool = True
    ask_permissions: bool = False
    driver: str = "chat"
    has_person: bool = False
    parent: str = ""
    bare: bool = False
    source: str = "cli"
    context_tokens: int = 0
    permission_timeout: float = 0.0
    client_hooks: tuple[ClientHook, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UsageError: A value is not valid.
        """
        _check_word("permission_mode", self.permission_mode, ("", *MODES))
        _check_word("default_mode", self.default_mode, ("", *MODES))
        _check_word("driver", self.driver, DRIVERS)
        if self.driver == "code" and (self.json_schema is not None or self.system_prompt is not None):
            raise UsageError("system_prompt and json_schema are options of the driver chat; leave them out, or use it")
        for source in self.setting_sources or ():
            _check_word("setting_sources", source, SETTING_SOURCES)
        if self.max_turns < 1:
            raise UsageError(f"max_turns must be at least 1, not {self.max_turns}")
        if self.max_tokens_total < 0 or self.max_seconds < 0 or self.context_tokens < 0:
            raise UsageError("max_tokens_total, max_seconds and context_tokens must not be negative; 0 means no limit")
        if not (math.isfinite(self.max_seconds) and math.isfinite(self.permission_timeout)):
            raise UsageError("max_seconds and permission_timeout must be finite numbers; 0 means no limit")
        if self.permission_timeout < 0:
            raise UsageError("permission_timeout must not be negative; 0 means that of the settings")
        if not self.root.is_dir():
            raise UsageError(f"{self.root} is not a folder; name an existing one with --cwd")

    @property
    def root(self) -> Path:
        """The working folder as an absolute path."""
        return Path(self.cwd or ".").absolute()

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "SessionOptions":
        """Return the options of a JSON object.

        Raises:
            UsageError: A name or a value is not valid.
        """
        known = {item.name: item.default for item in fields(cls)}
        if unknown := sorted(values.keys() - known.keys()):
            raise UsageError(f"there is no option {unknown[0]!r}; the options are {', '.join(known)}")
        return cls(**{name: _convert(name, value) for name, value in values.items() if value is not None})


TUPLES = frozenset({"allowed_tools", "disallowed_tools", "setting_sources"})
INTEGERS = frozenset({"max_turns", "max_tokens_total", "context_tokens"})
FLAGS = frozenset({"strict_mcp_config", "session_persistence", "ask_permissions", "has_person", "bare"})


def _convert(name: str, value: Any) -> Any:
    if name == "client_hooks":
        return read_client_hooks(value)
    if name in TUPLES:
        items = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
        if all(isinstance(item, str) for item in items):
            return tuple(items)
    elif name in INTEGERS:
        if type(value) is int:
            return value
    elif name in ("max_seconds", "permission_timeout"):
        if type(value) in (int, float):
            return float(value)
    elif name in FLAGS:
        if isinstance(value, bool):
            return value
    elif name in ("env", "json_schema"):
        if isinstance(value, Mapping):
            return cast("Mapping[str, Any]", value)
    elif isinstance(value, str):
        return value
    raise UsageError(f"the option {name} cannot be {json.dumps(value, default=str)[:80]}")


def _check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise UsageError(f"{name} must be one of {', '.join(filter(None, words))}, not {word!r}")
