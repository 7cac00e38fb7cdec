"""Servers of tools in the settings: `[mcp.servers.NAME]`, or a file in the form of other programs (`mcpServers`).

A server is a program that is started, or an address. Keys do not have to be in the file: `$NAME` and `${NAME}` are
replaced by variables of the environment when the server is started, and not before, so that no log has their values.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, cast
from urllib.parse import urlsplit

from lsp_harness.config.load import trust_remedy
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import ConfigError, FileError

DEFAULT_TIMEOUT_S = 60.0
MAX_TIMEOUT_S = 3600.0
NAME = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")
"""The form of the name of a server: `__` separates it from the name of a tool."""
MAX_NAME_CHARS = 40
REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)(?::-([^}]*))?\})")
KEYS = frozenset(("command", "args", "env", "cwd", "url", "headers", "enabled", "tools", "timeout_s", "type"))
HTTP_TYPES = frozenset(("http", "streamable-http", "streamable_http"))


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server of tools as it stands in the settings.

    Attributes:
        name: The name, which is a part of the names of its tools.
        command: The program to start, or empty.
        args: The arguments of the program.
        env: Variables of its environment. It gets few others.
        cwd: The folder in which it runs, or None for that of the workspace.
        url: The address of a server that runs already, or empty.
        headers: The headers of each request to the address.
        is_enabled: Whether the server is used.
        tools: The tools that may be called. None means all.
        timeout_s: The longest time of a call in seconds.
        source: The file that it is from, for messages.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: Path | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_enabled: bool = True
    tools: frozenset[str] | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    source: str = ""


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """A file of settings with servers.

    Attributes:
        table: The whole content of the file.
        source: The file, for messages.
        is_project: Whether the file belongs to the workspace. Its servers are used only if the user trusts it.
    """

    table: Mapping[str, Any]
    source: str
    is_project: bool = False


@dataclass(frozen=True, slots=True)
class ChosenServers:
    """The servers of a session.

    Attributes:
        specs: The descriptions of the servers.
        remarks: Sentences about servers that are left out.
    """

    specs: tuple[ServerSpec, ...]
    remarks: tuple[str, ...] = ()


def choose_servers(
    layers: Iterable[SettingsLayer], mcp_config: Path | None = None, *, is_trusted: bool
) -> ChosenServers:
    """Return the servers of all settings. A later file replaces servers of the same name.

    Args:
        layers: The files of settings, those of the user first.
        mcp_config: A JSON file that the user named on the command line. It counts most.
        is_trusted: Whether the user trusts the workspace. If not, no program that its files name is started.

    Raises:
        ConfigError: A value in a file that counts is not valid.
    """
    chosen: list[list[ServerSpec]] = []
    remarks: list[str] = []
    for layer in layers:
        mcp = layer.table.get("mcp", {})
        servers: Any = cast("Mapping[str, Any]", mcp).get("servers") if isinstance(mcp, Mapping) else None
        if not servers:
            continue
        if layer.is_project and not is_trusted:
            remarks.append(
                f"the MCP servers in {layer.source} are left out, because the project is not trusted; {trust_remedy()}"
            )
        else:
            chosen.append(parse_server_specs(servers, layer.source))
    if mcp_config:
        chosen.append(read_mcp_config(mcp_config))
    return ChosenServers(tuple(combine_specs(*chosen)), tuple(remarks))


def parse_server_specs(servers: Any, source: str, table: str = "mcp.servers") -> list[ServerSpec]:
    """Return the servers of a table of settings.

    Args:
        servers: The value of the key `mcp.servers`, or of `mcpServers`: the name of each server → its table.
        source: The file, for messages.
        table: The key, for messages.

    Raises:
        ConfigError: A value is not valid.
    """
    if not isinstance(servers, Mapping):
        raise ConfigError(f"{source}: {table} must be a table with one table for each server")
    named = cast("Mapping[str, Any]", servers)
    return [_parse_server(name, value, source, f"{table}.{name}") for name, value in named.items()]


def read_mcp_config(path: Path) -> list[ServerSpec]:
    """Return the servers of a JSON file with the key `mcpServers`, as other programs write it.

    Raises:
        ConfigError: The file cannot be read, or a value is not valid.
    """
    try:
        content: Any = json.loads(read_text(path))
    except FileError as error:
        raise ConfigError(error.message) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict) or "mcpServers" not in content:
        raise ConfigError(f'{path} must be an object with the key "mcpServers"')
    return parse_server_specs(cast("dict[str, Any]", content)["mcpServers"], str(path), "mcpServers")


def combine_specs(*layers: Iterable[ServerSpec]) -> list[ServerSpec]:
    """Return the servers of several layers of settings. A later layer replaces servers of the same name."""
    by_name = {spec.name: spec for layer in layers for spec in layer}
    return list(by_name.values())


def expand_spec(spec: ServerSpec, environment: Mapping[str, str] | None = None) -> ServerSpec:
    """Return a server with the values of the variables that it refers to.

    Raises:
        ConfigError: A variable is not set.
    """
    environment = os.environ if environment is None else environment

    def expand(text: str, key: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if name is None:
                return "$"
            if name in environment:
                return environment[name]
            if match[3] is not None:
                return match[3]
            raise ConfigError(
                f"{key} of the MCP server {spec.name} refers to ${name}, which is not set; set it in the environment"
            )

        return REFERENCE.sub(value, text)

    return replace(
        spec,
        command=expand(spec.command, "command"),
        args=tuple(expand(arg, "args") for arg in spec.args),
        env={name: expand(text, f"env.{name}") for name, text in spec.env.items()},
        url=expand(spec.url, "url"),
        headers={name: expand(text, f"headers.{name}") for name, text in spec.headers.items()},
    )


def _parse_server(name: str, value: Any, source: str, key: str) -> ServerSpec:
    def fail(reason: str) -> NoReturn:
        raise ConfigError(f"{source}: {key}{reason}")

    if len(name) > MAX_NAME_CHARS or not NAME.fullmatch(name):
        fail(f" has a name that is not possible; use up to {MAX_NAME_CHARS} letters, digits and hyphens, or single _")
    if not isinstance(value, Mapping):
        fail(" must be a table with the key command or url")
    members = cast("Mapping[str, Any]", value)
    if unknown := sorted(set(members) - KEYS):
        fail(f" has the unknown key {unknown[0]}; the keys are {', '.join(sorted(KEYS - {'type'}))}")
    fields: dict[str, Any] = {}
    for text_key in ("command", "url"):
        text = members.get(text_key, "")
        if not isinstance(text, str) or "\0" in text:
            fail(f".{text_key} must be a text")
        fields[text_key] = text
    if bool(fields["command"]) == bool(fields["url"]):
        fail(" must have either command or url")
    kind = members.get("type", "stdio" if fields["command"] else "http")
    if fields["url"] and kind not in HTTP_TYPES:
        fail(f'.type must be "http" (streamable HTTP) and not {kind!r}; ask the server for an address of this kind')
    if fields["url"] and urlsplit(str(fields["url"])).scheme not in ("http", "https") and "$" not in fields["url"]:
        fail(".url must begin with http:// or https://")
    for list_key in ("args", "tools"):
        items = members.get(list_key)
        if items is not None and not (isinstance(items, list) and _are_texts(cast("list[Any]", items))):
            fail(f".{list_key} must be a list of texts")
        fields[list_key] = items
    for table_key in ("env", "headers"):
        texts = members.get(table_key, {})
        if not isinstance(texts, Mapping):
            fail(f".{table_key} must be a table of texts")
        named = cast("Mapping[Any, Any]", texts)
        if not _are_texts([*named, *named.values()]):
            fail(f".{table_key} must be a table of texts")
        fields[table_key] = dict(named)
    cwd, is_enabled = members.get("cwd"), members.get("enabled", True)
    if cwd is not None and not isinstance(cwd, str):
        fail(".cwd must be a folder")
    if not isinstance(is_enabled, bool):
        fail(".enabled must be true or false")
    timeout_s = members.get("timeout_s", DEFAULT_TIMEOUT_S)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not 0 < timeout_s <= MAX_TIMEOUT_S:
        fail(f".timeout_s must be a number of seconds up to {MAX_TIMEOUT_S:.0f}")
    return ServerSpec(
        name,
        fields["command"],
        tuple(fields["args"] or ()),
        fields["env"],
        Path(cwd).expanduser() if cwd else None,
        fields["url"],
        fields["headers"],
        is_enabled,
        None if fields["tools"] is None else frozenset(fields["tools"]),
        float(timeout_s),
        source,
    )


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and "\0" not in value for value in values)
