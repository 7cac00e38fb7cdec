"""The options of a session as the command line of `lsp-harness session`, and as the command `open`.

A child process gets a command line. A server and a session in this process get the same values as one frame.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_harness.sdk.harness_options import PERMISSION_WAIT_S, HarnessOptions, usage_error
from lsp_harness.sdk.hook_functions import describe_hooks
from lsp_harness.wire.session_options import ClientOptions, OptionForm, list_options

FORMS: Mapping[str, OptionForm] = {item.name: item.form for item in list_options(ClientOptions)}


def session_options(options: HarnessOptions, mcp_config: Path | None) -> dict[str, Any]:
    """Return the options that the session reads. Those that only concern the SDK, and those that are None, are absent.

    Args:
        options: The options.
        mcp_config: The file with the MCP servers of this client, which replaces that of the options.

    Raises:
        HarnessError: The working folder does not exist.
    """
    given = {name: getattr(options, name) for name, form in FORMS.items() if form.is_argument}
    said = {name: value for name, value in given.items() if _is_said(FORMS[name], value)}
    values: dict[str, Any] = {
        name: list(value) if FORMS[name].kind == "names" else value for name, value in said.items()
    }
    values["cwd"] = str(options.working_folder())
    if path := mcp_config or options.mcp_config:
        values["mcp_config"] = str(Path(path).absolute())
    if options.can_use_tool or options.ask_permissions:
        values["ask_permissions"] = True
        if options.permission_timeout not in (None, PERMISSION_WAIT_S):
            values["permission_timeout"] = options.permission_timeout
    if options.hooks:
        values["client_hooks"] = describe_hooks(options.hooks)
    return values


def _is_said(form: OptionForm, value: Any) -> bool:
    """Return whether the session must be told a value. A flag that has the value of a session without it is not."""
    return value is not None and not (form.kind == "flag" and value is form.absent)


def session_arguments(values: Mapping[str, Any]) -> list[str]:
    """Return the arguments of `lsp-harness session` for `session_options`. Raise HarnessError."""
    arguments = [_format_argument(name, value) for name, value in values.items()]
    if any("\0" in argument for argument in arguments):
        raise usage_error("an option has a NUL character")
    return arguments


def _format_argument(name: str, value: Any) -> str:
    """Return one argument. It has the value, too, because a value may be empty or begin with a hyphen."""
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        return flag
    if value is False:
        return flag.replace("--", "--no-", 1)
    if name in FORMS and FORMS[name].kind == "names":
        return f"{flag}={join_names(name, value)}"
    return f"{flag}={value if name != 'client_hooks' else json.dumps(value)}"


def join_names(option: str, names: list[Any]) -> str:
    """Return names with commas between them. A comma is allowed within parentheses, as in `bash(cut -d, *)`."""
    for name in map(str, names):
        depth = 0
        for sign in name:
            depth += (sign == "(") - (sign == ")")
            if (sign == "," and depth == 0) or depth < 0:
                raise usage_error(f"{option} has {name!r}: a comma may only be within parentheses")
        if not name.strip() or depth:
            raise usage_error(f"{option} has {name!r}, which is not the name of a tool")
    return ",".join(map(str, names))
