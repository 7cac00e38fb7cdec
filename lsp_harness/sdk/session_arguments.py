"""The options of a session as the command line of `lsp-harness session`, and as the command `open`.

A subprocess gets a command line. A server and a session in this process get the same values as one frame.
"""

from pathlib import Path
from typing import Any

from lsp_harness.sdk.harness_options import HarnessOptions, usage_error

TEXT_OPTIONS = ("model", "provider", "permission_mode", "max_turns", "system_prompt", "resume", "max_tokens_total")
TEXT_OPTIONS_LAST = ("max_seconds", "driver")
LISTS = ("allowed_tools", "disallowed_tools", "setting_sources")


def session_options(options: HarnessOptions, mcp_config: Path | None) -> dict[str, Any]:
    """Return the options that the session reads. Those that only concern the SDK, and those that are None, are absent.

    Args:
        options: The options.
        mcp_config: The file with the MCP servers of this client, which replaces that of the options.
    """
    values: dict[str, Any] = {
        name: value for name in (*TEXT_OPTIONS, *TEXT_OPTIONS_LAST) if (value := getattr(options, name)) is not None
    }
    values |= {name: list(value) for name in LISTS if (value := getattr(options, name)) is not None}
    values["cwd"] = str(options.working_folder())
    if mcp_config or options.mcp_config:
        values["mcp_config"] = str(Path(mcp_config or options.mcp_config or "").absolute())
    values |= {name: True for name in ("strict_mcp_config",) if getattr(options, name)}
    if options.can_use_tool:
        values["ask_permissions"] = True
    if options.session_persistence is False:
        values["session_persistence"] = False
    return values


def session_arguments(values: dict[str, Any]) -> list[str]:
    """Return the arguments of `lsp-harness session` for `session_options`. Raise HarnessError.

    A value stands in the same argument as its name, because a value may begin with a hyphen, and an empty list must not
    take the next argument.
    """
    arguments: list[str] = []
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "session_persistence":
            arguments.append("--no-session-persistence")
        elif value is True:
            arguments.append(flag)
        elif isinstance(value, list):
            arguments.append(f"{flag}={_join_names(name, [str(item) for item in value])}")  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            arguments.append(f"{flag}={value}")
    if any("\0" in argument for argument in arguments):
        raise usage_error("an option has a NUL character")
    return arguments


def _join_names(option: str, names: list[str]) -> str:
    """Return names with commas between them. A comma is allowed within parentheses, as in `bash(cut -d, *)`."""
    for name in names:
        depth = 0
        for sign in name:
            depth += (sign == "(") - (sign == ")")
            if (sign == "," and depth <= 0) or depth < 0:
                raise usage_error(f"{option} has {name!r}: a comma may only be within parentheses")
        if not name.strip() or depth:
            raise usage_error(f"{option} has {name!r}, which is not the name of a tool")
    return ",".join(names)
