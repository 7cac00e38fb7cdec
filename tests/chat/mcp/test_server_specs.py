"""Tests of the servers of tools in settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat.mcp.server_specs import (
    ChosenServers,
    ServerSpec,
    SettingsLayer,
    choose_servers,
    combine_specs,
    expand_spec,
    parse_server_specs,
    read_mcp_config,
)
from lsp_harness.errors import ConfigError


def test_a_program_and_an_address_are_servers():
    table = {
        "files": {
            "command": "files",
            "args": ["-v"],
            "env": {"A": "1"},
            "cwd": "sub",
            "tools": ["list"],
            "timeout_s": 5,
        },
        "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer $TOKEN"}, "enabled": False},
    }
    assert parse_server_specs(table, "config.toml") == [
        ServerSpec(
            "files",
            "files",
            ("-v",),
            {"A": "1"},
            Path("sub"),
            tools=frozenset({"list"}),
            timeout_s=5,
            source="config.toml",
        ),
        ServerSpec(
            "web",
            url="https://example.org/mcp",
            headers={"Authorization": "Bearer $TOKEN"},
            is_enabled=False,
            source="config.toml",
        ),
    ]


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (5, "f: mcp.servers.s must be a table with the key command or url"),
        ({}, "f: mcp.servers.s must have either command or url"),
        ({"command": "a", "url": "http://x"}, "f: mcp.servers.s must have either command or url"),
        ({"command": 5}, "f: mcp.servers.s.command must be a text"),
        (
            {"comand": "a"},
            "f: mcp.servers.s has the unknown key comand; the keys are args, command, cwd, enabled, env, ",
        ),
        ({"command": "a", "args": "b"}, "f: mcp.servers.s.args must be a list of texts"),
        ({"command": "a", "args": [1]}, "f: mcp.servers.s.args must be a list of texts"),
        ({"command": "a", "env": {"A": 1}}, "f: mcp.servers.s.env must be a table of texts"),
        ({"command": "a", "env": []}, "f: mcp.servers.s.env must be a table of texts"),
        ({"command": "a", "cwd": 1}, "f: mcp.servers.s.cwd must be a folder"),
        ({"command": "a", "enabled": 1}, "f: mcp.servers.s.enabled must be true or false"),
        ({"command": "a", "timeout_s": 0}, "f: mcp.servers.s.timeout_s must be a number of seconds up to 3600"),
        ({"command": "a", "timeout_s": True}, "f: mcp.servers.s.timeout_s must be a number of seconds up to 3600"),
        ({"url": "file:///etc/passwd"}, "f: mcp.servers.s.url must begin with http:// or https://"),
        ({"url": "http://x", "type": "sse"}, "f: mcp.servers.s.type must be \"http\" (streamable HTTP) and not 'sse'"),
    ],
)
def test_a_wrong_value_is_named(server: Any, message: str):
    with pytest.raises(ConfigError) as error:
        parse_server_specs({"s": server}, "f")
    assert error.value.message.startswith(message)


@pytest.mark.parametrize("name", ["", "a__b", "a b", "a.b", "_a", "a" * 41])
def test_a_name_that_does_not_fit_into_names_of_tools_is_refused(name: str):
    with pytest.raises(ConfigError, match="has a name that is not possible"):
        parse_server_specs({name: {"command": "a"}}, "f")


def test_servers_must_be_a_table():
    with pytest.raises(ConfigError, match="must be a table with one table for each server"):
        parse_server_specs([], "f")


def test_the_form_of_other_programs_is_read(tmp_path: Path):
    path = tmp_path / "mcp.json"
    servers = {"a": {"command": "a", "type": "stdio"}, "b": {"type": "http", "url": "http://localhost:1/mcp"}}
    path.write_text(json.dumps({"mcpServers": servers, "other": 1}))
    assert [(spec.name, spec.command, spec.url) for spec in read_mcp_config(path)] == [
        ("a", "a", ""),
        ("b", "", "http://localhost:1/mcp"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", 'must be an object with the key "mcpServers"'),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_file_that_is_not_valid_is_named(tmp_path: Path, text: str, message: str):
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_mcp_config(path)
    with pytest.raises(ConfigError, match="there is no file"):
        read_mcp_config(tmp_path / "absent.json")


def test_a_later_layer_replaces_a_server():
    user = parse_server_specs({"a": {"command": "user"}, "b": {"command": "b"}}, "user")
    project = parse_server_specs({"a": {"command": "project", "enabled": False}}, "project")
    assert [(spec.name, spec.command) for spec in combine_specs(user, project)] == [("a", "project"), ("b", "b")]


def test_servers_of_a_workspace_without_trust_are_left_out(tmp_path: Path):
    user = SettingsLayer({"mcp": {"servers": {"a": {"command": "user"}}}}, "user.toml")
    project = SettingsLayer(
        {"mcp": {"servers": {"a": {"command": "evil"}, "b": {}}}}, "lsp-harness.toml", is_project=True
    )
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"c": {"command": "file"}}}')
    chosen = choose_servers([user, project], file, is_trusted=False)
    assert [(spec.name, spec.command) for spec in chosen.specs] == [("a", "user"), ("c", "file")]
    (remark,) = chosen.remarks
    assert remark.startswith(
        "the MCP servers in lsp-harness.toml are left out, because the project is not trusted; to "
    )
    with pytest.raises(ConfigError, match="must have either command or url"):
        choose_servers([user, project], is_trusted=True)
    assert choose_servers([SettingsLayer({}, "x"), SettingsLayer({"mcp": 5}, "y")], is_trusted=True) == ChosenServers(
        ()
    )


def test_variables_are_replaced_when_the_server_is_started():
    spec = ServerSpec(
        "s", "$HOME/run", ("--key=${KEY}", "$$5"), {"A": "${NONE:-x}"}, headers={"Authorization": "Bearer $KEY"}
    )
    expanded = expand_spec(spec, {"HOME": "/h", "KEY": "k"})
    assert expanded == ServerSpec("s", "/h/run", ("--key=k", "$5"), {"A": "x"}, headers={"Authorization": "Bearer k"})
    with pytest.raises(ConfigError) as error:
        expand_spec(spec, {"HOME": "/h"})
    assert error.value.message == "args of the MCP server s refers to $KEY, which is not set; set it in the environment"
