"""The options of the commands that run a session, and how they become the options of the session."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.errors import UsageError
from lsp_harness.permission.client_hooks import ClientHook, read_client_hooks
from lsp_harness.sessions.session_options import SessionOptions

MAX_SCHEMA_BYTES = 1_000_000
UNATTENDED_MODE = "plan"
"""The permission mode of a command that nobody watches, unless one is named: a script, or a line of a pipe."""


class SchemaError(UsageError):
    """A JSON schema cannot be read."""

    exit_code = 2


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SessionFlags:
    """The options of a session on the command line."""

    session: Annotated[
        str | None,
        Parameter(
            ("--session", "-s", "--resume"),
            help="Continue this session: its name, or the beginning or end of that of a session of this folder.",
        ),
    ] = None
    provider: Annotated[
        str,
        Parameter(
            ("--provider", "-p"),
            help="Where the model runs: local, a service such as openai, an address, or scripted:FILE for tests.",
        ),
    ] = ""
    model: Annotated[
        str, Parameter(("--model", "-m"), help="A GGUF file, a model of the catalogue, or provider/model.")
    ] = ""
    fallback_model: Annotated[str, Parameter(help="The model to use if the first one cannot be reached.")] = ""
    permission_mode: Annotated[
        str,
        Parameter(
            help="ask, trust, deny, acceptEdits, plan, auto or bypassPermissions. The default is that of the settings, "
            "else ask in a conversation, trust for one prompt in a terminal, and plan for one without a terminal."
        ),
    ] = ""
    allowed_tools: Annotated[
        str | None, Parameter(help="The only tools that may be called, with commas. An empty text allows none.")
    ] = None
    disallowed_tools: Annotated[str, Parameter(help="Tools that may not be called, with commas.")] = ""
    max_turns: Annotated[
        int, Parameter(("--max-turns", "--max-steps"), help="The largest number of model calls for one prompt.")
    ] = 20
    max_tokens_total: Annotated[int, Parameter(help="The largest number of tokens of the session; 0 is no limit.")] = 0
    max_seconds: Annotated[float, Parameter(help="The longest time for one prompt; 0 is no limit.")] = 0.0
    system_prompt: Annotated[str | None, Parameter(help="A text that replaces the system prompt.")] = None
    cwd: Annotated[str, Parameter(help="The working folder.")] = ""
    setting_sources: Annotated[
        str | None,
        Parameter(help="The files of settings to read: user, project, local, with commas. An empty text reads none."),
    ] = None
    mcp_config: Annotated[str, Parameter(help="A JSON file with more MCP servers.")] = ""
    strict_mcp_config: Annotated[bool, Parameter(negative="", help="Use only the MCP servers of --mcp-config.")] = False
    ask_permissions: Annotated[
        bool, Parameter(negative="", help="Ask the client about every action. For programs, with `session`.")
    ] = False
    permission_timeout: Annotated[
        float, Parameter(help="Seconds in which the client must answer such a question; 0 is that of the settings.")
    ] = 0.0
    permission_prompt_tool: Annotated[
        str, Parameter(help="`stdio`: the client answers questions about permissions. For programs, with `session`.")
    ] = ""
    client_hooks: Annotated[
        str, Parameter(help="The functions of the client that are hooks, as JSON. For programs, with `session`.")
    ] = ""
    json_schema: Annotated[str, Parameter(help="A JSON schema of the answer, or a file with it.")] = ""
    no_session_persistence: Annotated[bool, Parameter(negative="", help="Do not save the session.")] = False
    driver: Annotated[
        str, Parameter(help="chat: a conversation with tools. code: each prompt is one checked edit of the code.")
    ] = "chat"
    bare: Annotated[bool, Parameter(negative="", help="Use no settings, hooks, skills and MCP servers of files.")] = (
        False
    )
    debug: Annotated[bool, Parameter(negative="", help="Show details on standard error.")] = False

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
        if self.session is not None and not self.session.strip():
            raise UsageError("--session is empty; name a session, or leave the option out to begin one")
        return SessionOptions(
            model=self.model,
            provider=self.provider,
            fallback_model=self.fallback_model,
            permission_mode=self.permission_mode,
            default_mode=UNATTENDED_MODE if source == "cli" and not (has_person or sys.stdin.isatty()) else "",
            allowed_tools=split_list(self.allowed_tools),
            disallowed_tools=split_list(self.disallowed_tools) or (),
            max_turns=self.max_turns,
            max_tokens_total=self.max_tokens_total,
            max_seconds=self.max_seconds,
            system_prompt=self.system_prompt,
            cwd=self.cwd,
            resume=self.session or "",
            setting_sources=split_list(self.setting_sources),
            mcp_config=self.mcp_config,
            strict_mcp_config=self.strict_mcp_config,
            json_schema=read_schema(self.json_schema) if self.json_schema else None,
            session_persistence=not self.no_session_persistence,
            ask_permissions=self.ask_permissions,
            permission_timeout=self.permission_timeout,
            client_hooks=_read_hooks(self.client_hooks) if self.client_hooks else (),
            driver=self.driver,
            bare=self.bare,
            source=source,
            has_person=has_person or self.permission_prompt_tool == "stdio",
        )


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
