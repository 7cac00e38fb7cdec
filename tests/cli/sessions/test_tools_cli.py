"""`lsp-harness tools`, `schema` and `--version`."""

import json
import sys
from pathlib import Path

from lsp_harness.events.event_schema import build_schema
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.wire.frame_lines import WIRE_VERSION
from lsp_harness.wire.version import VERSION
from tests.cli.conftest import Shell


def test_the_tools_are_listed_without_a_model_and_without_a_trace(shell: Shell):
    rows = shell.run("tools", "list", "--json").json
    names = [row["name"] for row in rows]
    assert {"read", "edit", "bash", "agent"} <= set(names)
    assert rows[0]["schema"]["required"] == ["path"]
    assert [row["name"] for row in shell.run("tools", "list", "--allowed-tools", "read,grep", "--json").json] == [
        "read",
        "grep",
    ]
    assert "read " in shell.run("tools", "list").out
    assert SessionStore().ids() == []


def test_the_tools_of_mcp_servers_are_listed_and_called(shell: Shell):
    from tests.support import mcp_server

    file = str(mcp_server.__file__)
    server = {"mcpServers": {"test": {"command": sys.executable, "args": [file]}}}
    config = str(shell.file("mcp.json", json.dumps(server)))
    rows = shell.run("tools", "list", "--json", "--mcp-config", config).json
    found = [row["name"] for row in rows if row["name"].startswith("mcp__test__")]
    assert found
    strict = shell.run("tools", "list", "--json", "--strict-mcp-config").json
    assert not [row for row in strict if row["name"].startswith("mcp__")]


def test_a_project_starts_its_servers_only_if_the_user_trusts_it(shell: Shell, tmp_path: Path):
    started = tmp_path / "started"
    settings = f"[mcp]\nserver = 1\n[mcp.servers.evil]\ncommand = {json.dumps(sys.executable)}\n"
    shell.file("lsp-harness.toml", settings + f"args = ['-c', 'open({json.dumps(str(started))}, \"w\")']\n")
    result = shell.run("tools", "list")
    assert (
        "the project is not trusted; to trust this project, add its folder to permissions.trusted_folders" in result.err
    )
    assert "unknown table" not in result.err
    assert "unknown key mcp.server; the only key is servers" in result.err
    assert not started.exists()
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[permissions]\ntrusted_folders = [{json.dumps(str(shell.folder))}]\n")
    shell.run("tools", "list")
    assert started.exists()


def test_a_call_passes_the_gate_and_is_recorded(shell: Shell):
    shell.file("a.py", "x = 1\n")
    assert "x = 1" in shell.run("tools", "call", "read", '{"path": "a.py"}').out
    edit = '{"path": "a.py", "old": "x = 1", "new": "x = 2"}'
    denied = shell.run("tools", "call", "edit", edit, "--permission-mode", "deny", "--json")
    assert (denied.code, denied.json["reason"]) == (1, "denied")
    assert (shell.folder / "a.py").read_text() == "x = 1\n"
    done = shell.run("tools", "call", "edit", edit, "--permission-mode", "trust", "--json")
    assert (done.code, done.json["is_error"]) == (0, False)
    assert (shell.folder / "a.py").read_text() == "x = 2\n"
    types = [event.type for event in read_log(SessionStore().path(done.json["session_id"]))]
    # the second decision is about the linter
    decided = ["tool.started", "permission.decided", "permission.decided"]
    assert [type for type in types if type in ("tool.started", "permission.decided")] == decided
    assert "turn.stopped" in types
    assert "checkpoint.created" in types


def test_wrong_calls_say_what_to_write(shell: Shell):
    assert "there is no tool 'nope'" in shell.run("tools", "call", "nope").err
    assert "not valid JSON" in shell.run("tools", "call", "read", "{").err
    assert "must be a JSON object" in shell.run("tools", "call", "read", "[]").err
    result = shell.run("tools", "call", "read", "{}")
    assert (result.code, "path" in result.err) == (1, True)


def test_schema_and_version_are_for_programs(shell: Shell):
    assert shell.run("schema").json == build_schema()
    version = shell.run("--version", "--json").json
    assert (version["version"], version["wire"]) == (VERSION, WIRE_VERSION)
