"""`lsp-harness sessions`: the summary of a session."""

from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_harness.cli.sessions.sessions_cli import count_tokens
from lsp_harness.config import paths
from lsp_harness.config.load import load
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.client import EngineClient
from lsp_harness.kernel.log.session_log import SessionLog
from tests.cli.conftest import Shell


def log_request(text: str) -> str:
    log = SessionLog(paths.sessions_folder())
    log.turn().append(InvocationReceived("edit", text, "a.py"))
    log.close()
    return log.id


def test_sessions_show_prints_the_last_session_or_a_named_one(shell: Shell):
    assert "there is no session yet" in shell.run("sessions", "show", "--summary").err
    first, last = sorted([log_request("use pi"), log_request("use tau")])
    assert shell.run("sessions", "show", "--summary").out.startswith(f"{last}, 1 turn\nGoal: use")
    assert shell.run("sessions", "show", "--summary", first).out.startswith(f"{first}, 1 turn\nGoal: use")
    assert shell.run("sessions", "show", "--summary", first, "--json").json["files"] == ["a.py"]


def write_long_session() -> None:
    """Write a session with forty edits of forty files."""
    log = SessionLog(paths.sessions_folder())
    for n in range(40):
        log.turn().append(InvocationReceived("edit", f"change {n}: {'very ' * 20}much", f"m{n}.py"))
    log.close()


def test_a_summary_has_200_tokens_or_the_whole_session_on_request(shell: Shell):
    write_long_session()
    head, *lines, more = shell.run("sessions", "show", "--summary").out.splitlines()
    assert (head.endswith(", 40 turns"), more) == (True, "(--all shows more)")
    assert lines[0].startswith("Goal: change 39: very")
    assert 150 < sum(estimate_counts([f"{line}\n" for line in lines])) <= 200
    everything = shell.run("sessions", "show", "--summary", "--all").out
    assert all(f"change {n}: {'very ' * 20}much (m{n}.py)" in everything for n in range(40))
    assert "--all" not in everything
    log_request("use pi")
    assert "--all" not in shell.run("sessions", "show", "--summary").out


async def test_tokens_are_counted_by_the_loaded_model_of_an_engine(
    home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    lines = ["Goal: use pi\n", "Touched: area\n"]
    assert await count_tokens(lines) == estimate_counts(lines)
    # nothing was started for that
    assert not list(paths.runtime_folder().glob("engine-*.sock"))
    async with aclosing(EngineClient(load(Path.cwd())[0])) as engine:
        expected = await engine.count(lines)
        assert await count_tokens(lines) == expected != estimate_counts(lines)


def test_an_unknown_or_ambiguous_name_of_a_session_is_refused(shell: Shell):
    log_request("use pi")
    log_request("use tau")
    assert (
        shell.run("sessions", "show", "--summary", "nope").err
        == "lsp-harness: there is no session 'nope'; `lsp-harness sessions list` shows them\n"
    )
    assert "2 sessions begin with '0'" in shell.run("sessions", "show", "--summary", "0").err


def test_a_type_of_events_that_does_not_exist_is_named(shell: Shell):
    log_request("use pi")
    result = shell.run("events", "--types", "turn.started,nope")
    assert (result.code, "there is no type of event 'nope'" in result.err) == (2, True)


def test_the_title_of_a_session_names_the_file_of_a_request_and_what_a_tool_was_called_for(shell: Shell):
    log_request("unused import os")
    shell.file("notes.txt", "hello\n")
    assert shell.run("tools", "call", "read", '{"path": "notes.txt"}').code == 0
    titles = [row["title"] for row in shell.run("sessions", "list", "--all", "--json").json]
    assert titles == ["call the tool read notes.txt", "a.py: unused import os"]
