"""`lsp-harness run`: each option changes something that a user can see."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.sessions.run_cli import EXIT_MISMATCH, EXIT_NOT_JSON
from lsp_harness.cli.sessions.session_client import run_session
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.config.load import find_user_config_file
from lsp_harness.errors import EngineError, ModelMissing
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.process.process_table import list_processes
from lsp_harness.sessions import model_choice
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event
from tests.cli.conftest import Shell
from tests.cli.sessions.conftest import Script, make_tool_call
from tests.support.child_signals import reset_signals


def read_last_events(type: str = "") -> list[Event]:
    store = SessionStore()
    return [event for event in read_log(store.path(store.find(""))) if type in ("", event.type)]


def test_the_answer_is_printed_as_text_json_or_lines(shell: Shell, script: Script):
    shell.file("a.py", "x = 1\n")
    replies = (make_tool_call("read", path="a.py"), "it is one")
    text = shell.run("run", "what is x?", "-p", script(*replies))
    assert (text.code, text.out) == (0, "it is one\n")
    assert '· read {"path": "a.py"}' in text.err
    whole = shell.run("run", "what is x?", "-p", script(*replies), "--output-format", "json").json
    assert (whole["result"], whole["reason"], whole["usage"]["output_tokens"] > 3) == ("it is one", "completed", True)
    lines = shell.run("run", "what is x?", "-p", script(*replies), "--output-format", "stream-json")
    frames = [json.loads(line) for line in lines.out.splitlines()]
    assert (lines.err, frames[0]["type"], frames[-1]["type"]) == ("", "session_start", "session")
    assert [frame["text"] for frame in frames if frame["type"] == "turn_stop"] == ["it is one"]


def test_the_prompt_is_read_from_an_argument_or_from_standard_input(
    shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch
):
    assert shell.run("say hello", "-p", script("hello")).out == "hello\n"
    # a prompt that is the name of a command
    assert shell.run("run", "-p", script("served"), "--", "serve").out == "served\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe\n"))
    assert shell.run("run", "-", "-p", script({"text": "read", "expect": "from a pipe"})).out == "read\n"
    assert shell.run("run", "  ").code == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_command_and_all_its_processes(shell: Shell, script: Script, number: signal.Signals):
    work = "setsid sleep 300 & echo $! > pid; mv pid started; wait"
    call = make_tool_call("bash", command=work, execution="inline")
    argv = [sys.executable, "-m", "lsp_harness", "run", "go", "-p", script(call), "--permission-mode", "trust"]
    with subprocess.Popen(argv, cwd=shell.folder, stderr=subprocess.DEVNULL, preexec_fn=reset_signals) as process:  # noqa: PLW1509
        while not (shell.folder / "started").exists():
            os.sched_yield()
        process.send_signal(number)
    assert process.returncode == (128 + number if number != signal.SIGINT else 130)
    pid = int((shell.folder / "started").read_text())
    assert not any(row.pid == pid for row in list_processes())
    # the turn and its task have their last events, and nothing has to be closed when the session is continued
    assert [event.data["reason"] for event in read_last_events("turn.stopped")] == ["cancelled"]
    assert len(read_last_events("task.cancelled")) == len(read_last_events("session.closed")) == 1


def test_limits_end_the_turn(shell: Shell, script: Script):
    shell.file("a.py", "x = 1\n")
    call = make_tool_call("read", path="a.py")
    result = shell.run("run", "go", "-p", script(call), "--max-turns", "1")
    assert (result.code, "max_turns" in result.err) == (1, True)
    result = shell.run("run", "go", "-p", script(call), "--max-tokens-total", "5")
    assert (result.code, "budget_exceeded" in result.err) == (1, True)
    result = shell.run("run", "go", "-p", script(), "--max-seconds", "0.000001")
    assert (result.code, "took longer" in result.err) == (1, True)
    assert shell.run("run", "go", "--max-turns", "0").code == 2


def test_tool_lists_and_modes_limit_the_tools(shell: Shell, script: Script):
    create = make_tool_call("create", path="b.py", text="y = 1\n")
    shell.run("run", "go", "-p", script(create, "no"), "--allowed-tools", "read")
    assert [event.data["reason"] for event in read_last_events("tool.failed")] == ["not_allowed"]
    shell.run("run", "go", "-p", script(create, "no"), "--disallowed-tools", "create")
    assert [event.data["reason"] for event in read_last_events("tool.failed")] == ["not_allowed"]
    shell.run("run", "go", "-p", script(create, "no"), "--permission-mode", "deny")
    assert [event.data["reason"] for event in read_last_events("tool.failed")] == ["denied"]
    assert not (shell.folder / "b.py").exists()
    shell.run("run", "go", "-p", script(create, "yes"), "--permission-mode", "trust")
    assert (shell.folder / "b.py").exists()
    assert "permission_mode" in shell.run("run", "go", "--permission-mode", "nope").err


def test_a_session_is_continued_by_its_name_and_an_unknown_name_is_refused(shell: Shell, script: Script):
    shell.run("run", "first", "-p", script("one"))
    id = SessionStore().find("")
    again = shell.run("run", "second", "-p", script({"text": "two", "expect": "first"}), "-s", id[:20])
    assert (again.code, again.out) == (0, "two\n")
    assert f"session {id}: " in again.err
    assert "events loaded" in again.err
    unknown = shell.run("run", "x", "-p", script("no"), "-s", "nope")
    assert (unknown.code, "there is no session 'nope'" in unknown.err) == (2, True)
    shell.run("run", "x", "-p", script("one"), "--no-session-persistence")
    assert SessionStore().ids() == [id]


def test_the_system_prompt_and_the_folder_can_be_set(shell: Shell, script: Script, tmp_path: Path):
    reply = {"text": "ok", "expect": "Speak like a pirate"}
    assert shell.run("run", "x", "-p", script(reply), "--system-prompt", "Speak like a pirate").code == 0
    other = tmp_path / "other"
    other.mkdir()
    touch = script(make_tool_call("bash", command="touch here"), "ok")
    shell.run("run", "x", "-p", touch, "--cwd", str(other), "--permission-mode", "trust")
    assert (other / "here").exists()
    assert "is not a folder" in shell.run("run", "x", "--cwd", str(tmp_path / "none")).err


SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


def test_the_answer_fits_the_schema_or_the_status_is_an_error(shell: Shell, script: Script):
    fits = shell.run("run", "x", "-p", script('{"n": 1}'), "--json-schema", SCHEMA, "--output-format", "json")
    assert (fits.code, fits.json["structured_output"]) == (0, {"n": 1})
    file = str(shell.file("schema.json", SCHEMA))
    assert shell.run("run", "x", "-p", script("words"), "--json-schema", file).code == EXIT_NOT_JSON
    assert shell.run("run", "x", "-p", script('{"n": "one"}'), "--json-schema", file).code == EXIT_MISMATCH
    assert shell.run("run", "x", "-p", script("{}"), "--json-schema", file).code == EXIT_MISMATCH
    assert "'n'" in shell.run("run", "x", "-p", script("{}"), "--json-schema", file).err
    assert shell.run("run", "x", "--json-schema", '{"type": "nothing"}').code == 2
    assert shell.run("run", "x", "--json-schema", "none.json").code == 2
    assert shell.run("run", "x", "--json-schema", "{").code == 2
    assert shell.run("run", "x", "--json-schema", "[]").code == 2


def test_the_statuses_of_answers_do_not_stand_for_other_failures(shell: Shell, script: Script):
    for command in (("run", "x", "--json-schema", SCHEMA), ("engine", "start")):
        # the catalogue has this model, and this machine does not
        shell.set("LSP_HARNESS_MODEL__PATH", "granite-4.0-350m-base")
        assert shell.run(*command).code == ModelMissing.exit_code
    # the model has more replies than the limit lets it give
    call = make_tool_call("glob", pattern="*")
    rest = shell.run("run", "x", "-p", script(call, "rest"), "--max-turns", "1", "--json-schema", SCHEMA)
    assert rest.code == EngineError.exit_code
    assert {EngineError.exit_code, ModelMissing.exit_code}.isdisjoint((EXIT_NOT_JSON, EXIT_MISMATCH))


def test_an_empty_name_of_a_session_is_refused_and_starts_no_session(shell: Shell, script: Script):
    for command in (("run", "x"), ("session",)):
        result = shell.run(*command, "-p", script("y"), "--resume", "")
        assert result.code == 2
        assert "--session is empty" in result.err + result.out
    assert shell.run("sessions", "list", "--json").json == []


def test_the_provider_of_an_option_counts_more_than_the_environment_and_the_settings(shell: Shell, script: Script):
    def provider(text: str) -> str:
        path = shell.file(f"{text}.json", json.dumps([{"text": text}]))
        return f"scripted:{path}"

    shell.replies("settings")
    assert shell.run("run", "x").out == "settings\n"
    shell.set("LSP_HARNESS_PROVIDER", provider("environment"))
    assert shell.run("run", "x").out == "environment\n"
    assert shell.run("run", "x", "-p", provider("option")).out == "option\n"


def test_a_missing_key_is_one_line_before_any_network(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    import socket

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    result = shell.run("run", "x", "--model", "openai/gpt-4o-mini")
    assert (result.code, result.out) == (1, "")
    assert len(result.err.splitlines()) == 1
    assert "OPENAI_API_KEY" in result.err
    without_both = shell.run("run", "x", "-p", "openai")
    assert (without_both.code, without_both.err) == (1, result.err)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert "needs a model" in shell.run("run", "x", "-p", "openai").err
    assert "there is no provider 'nope'" in shell.run("run", "x", "-p", "nope").err


def test_another_model_answers_if_the_first_one_fails(shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch):
    down = {"error": "it is down"}
    alone = shell.run("run", "x", "-p", script(down))
    assert (alone.code, "it is down" in alone.err) == (1, True)
    shell.set("OPENAI_API_KEY", "test-key")
    make = model_choice.make_engine
    spare = ScriptedEngine([{"text": "here I am"}])
    monkeypatch.setattr(model_choice, "make_engine", lambda config: make(config) if config.engine.script else spare)
    both = shell.run("run", "x", "-p", script(down), "--fallback-model", "openai/spare")
    assert (both.code, both.out) == (0, "here I am\n")
    assert [event.data["will_retry"] for event in read_last_events("model.failed")] == [True]
    assert read_last_events("model.completed")[0].data["model"] == "openai/spare"


def test_bare_and_sources_leave_settings_out(shell: Shell, script: Script):
    shell.file("lsp-harness.toml", '[permissions]\nmode = "deny"\n[hooks]\n')
    create = make_tool_call("create", path="c.py", text="z = 1\n")
    shell.run("run", "x", "-p", script(create, "no"))
    assert not (shell.folder / "c.py").exists()
    shell.run("run", "x", "-p", script(create, "yes"), "--bare", "--permission-mode", "trust")
    assert (shell.folder / "c.py").exists()
    (shell.folder / "c.py").unlink()
    shell.run("run", "x", "-p", script(create, "yes"), "--setting-sources", "user", "--permission-mode", "trust")
    assert (shell.folder / "c.py").exists()
    assert "setting_sources" in shell.run("run", "x", "--setting-sources", "nope").err


def test_debug_shows_every_object(shell: Shell, script: Script):
    assert '"type": "turn_start"' in shell.run("run", "x", "-p", script("y"), "--debug").err
    assert '"type"' not in shell.run("run", "x", "-p", script("y")).err


def test_the_servers_of_a_config_file_offer_their_tools(shell: Shell, script: Script):
    from tests.support import mcp_server

    server = {"mcpServers": {"test": {"command": sys.executable, "args": [str(mcp_server.__file__)]}}}
    config = str(shell.file("mcp.json", json.dumps(server)))
    reply = {"text": "ok", "expect": "mcp__test__"}
    known = shell.run("run", "x", "-p", script({"text": "ok"}), "--mcp-config", config)
    assert known.code == 0
    assert shell.run("run", "x", "-p", script(reply), "--strict-mcp-config").code == 1
    assert shell.run("run", "x", "-p", script("ok"), "--mcp-config", "none.json").code == 2


def test_the_option_for_permission_questions_needs_a_program_that_answers(shell: Shell, script: Script):
    assert "can be stdio" in shell.run("run", "x", "--permission-prompt-tool", "other").err
    create = make_tool_call("create", path="d.py", text="q = 1\n")
    shell.run("run", "x", "-p", script(create, "no"), "--permission-mode", "ask")
    assert [event.data["by"] for event in read_last_events("permission.decided")] == ["nobody"]
    options = SessionFlags(provider=script(create, "yes"), permission_prompt_tool="stdio").options("sdk")
    assert asyncio.run(_allow_all(options)) == ["create"]
    assert (shell.folder / "d.py").exists()


async def _allow_all(options: SessionOptions) -> list[str]:
    """Answer every question of a session with yes, and return the tools that it asked about."""
    tools: list[str] = []
    async with run_session(options) as client:
        client.send({"id": "1", "prompt": "x"})
        async for frame in client.frames():
            if frame["type"] == "permission_request":
                tools.append(frame["tool"])
                client.send({"command": "permission", "request_id": frame["request_id"], "decision": "allow"})
            if frame["type"] == "turn_stop":
                break
    return tools


def test_the_driver_code_makes_one_edit_and_shows_its_stages(
    shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "2")
    file = shell.file("geo.py", "def area(radius):\n    return 3 * radius\n")
    wrong, right = (f"```python\ndef area(radius):\n    return {text}\n```" for text in ("pi", "3 * radius**2"))
    answers = script("edit", wrong, right)
    trust = ("--permission-mode", "trust")
    result = shell.run("run", "--driver", "code", "square the radius in area", "-p", answers, *trust)
    words = (
        "form ✓, behaviour not checked (parse ✓, lint ✓, types – (ty is not installed (pip install ty)), "
        "tests – (no program is known that runs the tests for geo.py))"
    )
    assert (result.code, result.out) == (0, f"geo.py:1-2: candidate 2 of 2: {words}; applied\n")
    assert file.read_text() == "def area(radius):\n    return 3 * radius**2\n"
    for line in (
        "[LOCATE] Found area at geo.py:1-2",
        "[GENERATE] Producing 2 candidates...",
        "[VERIFY] Candidate 1 is rejected: LINT: F821 Undefined name `pi`",
        f"[VERIFY] Candidate 2: {words}",
        "· the edit is applied",
    ):
        assert line in result.err.splitlines()
    assert "restored geo.py" in shell.run("sessions", "undo", "--yes").out
    replies = script("edit", right, right)
    refused = shell.run(
        "run", "--driver", "code", "--permission-mode", "plan", "square the radius in area", "-p", replies
    )
    assert (refused.code, "the permission mode plan does not allow it" in refused.out) == (1, True)
    assert "· the edit is not applied: the permission mode plan does not allow it" in refused.err
    assert file.read_text() == "def area(radius):\n    return 3 * radius\n"
    assert "no code in" in shell.run("run", "--driver", "code", "paint the zebra", "-p", script("edit")).err


@pytest.mark.parametrize("option", ["--max-seconds", "--permission-timeout"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_time_is_a_finite_number(shell: Shell, option: str, value: str):
    result = shell.run("run", "x", option, value)
    assert (result.code, "must be finite numbers; 0 means no limit" in result.err) == (2, True)


def test_an_undo_that_leaves_a_file_says_so_and_fails(shell: Shell, script: Script):
    shell.file("huge.txt", "a" * 3_000_000)
    shell.file("small.txt", "a")
    command = make_tool_call("bash", command="echo b >> huge.txt; echo b >> small.txt")
    assert shell.run("run", "x", "-p", script(command, "done"), "--permission-mode", "trust").code == 0
    # what changed while a command ran may be the work of somebody else
    seen = shell.run("sessions", "undo", "--yes")
    assert (seen.code, "small.txt is kept: it was changed while a command" in seen.out) == (1, True)
    undone = shell.run("sessions", "undo", "--yes", "--commands")
    assert (undone.code, "restored small.txt" in undone.out, "huge.txt is kept" in undone.out) == (1, True, True)
    assert (shell.folder / "small.txt").read_text() == "a"


CREATE = make_tool_call("create", path="notes.txt", text="hello\n")


def test_an_undo_without_a_person_needs_a_name_or_a_word(shell: Shell, script: Script):
    session = shell.run(
        "run", "x", "-p", script(CREATE, "done"), "--permission-mode", "trust", "--output-format", "json"
    ).json["session_id"]
    notes = shell.folder / "notes.txt"
    seen = shell.run("sessions", "undo")
    assert (seen.code, seen.out) == (1, "would remove notes.txt\n")
    assert "name the session, or write --yes" in seen.err
    assert shell.run("sessions", "undo", session, "--dry-run").out == "would remove notes.txt\n"
    assert notes.exists()
    undone = shell.run("sessions", "undo", session[-6:].lower())
    assert (undone.code, undone.out) == (0, "removed notes.txt\n")
    assert not notes.exists()
    redone = shell.run("sessions", "redo", "--yes")
    assert (redone.code, redone.out, notes.read_text()) == (0, "restored notes.txt\n", "hello\n")
    assert shell.run("sessions", "undo", session, "--json").json == {
        "session_id": session,
        "turn": 0,
        "paths": ["notes.txt"],
        "removed": ["notes.txt"],
        "skipped": {},
    }


def test_a_file_that_the_user_changed_is_kept_and_its_texts_are_offered(shell: Shell, script: Script):
    shell.file("a.py", "x = 1\n")
    edit = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
    shell.run("run", "x", "-p", script(edit, CREATE, "done"), "--permission-mode", "trust")
    shell.file("a.py", "x = 3\n")
    undone = shell.run("sessions", "undo", "--yes")
    assert undone.code == 1
    first, kept, before, after = undone.out.splitlines()
    assert (first, kept) == ("removed notes.txt", "a.py is kept: it was changed after the turn")
    texts = {line.partition(":")[0].strip(): Path(line.partition(": ")[2]).read_text() for line in (before, after)}
    assert texts == {"before the turn": "x = 1\n", "after the turn": "x = 2\n"}
    assert (shell.folder / "a.py").read_text() == "x = 3\n"
    again = shell.run("sessions", "undo", "--yes", "--force")
    assert (again.code, (shell.folder / "a.py").read_text()) == (0, "x = 1\n")
    shell.run("sessions", "redo", "--yes")
    assert (shell.folder / "a.py").read_text() == "x = 3\n"


def test_an_undo_is_about_this_folder(shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch):
    session = shell.run(
        "run", "x", "-p", script(CREATE, "done"), "--permission-mode", "trust", "--output-format", "json"
    ).json["session_id"]
    inner, other = shell.folder / "inner", shell.folder.parent / "other"
    inner.mkdir()
    other.mkdir()
    monkeypatch.chdir(other)
    undone = shell.run("sessions", "undo", "--yes")
    assert (undone.code, "there is no session of this folder" in undone.err) == (2, True)
    assert f"belongs to {shell.folder}" in shell.run("sessions", "undo", session[-8:]).err
    assert (
        f"belongs to {shell.folder}"
        in shell.run("run", "--session", session[-8:], "x", "-p", script("done"), "--permission-mode", "trust").err
    )
    assert "no session of this folder" in shell.run("sessions", "list").out
    assert [row["id"] for row in shell.run("sessions", "list", "--all", "--json").json] == [session]
    assert (shell.folder / "notes.txt").exists()
    monkeypatch.chdir(inner)
    assert f"in {shell.folder}:\nremoved notes.txt" in shell.run("sessions", "undo", "--yes").out


@pytest.mark.parametrize("mode", ["plan", "deny"])
def test_an_undo_is_an_edit_for_the_permission_gate(shell: Shell, script: Script, mode: str):
    shell.run("run", "x", "-p", script(CREATE, "done"), "--permission-mode", "trust")
    shell.file("lsp-harness.local.toml", f'[permissions]\nmode = "{mode}"\n')
    undone = shell.run("sessions", "undo", "--yes")
    assert (undone.code, f"the permission mode {mode} does not allow it" in undone.err) == (2, True)
    shell.file("lsp-harness.local.toml", '[permissions]\ndeny = ["Edit(notes.txt)"]\n')
    assert "not allowed" in shell.run("sessions", "undo", "--yes").err
    assert (shell.folder / "notes.txt").exists()


# -- the permission mode where nobody watches
WRITES = make_tool_call("create", path="b.py", text="x = 1\n")
NO_TERMINAL = "standard input is no terminal, so the permission mode is plan"


@pytest.mark.parametrize("arguments", [("run", "go"), ("write it",), ("run", "--driver", "chat", "go")])
def test_a_command_without_a_terminal_writes_no_file(shell: Shell, script: Script, arguments: tuple[str, ...]):
    result = shell.run(*arguments, "-p", script(WRITES, "no"))
    assert not (shell.folder / "b.py").exists()
    assert [event.data["by"] for event in read_last_events("permission.decided")] == ["mode"]
    assert NO_TERMINAL in result.err
    assert "--permission-mode" in result.err


def test_a_prompt_from_standard_input_writes_no_file(shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("go"))
    shell.run("run", "-", "-p", script(WRITES, "no"))
    assert not (shell.folder / "b.py").exists()


def test_an_edit_of_the_code_without_a_terminal_is_not_applied(shell: Shell, script: Script):
    file = shell.file("geo.py", "def area(r):\n    return 3 * r\n")
    right = "```python\ndef area(r):\n    return 3 * r * r\n```"
    shell.run("run", "--driver", "code", "square the radius in area", "-p", script("edit", *[right] * 8))
    assert file.read_text() == "def area(r):\n    return 3 * r\n"


@pytest.mark.parametrize("named", ["option", "settings", "terminal"])
def test_an_explicit_mode_or_a_terminal_decides_the_permission_mode(
    shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch, named: str
):
    options: list[str] = []
    match named:
        case "option":
            options = ["--permission-mode", "acceptEdits"]
        case "settings":
            find_user_config_file().parent.mkdir(parents=True, exist_ok=True)
            find_user_config_file().write_text('[permissions]\nmode = "acceptEdits"\n')
        case _:
            monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    result = shell.run("run", "go", "-p", script(WRITES, "yes"), *options)
    assert (shell.folder / "b.py").exists()
    assert NO_TERMINAL not in result.err


def test_the_default_mode_depends_on_the_surface(shell: Shell):
    assert SessionFlags().options("sdk").default_mode == ""
    assert SessionFlags().options("acp", has_person=True).default_mode == ""
    assert SessionFlags().options("cli").default_mode == "plan"
