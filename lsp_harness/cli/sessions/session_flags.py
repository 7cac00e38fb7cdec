"""The options of the commands that run a session, and how they become the options of the session."""

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lsp_harness.errors import UsageError
from lsp_harness.permission.client_hooks import ClientHook, read_client_hooks
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.session_options import Option, OptionKind, list_options

MAX_SCHEMA_BYTES = 1_000_000
UNATTENDED_MODE = "plan"
"""The permission mode of a command that nobody watches, unless one is named: a script, or a line of a pipe."""


class SchemaError(UsageError):
    """A JSON schema cannot be read."""

    exit_code = 2


FLAG_TYPES: Mapping[OptionKind, Any] = {"count": int, "seconds": float, "flag": bool}
"""Kind of an option → the type of its flag. Other kinds are texts, which `_read_value` reads."""


@dataclass(frozen=True)
class CommandFlags:
    """The flags of a command that are no options of its session."""

    permission_prompt_tool: Annotated[
        str,
        Parameter(
            help="`stdio`: the client answers questions about permissions. For programs, with `session`.",
            show_default=False,
        ),
    ] = ""
    debug: Annotated[bool, Parameter(negative="", show_default=False, help="Show details on standard error.")] = False

    def options(self, source: str, *, has_person: bool = False) -> SessionOptions:
        """Return the options of a session.

        Args:
            source: The command, for the log. "cli" is one that a person writes.
            has_person: Whether a person can answer questions.

        Raises:
            UsageError: A value is not valid.
        """
        if self.permission_prompt_tool not in ("", "stdio"):
            raise UsageError(f"--permission-prompt-tool can be stdio, not {self.permission_prompt_tool!r}")
        values = {item.name: _read_value(item, getattr(self, _flag_field(item))) for item in FLAG_OPTIONS}
        if values["resume"] is not None and not values["resume"].strip():
            raise UsageError("--session is empty; name a session, or leave the option out to begin one")
        is_alone = source == "cli" and not (has_person or sys.stdin.isatty())
        return SessionOptions(
            **values,
            default_mode=UNATTENDED_MODE if is_alone else "",
            source=source,
            has_person=has_person or self.permission_prompt_tool == "stdio",
        )


def _flag_field(item: Option) -> str:
    """Return the name of the field of a flag."""
    return f"no_{item.name}" if _turns_off(item) else item.name


def _turns_off(item: Option) -> bool:
    """Return whether the flag of an option turns the option off."""
    return any(name.startswith("--no-") for name in item.form.flags)


def _make_field(item: Option) -> tuple[str, Any, Any]:
    """Return the name, the type and the default of the field of a flag."""
    form = item.form
    parameter = Parameter(
        form.flags or None,
        help=form.help,
        negative="" if form.kind == "flag" else None,
        # no limit, no text and no: the help of the option says so where it matters
        show_default=None if form.absent and form.kind != "flag" else False,
    )
    if form.kind == "flag":
        return _flag_field(item), Annotated[bool, parameter], field(default=False)
    default = form.absent if form.kind in FLAG_TYPES else None
    type = FLAG_TYPES.get(form.kind, str)
    return item.name, Annotated[type if default is not None else type | None, parameter], field(default=default)


def _read_value(item: Option, value: Any) -> Any:
    """Return the value of an option for the value of its flag.

    Raises:
        UsageError: The text of a list of hooks or of a JSON schema is not valid.
    """
    if _turns_off(item):
        return not value
    match item.form.kind:
        case "names":
            return split_list(value)
        case "schema":
            return read_schema(value) if value else None
        case "hooks":
            return _read_hooks(value) if value else ()
        case _:
            return value


FLAG_OPTIONS = tuple(item for item in list_options(SessionOptions) if item.form.is_flag)
PROGRAM_FLAGS = frozenset({"permission_prompt_tool", "ask_permissions", "permission_timeout", "client_hooks"})
"""Options for programs that speak the protocol of `session`. The help for people leaves them out."""
CHAT_FLAGS = frozenset({"driver", "json_schema", "system_prompt"})
"""Options that `code` has no use for."""


def _make_flags(name: str, hidden: Collection[str] = ()) -> Any:
    """Return the class of the options of a command, whose help does not show some of them."""
    inherited = [(item.name, item.type, field(default=item.default)) for item in fields(CommandFlags)]
    rows = [
        (flag, Annotated[annotation, Parameter(show=False)] if flag in hidden else annotation, default)
        for flag, annotation, default in (*inherited, *map(_make_field, FLAG_OPTIONS))
    ]
    namespace = {"__doc__": "The options of a session on the command line.", "__module__": __name__}
    made = make_dataclass(name, rows, bases=(CommandFlags,), namespace=namespace, frozen=True)
    return Parameter(name="*")(made)


if TYPE_CHECKING:

    @dataclass(frozen=True)
    class SessionFlags(CommandFlags):
        """The options of a session on the command line (see `ClientOptions`)."""

        def __init__(self, **values: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    class PersonFlags(SessionFlags):
        """The options of a command for people, which may have those of programs but does not show them."""

    class CodeFlags(PersonFlags):
        """The options of `code`."""

else:
    SessionFlags = _make_flags("SessionFlags")
    PersonFlags = _make_flags("PersonFlags", PROGRAM_FLAGS)
    CodeFlags = _make_flags("CodeFlags", PROGRAM_FLAGS | CHAT_FLAGS)


def split_list(text: str | None) -> tuple[str, ...] | None:
    """Return the items of a list with commas. None stays None, and an empty text is an empty list.

    A comma within parentheses, as in `bash(cut -d, *)`, is a part of an item.
    """
    if text is None:
        return None
    items, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            items.append("")
        else:
            items[-1] += sign
    return tuple(item.strip() for item in items if item.strip())


def _read_hooks(text: str) -> tuple[ClientHook, ...]:
    try:
        return read_client_hooks(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--client-hooks is not valid JSON: {error}") from error


def read_schema(text: str) -> Mapping[str, Any]:
    """Return a JSON schema, which is given as a file or as JSON.

    Raises:
        SchemaError: There is no such file, or it is no JSON schema.
    """
    source = text
    if not text.lstrip().startswith("{"):
        try:
            source = Path(text).read_bytes()[:MAX_SCHEMA_BYTES].decode()
        except (OSError, ValueError) as error:
            raise SchemaError(f"the JSON schema {text} cannot be read: {error}") from error
    try:
        schema: Any = json.loads(source)
    except ValueError as error:
        raise SchemaError(f"the JSON schema is not valid JSON: {error}") from error
    if not isinstance(schema, dict):
        raise SchemaError("the JSON schema must be a JSON object")
    return schema  # pyright: ignore[reportUnknownVariableType]
