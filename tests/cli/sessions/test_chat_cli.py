"""`lsp-harness chat`: a conversation with fake lines of a person."""

import asyncio
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.sessions.chat_cli import TerminalConversation, converse
from lsp_harness.cli.sessions.line_reader import LineCancelledError
from lsp_harness.cli.sessions.session_client import SessionNotOpened
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import ExtraMissing
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from tests.cli.conftest import Shell
from tests.cli.sessions.conftest import Script, make_tool_call


class Person:
    """A person who types prepared lines and records the questions. None is Ctrl-C."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.questions: list[str] = []

    async def read(self, prompt: str) -> str | None:
        self.questions.append(prompt)
        if not self.lines:
            return None
        line = self.lines.pop(0)
        if line is None:
            raise LineCancelledError
        return line

    async def answer(self, question: str) -> str | None:
        return await self.read(question)

    def cancel(self) -> bool:
        return False


def talk(provider: str, *lines: str | None, **flags: Any) -> tuple[int, Person]:
    person = Person(*lines)
    code = asyncio.run(TerminalConversation(SessionFlags(provider=provider, **flags), person).run())
    assert person.lines == []
    return code, person


def read_decisions() -> list[tuple[str, str]]:
    store = SessionStore()
    events = read_log(store.path(store.find("")))
    return [(e.data["tool"], f"{e.data['decision']} {e.data['by']}") for e in events if e.type == "permission.decided"]


def test_a_conversation_has_turns_and_ends(script: Script, capsys: pytest.CaptureFixture[str]):
    code, _ = talk(script("hello", {"text": "still here", "expect": "hello"}), "hi", "", "and now?", "/exit")
    out = capsys.readouterr().out
    assert code == 0
    assert "lsp-harness: hello\n" in out
    assert "lsp-harness: still here\n" in out


def test_an_edit_is_shown_and_applied_after_a_yes(shell: Shell, script: Script, capsys: pytest.CaptureFixture[str]):
    shell.file("a.py", "x = 1\n")
    edit = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
    code, person = talk(script(edit), "make it two", "n", permission_mode="ask")
    assert (code, (shell.folder / "a.py").read_text()) == (0, "x = 1\n")
    assert "Apply? [y/n · s = for this session, a = always] " in person.questions
    assert "  - x = 1\n  + x = 2\n" in capsys.readouterr().out
    # whoever refuses wants the model to stop
    assert read_decisions() == [("lint", "allow mode"), ("edit", "deny person")]
    talk(script(edit, "done"), "make it two", "y", permission_mode="ask")
    assert (shell.folder / "a.py").read_text() == "x = 2\n"


@pytest.mark.parametrize(("answer", "questions"), [("y", 2), ("s", 1), ("a", 1)])
def test_a_command_is_allowed_once_for_the_session_or_always(shell: Shell, script: Script, answer: str, questions: int):
    touch = make_tool_call("bash", command="touch made", execution="inline")
    again = make_tool_call("bash", command="touch made  ", execution="inline")
    lines = ["go", *[answer] * questions]
    _, person = talk(script(touch, again, "done"), *lines, permission_mode="ask")
    asked = [question for question in person.questions if question.startswith("Allow?")]
    assert len(asked) == questions
    assert "s = for this session" in asked[0]
    assert (shell.folder / "made").exists()


def test_a_person_is_asked_unless_the_settings_say_otherwise(shell: Shell, script: Script):
    create = make_tool_call("create", path="a.py", text="x = 1\n")
    talk(script(create), "go", "n")
    assert read_decisions() == [("lint", "allow mode"), ("create", "deny person")]
    shell.file("lsp-harness.local.toml", '[permissions]\nmode = "plan"\n')
    talk(script(create, "I cannot"), "go")
    assert read_decisions() == [("create", "deny mode")]


def test_slash_commands_change_the_mode_and_undo_and_report(
    shell: Shell, script: Script, capsys: pytest.CaptureFixture[str]
):
    shell.file("a.py", "x = 1\n")
    edit = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
    talk(
        script(edit, "done"),
        "/mode trust",
        "make it two",
        "/undo",
        "/status",
        "/tasks",
        "/mcp",
        "/fork",
        "/nope",
        "/mode nope",
    )
    out = capsys.readouterr().out
    assert (shell.folder / "a.py").read_text() == "x = 1\n"
    assert "permission_mode: trust" in out
    assert "a.py" in out
    assert "turns: 1" in out
    assert "no task was started in this session\nthe settings name no MCP server" in out
    assert "nope" in out
    assert "/undo         undo the edits of the last turn" in out
    assert len(SessionStore().ids()) == 2


IMPOSSIBLE = {
    "no file": make_tool_call("edit", path="b.py", old="x", new="y"),
    "no change": make_tool_call("edit", path="a.py", old="x = 1", new="x = 1"),
    "no such text": make_tool_call("edit", path="a.py", old="y = 1", new="y = 2"),
    "twice": make_tool_call("edit", path="a.py", old="=", new="=="),
    "it exists": make_tool_call("create", path="a.py", text="x = 2"),
    "no symbol": make_tool_call("replace_symbol_body", path="a.py", name="f", text="def f(): ..."),
}


@pytest.mark.parametrize("call", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_edit_fails_without_a_question(shell: Shell, script: Script, call: dict[str, Any]):
    shell.file("a.py", "x = 1\ny2 = 3\n")
    _, person = talk(script(call, "done"), "go")
    assert person.questions == ["you: ", "you: "]
    assert read_decisions() == []


def test_a_file_that_may_not_be_read_is_not_compared_before_a_question(shell: Shell, script: Script):
    shell.file("a.py", "x = 1\n")
    shell.set("LSP_HARNESS_PERMISSIONS__DENY", '["Read(a.py)"]')
    talk(script(IMPOSSIBLE["no such text"]), "go", "n")
    [(_, decided)] = read_decisions()
    assert decided.startswith("deny")


def test_the_name_of_the_folder_cannot_control_the_terminal(
    shell: Shell, script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    folder = shell.folder / "a\x1b]0;b\x07"
    folder.mkdir()
    monkeypatch.chdir(folder)
    talk(script("done"), "go", "/status")
    assert not {"\x1b", "\x07"} & set(capsys.readouterr().out)


def test_some_commands_work_without_a_slash_and_do_not_reach_the_model(
    shell: Shell, script: Script, capsys: pytest.CaptureFixture[str]
):
    shell.file("a.py", "x = 1\n")
    edit = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
    talk(script(edit, "done"), "/mode trust", "make it two", "Undo", "help", "/status", "exit")
    out = capsys.readouterr().out
    assert (shell.folder / "a.py").read_text() == "x = 1\n"
    assert "/undo         undo the edits of the last turn" in out
    # for a person: no brackets of Python, and nothing about what there is not
    assert "tools: read, edit, create, " in out
    assert "is_idle: yes\n" in out
    assert "questions:" not in out


def test_ctrl_c_stops_the_answer_and_not_the_conversation(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    provider = script({"text": "thinking", "hang": True}, "better")
    person = Person("slow", "quick")

    async def run() -> int:
        conversation = TerminalConversation(SessionFlags(provider=provider), person)
        task = asyncio.ensure_future(conversation.run())
        while "thinking" not in (out := capsys.readouterr().out):
            assert out is not None
            await asyncio.sleep(0)
        conversation.press_ctrl_c()
        return await task

    assert asyncio.run(run()) == 0
    out = capsys.readouterr().out
    assert "the turn ended: interrupted" in out
    assert "lsp-harness: better\n" in out


def test_a_session_that_cannot_be_opened_is_an_error(script: Script):
    with pytest.raises(SessionNotOpened, match="there is no session 'nope'") as error:
        talk(script(), resume="nope")
    assert error.value.exit_code == 2


def test_a_continued_conversation_says_how_many_events_were_loaded(script: Script, capsys: pytest.CaptureFixture[str]):
    talk(script("one"), "first")
    talk(script({"text": "two", "expect": "first"}), "second", resume=SessionStore().find(""))
    assert "events loaded" in capsys.readouterr().out


def test_control_characters_of_a_model_do_not_reach_the_terminal(script: Script, capsys: pytest.CaptureFixture[str]):
    call = make_tool_call("bash", command="echo \x9b31m", execution="inline")
    talk(script(call), "go", "n", permission_mode="ask")
    create = make_tool_call("create", path="a.txt", text="\x1b[2J \x9b31m\n")
    talk(script(create), "go", "n", permission_mode="ask")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert "\\u009b31m" in out


@pytest.fixture(autouse=True)
def in_the_project(shell: Shell) -> Path:
    return shell.folder


def test_the_program_alone_begins_to_work_on_the_project_in_a_terminal(shell: Shell, script: Script):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "LSP_HARNESS_PROVIDER": script("other")}
    process = subprocess.Popen(
        [sys.executable, "-m", "lsp_harness"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    seen = b""
    try:
        seen = read_until(ours, b"you: ")
        os.write(ours, b"good morning to you\n")
        # one read may return the answer and the next prompt together
        answer = read_until(ours, b"Which code is it about")
        while b"you: " not in answer[answer.index(b"Which code") :]:
            answer += os.read(ours, 4096)
        os.write(ours, b"\x04")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"permission mode" in seen


def read_until(descriptor: int, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        seen += os.read(descriptor, 4096)
    return seen


def test_the_program_alone_without_a_terminal_says_what_to_write(shell: Shell):
    result = subprocess.run(
        [sys.executable, "-m", "lsp_harness"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no prompt" in result.stderr


# -- questions
@pytest.mark.parametrize("wrong", ["maybe", "", "   ", "yess", "ja", "1", "apply", "y n", "v", "\x1b[A", "Y?"])
@pytest.mark.parametrize("tool", ["edit", "bash"])
def test_only_an_explicit_yes_is_a_yes_and_only_a_no_loses_the_work(
    shell: Shell, script: Script, capsys: pytest.CaptureFixture[str], tool: str, wrong: str
):
    shell.file("a.py", "x = 1\n")
    edit = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
    call = edit if tool == "edit" else make_tool_call("bash", command="touch made", execution="inline")
    _, person = talk(script(call, "done"), "go", wrong, wrong, "YES", permission_mode="ask")
    assert len([question for question in person.questions if "?" in question]) == 3
    assert next(one for one in read_decisions() if one != ("lint", "allow mode")) == (tool, "allow person")
    if wrong != "v":
        assert "please answer with y = yes, n = no" in capsys.readouterr().out


def test_no_answer_is_a_no(shell: Shell, script: Script):
    call = make_tool_call("bash", command="touch made", execution="inline")
    person = Person("go")
    assert (
        asyncio.run(TerminalConversation(SessionFlags(provider=script(call), permission_mode="ask"), person).run()) == 0
    )
    assert read_decisions() == [("bash", "deny person")]


def test_a_command_that_no_rule_can_allow_is_not_remembered(shell: Shell, script: Script):
    call = make_tool_call("bash", command="curl x | sh", execution="inline")
    _, person = talk(script(call), "go", "a", "s", "n", permission_mode="ask")
    assert person.questions[1:4] == ["Allow? [y/n] "] * 3
    assert read_decisions() == [("bash", "deny person")]


def test_a_long_question_is_folded_and_never_cut(shell: Shell, script: Script, capsys: pytest.CaptureFixture[str]):
    text = "".join(f"# line {number}\n" for number in range(4_000))
    create = make_tool_call("create", path="b.py", text=text)
    _, person = talk(script(create), "go", "v", "n", permission_mode="ask")
    folded, whole = capsys.readouterr().out.split("# line 3999", 1)
    assert "# line 0\n" in folded
    assert "# line 2000\n" not in folded
    assert re.search(r"\n… \d+ more characters, press v\n", folded)
    assert "".join(f"  + # line {number}\n" for number in range(4_000)) in whole + "# line 3999"
    assert "v = view all" in person.questions[1]


def test_ctrl_c_asks_again_and_twice_ends(shell: Shell, script: Script):
    call = make_tool_call("bash", command="touch made", execution="inline")
    code, person = talk(script(call, "done"), None, "go", None, "y", permission_mode="ask")
    assert (code, (shell.folder / "made").exists()) == (0, True)
    assert [question[:4] for question in person.questions] == ["you:", "you:", "Allo", "Allo", "you:"]
    assert talk(script(call), "go", None, None, permission_mode="ask")[0] == 130
    assert talk(script(), None, None)[0] == 130


@pytest.mark.parametrize(
    ("lines", "is_made"), [("go\ny\n/exit\n", True), ("go\nmaybe\ny\n", True), ("go\nn\n", False), ("go\nyep\n", False)]
)
def test_input_from_a_pipe_answers_the_questions_of_a_conversation(
    shell: Shell, script: Script, lines: str, is_made: bool
):
    call = make_tool_call("bash", command="touch made", execution="inline")
    result = run_with_input(lines, "chat", "--provider", script(call, *["done"] * is_made))
    assert (result.returncode, (shell.folder / "made").exists()) == (0, is_made)


def run_with_input(lines: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lsp_harness", *arguments]
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=False, timeout=60)


def test_a_terminal_needs_the_extra_and_a_pipe_does_not(script: Script, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    monkeypatch.delitem(sys.modules, "lsp_harness.cli.sessions.terminal_lines", raising=False)
    flags = SessionFlags(provider=script())
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(ExtraMissing, match=r"lsp-harness\[tui\]"):
        converse(flags)
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert converse(flags) == 0
