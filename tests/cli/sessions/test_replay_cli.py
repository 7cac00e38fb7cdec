"""`lsp-harness replay`: a session computed again from its log."""

import json

from lsp_harness.kernel.log.session_store import SessionStore
from tests.cli.conftest import Shell
from tests.cli.sessions.conftest import Script, make_tool_call


def test_the_log_gives_the_same_state_and_the_same_prompts(shell: Shell, script: Script):
    shell.file("a.py", "x = 1\n")
    shell.run("run", "what is x?", "--provider", script(make_tool_call("read", path="a.py"), "one"))
    result = shell.run("replay")
    assert result.code == 0
    assert "without gaps" in result.out
    assert "state: equal, with 4 messages" in result.out
    assert "prompts: 2 of 2 are equal" in result.out
    before = SessionStore().path(SessionStore().find("")).read_bytes()
    shell.run("replay")
    assert SessionStore().path(SessionStore().find("")).read_bytes() == before
    assert len(SessionStore().ids()) == 1


def test_the_answers_of_another_model_are_compared(shell: Shell, script: Script):
    shell.run("run", "hello", "--provider", script("one"))
    same = shell.run("replay", "--model", "--provider", script("one"))
    assert (same.code, "the same answer" in same.out) == (0, True)
    other = shell.run("replay", "--model", "--provider", script("two"))
    assert other.code == 0
    assert "  -one\n  +two\n" in other.out
    [call] = shell.run("replay", "--model", "--provider", script("two"), "--json").json["calls"]
    assert (call["recorded"], call["answer"], call["is_same_answer"]) == ("one", "two", False)


def test_a_replay_reports_gaps_and_different_prompts(shell: Shell, script: Script):
    shell.run("run", "hello", "--provider", script("one"), "--system-prompt", "another")
    path = SessionStore().path(SessionStore().find(""))
    assert "prompts: 0 of 1 are equal" in shell.run("replay").out
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]))
    result = shell.run("replay")
    assert (result.code, "without the numbers 2" in result.out) == (1, True)
    assert shell.run("replay", "nope").code == 2


def test_a_damaged_sequence_number_does_not_count_for_ever(shell: Shell, script: Script):
    shell.run("run", "go", "-p", script("hello"))
    log = SessionStore().path(SessionStore().find(""))
    last = json.loads(log.read_text().splitlines()[-1])
    log.write_text(log.read_text() + json.dumps({**last, "seq": 10**30}) + "\n")
    assert shell.run("replay").code == 1
