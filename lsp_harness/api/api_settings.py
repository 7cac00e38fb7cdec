"""The settings of the HTTP server: flags win over the environment, and the environment over the defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from lsp_harness.errors import UsageError

LogLevel = Literal["debug", "info", "warning", "error"]
LOG_LEVELS: tuple[str, ...] = get_args(LogLevel)
DEFAULT_PORT = 3100
MAX_PORT = 65_535
OTHER_LEVELS = {"trace": "debug", "warn": "warning", "fatal": "error", "silent": "error", "critical": "error"}
"""Names of levels in other programs → ours."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """The settings of the HTTP server.

    Attributes:
        port: The port on this machine. 0 takes any free port.
        log_level: The least important lines of the log.
        max_agents: Agents that may run at once. None is the setting of the runtime.
        default_timeout_s: Time for a message without one of its own. None is the setting of the runtime.
    """

    port: int = DEFAULT_PORT
    log_level: LogLevel = "info"
    max_agents: int | None = None
    default_timeout_s: float | None = None


def read_api_settings(
    *,
    port: int | None = None,
    log_level: str = "",
    max_agents: int | None = None,
    default_timeout_ms: int | None = None,
    env: Mapping[str, str] | None = None,
) -> ApiSettings:
    """Return the settings of flags and of the environment (`PORT`, `LOG_LEVEL`, `MAX_AGENTS`, `DEFAULT_TIMEOUT`).

    Each variable can also begin with `LSP_HARNESS_`, and this form wins.

    Args:
        port: The flag of the port.
        log_level: The flag of the level.
        max_agents: The flag of the number of agents.
        default_timeout_ms: The flag of the time for a message.
        env: The environment, by default that of this process.

    Raises:
        UsageError: A value is not valid.
    """
    variables = os.environ if env is None else env
    timeout = _read_number(variables, "DEFAULT_TIMEOUT", default_timeout_ms, 1, 86_400_000)
    level = (log_level or _read_variable(variables, "LOG_LEVEL")[1] or "info").lower()
    level = OTHER_LEVELS.get(level, level)
    if level not in LOG_LEVELS:
        raise UsageError(f"LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}, not {level[:40]!r}")
    found = _read_number(variables, "PORT", port, 0, MAX_PORT)
    return ApiSettings(
        DEFAULT_PORT if found is None else found,
        cast("LogLevel", level),
        _read_number(variables, "MAX_AGENTS", max_agents, 1, 1_000),
        None if timeout is None else timeout / 1000,
    )


def _read_variable(variables: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the name and the value of a variable in the form that counts."""
    own = f"LSP_HARNESS_{name}"
    return (own, variables[own]) if variables.get(own) else (name, variables.get(name, ""))


def _read_number(variables: Mapping[str, str], name: str, flag: int | None, least: int, most: int) -> int | None:
    shown, text = _read_variable(variables, name)
    if flag is None and not text.strip():
        return None
    if flag is not None:
        shown, text = f"--{name.lower().replace('_', '-')}", str(flag)
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise UsageError(f"{shown} must be a whole number from {least} to {most}, not {text[:40]!r}")
    return number
