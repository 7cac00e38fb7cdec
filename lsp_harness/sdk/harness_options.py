"""The options of a session: those of `query`, `HarnessClient` and `HarnessOptions` are the same."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast, get_args

from lsp_harness.sdk.hook_functions import HookTable, collect_hooks
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode
from lsp_harness.wire.session_options import ClientKeywords, ClientOptions, Driver, SettingSource, list_options

PermissionAnswer = str | Mapping[str, Any]
PermissionCallback = Callable[[dict[str, Any]], PermissionAnswer | Awaitable[PermissionAnswer]]

CHOICES: dict[str, tuple[str, ...]] = {"permission_mode": PERMISSION_MODES, "driver": get_args(Driver)}
PERMISSION_WAIT_S = 30.0
START_WAIT_S = 60.0


class HarnessKeywords(ClientKeywords, total=False):
    """The options as keyword arguments; `HarnessOptions` describes them."""

    tools: Sequence[Callable[..., Any]] | None
    can_use_tool: PermissionCallback | None
    ask_permissions: bool | None
    hooks: HookTable | None
    attach: str | Path | bool | None
    in_process: bool | None
    start_timeout: float | None


@dataclass(frozen=True, kw_only=True)
class HarnessOptions(ClientOptions):
    """The options of a session, and of the connection to it. None means the default of the program.

    Attributes:
        permission_mode: What a tool may do if no rule and no hook decides.
        permission_timeout: The seconds for an answer about a tool call. Afterwards the call is denied.
        tools: Python functions that the model may call; see `tool`.
        can_use_tool: A function that decides about every tool call that no rule denies, in every permission mode.
        ask_permissions: Whether every tool call that no rule denies is a `PermissionRequest` among the events, which
            the program answers with `answer_permission`. With `can_use_tool`, that function answers.
        hooks: Functions that hear of events, and may forbid or change what they are about: event → functions; see
            `HookMatcher`.
        attach: The socket of a running server, or True for that of the server of `cwd`. No process is started then.
        in_process: Whether the session runs in this process.
        start_timeout: The seconds that a session has to begin.
    """

    permission_mode: PermissionMode | None = "trust"
    permission_timeout: float | None = PERMISSION_WAIT_S
    tools: Sequence[Callable[..., Any]] | None = None
    can_use_tool: PermissionCallback | None = None
    ask_permissions: bool | None = None
    hooks: HookTable | None = None
    attach: str | Path | bool | None = None
    in_process: bool | None = None
    start_timeout: float | None = START_WAIT_S

    def __post_init__(self) -> None:
        """Check the values. Raise HarnessError."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise usage_error(f"{name} is {value!r}, and must be one of {', '.join(choices)}")
        forms = {item.name: item.form.kind for item in list_options(ClientOptions)}
        limits = [name for name, kind in forms.items() if kind in ("count", "seconds")]
        for name in (*limits, "start_timeout"):
            value = getattr(self, name)
            # True is an int
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise usage_error(f"{name} is {value!r}, and must be a number above 0")
        for name in (*(name for name, kind in forms.items() if kind == "names"), "tools"):
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
