"""The options of a session that its clients choose. They are declared once, here.

The flags of the command line, the options of the SDK, the arguments of its child process and the options of a session
are made from the fields of `ClientOptions`. To add an option, add a field and its keyword, and read the field where
sessions are opened.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypedDict

from lsp_harness.wire.permission_mode import PermissionMode

SettingSource = Literal["user", "project", "local"]
Driver = Literal["chat", "code"]
OptionKind = Literal["text", "path", "names", "count", "seconds", "flag", "variables", "schema", "hooks"]
"""The form of a value. `names` are a list, with commas on the command line; `variables` and `schema` are JSON objects;
`hooks` is a JSON list. A `count` and `seconds` are numbers from 0."""


@dataclass(frozen=True, slots=True)
class OptionForm:
    """The form of an option.

    Attributes:
        kind: The form of its value.
        help: Its description for users, in one sentence.
        absent: Its value in a session if nobody names one.
        flags: Its names on the command line. Without a name, it is `--` and the name of the field. A name that begins
            with `--no-` turns the option off.
        is_flag: Whether the command line has it.
        is_argument: Whether the SDK sends it when a session begins.
    """

    kind: OptionKind
    help: str
    absent: Any
    flags: tuple[str, ...] = ()
    is_flag: bool = True
    is_argument: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a session: its name, its default for clients, and its form."""

    name: str
    default: Any
    form: OptionForm


EMPTY = object()
EMPTY_VALUES: Mapping[OptionKind, Any] = {"text": "", "path": "", "count": 0, "seconds": 0.0, "flag": False}
"""Kind of an option → its value in a session if nobody names one. Other kinds are None then."""


def option(
    kind: OptionKind,
    help: str,
    *flags: str,
    default: Any = None,
    absent: Any = EMPTY,
    is_flag: bool = True,
    is_argument: bool = True,
) -> Any:
    """Return the field of an option. `OptionForm` describes the arguments.

    Args:
        kind: See `OptionForm`.
        help: See `OptionForm`.
        flags: See `OptionForm`.
        default: The value if a client names none. None means that the program decides.
        absent: See `OptionForm`. Without it, that is the default, else the empty value of the kind, else None.
        is_flag: See `OptionForm`.
        is_argument: See `OptionForm`.
    """
    if absent is EMPTY:
        absent = EMPTY_VALUES.get(kind) if default is None else default
    form = OptionForm(kind, help, absent, flags, is_flag, is_argument)
    return field(default=default, metadata={"form": form})


def list_options(owner: Any) -> Iterator[Option]:
    """Yield the options among the fields of a dataclass or of an object of one."""
    for item in fields(owner):
        if form := item.metadata.get("form"):
            yield Option(item.name, item.default, form)


@dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """The options of a session that a client chooses. None means that the program decides."""

    model: str | None = option("text", "A GGUF file, a model of the catalogue, or provider/model.", "--model", "-m")
    provider: str | None = option(
        "text",
        "Where the model runs: local, a service such as openai, an address, or scripted:FILE for tests.",
        *("--provider", "-p"),
    )
    fallback_model: str | None = option("text", "The model to use if the first one cannot be reached.")
    permission_mode: PermissionMode | None = option(
        "text",
        "ask, trust, deny, acceptEdits, plan, auto or bypassPermissions. The default is that of the settings, else ask "
        "in a conversation, trust for one prompt in a terminal, and plan for one without a terminal.",
    )
    allowed_tools: Sequence[str] | None = option(
        "names", "The only tools that may be called, with commas. An empty text allows none."
    )
    disallowed_tools: Sequence[str] | None = option("names", "Tools that may not be called, with commas.", absent=())
    max_turns: int | None = option(
        "count", "The largest number of model calls for one prompt.", "--max-turns", "--max-steps", default=20
    )
    max_tokens_total: int | None = option("count", "The largest number of tokens of the session; 0 is no limit.")
    max_seconds: float | None = option("seconds", "The longest time for one prompt; 0 is no limit.")
    system_prompt: str | None = option("text", "A text that replaces the system prompt.", absent=None)
    cwd: str | Path | None = option("path", "The working folder.")
    env: Mapping[str, str] | None = option(
        "variables", "Variables that commands get in addition.", absent={}, is_flag=False, is_argument=False
    )
    resume: str | None = option(
        "text",
        "Continue this session: its name, or the beginning or end of that of a session of this folder.",
        *("--session", "-s", "--resume"),
    )
    setting_sources: Sequence[SettingSource] | None = option(
        "names", "The files of settings to read: user, project, local, with commas. An empty text reads none."
    )
    mcp_config: str | Path | None = option("path", "A JSON file with more MCP servers.")
    strict_mcp_config: bool | None = option("flag", "Use only the MCP servers of --mcp-config.")
    json_schema: Mapping[str, Any] | None = option(
        "schema", "A JSON schema of the answer, or a file with it.", is_argument=False
    )
    session_persistence: bool | None = option(
        "flag", "Do not save the session.", "--no-session-persistence", absent=True
    )
    driver: Driver | None = option(
        "text",
        "chat: a conversation with tools. code: each prompt is a question about the code or one checked edit. The "
        "default is chat if the model can call tools, and else code.",
    )
    budget: float | None = option(
        "seconds", "Seconds in which the candidates for one edit are made; 0 is generation.budget_s of the settings."
    )
    only_answers: bool | None = option("flag", "Only answer: nothing is changed, whatever the prompt asks for.")
    bare: bool | None = option("flag", "Use no settings, hooks, skills and MCP servers of files.")
    permission_timeout: float | None = option(
        "seconds",
        "Seconds in which the client must answer a question of --ask-permissions; 0 is that of the settings.",
        is_argument=False,
    )


class ClientKeywords(TypedDict, total=False):
    """The options as keyword arguments (see `ClientOptions`). Python cannot derive their types from a class."""

    model: str | None
    provider: str | None
    fallback_model: str | None
    permission_mode: PermissionMode | None
    allowed_tools: Sequence[str] | None
    disallowed_tools: Sequence[str] | None
    max_turns: int | None
    max_tokens_total: int | None
    max_seconds: float | None
    system_prompt: str | None
    cwd: str | Path | None
    env: Mapping[str, str] | None
    resume: str | None
    setting_sources: Sequence[SettingSource] | None
    mcp_config: str | Path | None
    strict_mcp_config: bool | None
    json_schema: Mapping[str, Any] | None
    session_persistence: bool | None
    driver: Driver | None
    budget: float | None
    only_answers: bool | None
    bare: bool | None
    permission_timeout: float | None
