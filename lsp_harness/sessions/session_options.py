"""The options of a session: those that a client chooses, and those that the surface which opens the session knows."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from lsp_harness.errors import UsageError
from lsp_harness.permission.client_hooks import ClientHook, read_client_hooks
from lsp_harness.wire.permission_mode import PERMISSION_MODES
from lsp_harness.wire.session_options import ClientOptions, Driver, OptionKind, SettingSource, list_options, option

DRIVERS: tuple[Driver, ...] = get_args(Driver)
"""Drivers of prompts: a conversation with tools, or one checked edit for each prompt."""
NUMBER_KINDS = frozenset({"count", "seconds"})


@dataclass(frozen=True, kw_only=True)
class SessionOptions(ClientOptions):
    """The options of a session. No value is None but those that mean something: no list of tools or of sources at all.

    Attributes:
        default_mode: The permission mode if neither an option nor the settings name one. Empty means "ask" with a
            person and "trust" without one.
        ask_permissions: Whether every permission is asked from the client.
        has_person: Whether the client can show questions to a person.
        parent: The session whose subagent this one is.
        source: The surface, for the log.
        context_tokens: The window of the model to use; 0 means all of it.
        client_hooks: The functions of the client that are asked as hooks.
    """

    default_mode: str = option("text", "The permission mode if nothing names one.", default="", is_flag=False)
    ask_permissions: bool = option(
        "flag", "Ask the client about every action. For programs, with `session`.", default=False
    )
    has_person: bool = option("flag", "Whether a person can be asked.", default=False, is_flag=False)
    parent: str = option("text", "The session whose subagent this one is.", default="", is_flag=False)
    source: str = option("text", "The surface, for the log.", default="cli", is_flag=False)
    context_tokens: int = option("count", "The window of the model to use; 0 is all of it.", default=0, is_flag=False)
    client_hooks: tuple[ClientHook, ...] = option(
        "hooks", "The functions of the client that are hooks, as JSON. For programs, with `session`.", default=()
    )

    def __post_init__(self) -> None:
        """Replace each None by the value that it stands for, and check the values.

        Raises:
            UsageError: A value is not valid.
        """
        for item in list_options(self):
            if getattr(self, item.name) is None:
                object.__setattr__(self, item.name, item.form.absent)
        _check_word("permission_mode", self.permission_mode or "", ("", *PERMISSION_MODES))
        _check_word("default_mode", self.default_mode, ("", *PERMISSION_MODES))
        _check_word("driver", self.driver or "", ("", *DRIVERS))
        if self.driver == "code" and (self.json_schema is not None or self.system_prompt is not None):
            raise UsageError(
                "system_prompt and json_schema are options of the driver chat; leave them out, or use that driver"
            )
        for source in self.setting_sources or ():
            _check_word("setting_sources", source, get_args(SettingSource))
        self._check_numbers()
        if not self.root.is_dir():
            raise UsageError(f"{self.root} is not a folder; name an existing one with --cwd")

    def _check_numbers(self) -> None:
        limits = {item.name: getattr(self, item.name) for item in list_options(self) if item.form.kind in NUMBER_KINDS}
        if limits.pop("max_turns") < 1:
            raise UsageError(f"max_turns must be at least 1, not {self.max_turns}")
        if not all(map(math.isfinite, limits.values())):
            times = [item.name for item in list_options(self) if item.form.kind == "seconds"]
            raise UsageError(f"{_join_names(times)} must be finite numbers; 0 means no limit")
        if limits.pop("permission_timeout") < 0:
            raise UsageError("permission_timeout must not be negative; 0 means that of the settings")
        if any(value < 0 for value in limits.values()):
            raise UsageError(f"{_join_names(list(limits))} must not be negative; 0 means no limit")

    @property
    def driver_name(self) -> str:
        """The name of the driver."""
        return self.driver or DRIVERS[0]

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
        forms: dict[str, OptionKind] = {item.name: item.form.kind for item in list_options(cls)}
        if unknown := sorted(values.keys() - forms.keys()):
            raise UsageError(f"there is no option {unknown[0]!r}; the options are {', '.join(forms)}")
        return cls(**{name: _convert(name, forms[name], value) for name, value in values.items() if value is not None})


def _convert(name: str, kind: OptionKind, value: Any) -> Any:
    """Return a value from JSON as the value of an option. Raise UsageError if it has another form."""
    match kind:
        case "hooks":
            return read_client_hooks(value)
        case "names":
            items = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
            if all(isinstance(item, str) for item in items):
                return tuple(items)
        case "count" if type(value) is int:
            return value
        case "seconds" if type(value) in (int, float):
            return float(value)
        case "flag" if isinstance(value, bool):
            return value
        case "variables" | "schema" if isinstance(value, Mapping):
            return cast("Mapping[str, Any]", value)
        case "text" | "path" if isinstance(value, str):
            return value
        case _:
            pass
    raise UsageError(f"the option {name} cannot be {json.dumps(value, default=str)[:80]}")


def _check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise UsageError(f"{name} must be one of {', '.join(filter(None, words))}, not {word!r}")


def _join_names(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
