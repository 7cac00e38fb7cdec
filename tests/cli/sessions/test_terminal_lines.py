"""Tests of the input lines of a person in a real terminal: early input, Ctrl-C, and the history."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.sessions.terminal_lines import HISTORY_LINES, LineHistory
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from tests.cli.conftest import Shell
from tests.cli.sessions.conftest import Script, make_tool_call
from tests.support.terminal_person import TerminalPerson

TOUCH = make_tool_call("bash", command="touch made", execution="inline")
EDIT = make_tool_call("edit", path="a.py", old="x = 1", new="x = 2")
WAIT = make_tool_call("bash", command="cat gate", execution="inline")
"""Runs until something is written to the pipe `gate`."""
QUESTIONS = pytest.mark.parametrize(("call", "question"), [(TOUCH, "Allow? [y/n"), (EDIT, "Apply? [y/n")])
UNDO_QUESTION = "Do it? [y/n] "
Talk = Callable[..., TerminalPerson]


@pytest.fixture
def talk(shell: Shell, script: Script) -> Iterator[Talk]:
    """Return a function that starts a conversation with these replies of the model."""
    people: list[TerminalPerson] = []
    shell.file("a.py", "x = 1\n")

    def start(*replies: str | dict[str, Any]) -> TerminalPerson:
        arguments = ["chat", "--provider", script(*replies), "--permission-mode", "ask"]
        person = TerminalPerson(arguments, shell.folder)
        people.append(person)
        person.wait_for("you: ")
        return person

    yield start
    for person in people:
        person.close()


def is_changed(folder: Path) -> bool:
    return (folder / "made").exists() or (folder / "a.py").read_text() != "x = 1\n"


def read_prompts() -> list[str]:
    store = SessionStore()
    events = read_log(store.path(store.find("")))
    return [event.data["text"] for event in events if event.type == "invocation.received"]


# -- lines that were typed too early
@QUESTIONS
@pytest.mark.parametrize("line", ["y\r", "a\ry\r"])
def test_text_that_was_typed_before_a_question_does_not_answer_it(
    shell: Shell, talk: Talk, call: dict[str, Any], question: str, line: str
):
    os.mkfifo(shell.folder / "gate")
    person = talk(WAIT, call)
    person.type("go\r")
    person.wait_for("cat gate")
    person.type_ahead(line)
    # the command ends, and the model goes on
    with closing(os.fdopen(os.open(shell.folder / "gate", os.O_WRONLY), "w")) as gate:
        gate.write("open\n")
    person.wait_for(question)
    person.type("n\r")
    person.wait_for("you: ")
    person.type("/exit\r")
    assert person.wait() == 0
    assert not is_changed(shell.folder)
    assert b"please answer" not in person.seen


@QUESTIONS
def test_the_rest_of_a_burst_of_keys_answers_no_question(shell: Shell, talk: Talk, call: dict[str, Any], question: str):
    person = talk(call)
    person.type("go\ry\ry\r")
    person.wait_for(question)
    person.type("n\r")
    person.wait_for("you: ")
    person.type("/exit\r")
    assert person.wait() == 0
    assert not is_changed(shell.folder)


def test_a_line_that_was_typed_before_the_prompt_is_the_next_prompt(shell: Shell, talk: Talk):
    os.mkfifo(shell.folder / "gate")
    person = talk(WAIT, "done", "next")
    person.type("go\r")
    person.wait_for("cat gate")
    person.type_ahead("and then\r")
    with closing(os.fdopen(os.open(shell.folder / "gate", os.O_WRONLY), "w")) as gate:
        gate.write("open\n")
    person.wait_for("next")
    person.type("/exit\r")
    assert person.wait() == 0
    assert read_prompts() == ["go", "and then"]


# -- Ctrl-C
@QUESTIONS
def test_ctrl_c_at_a_question_asks_it_again(shell: Shell, talk: Talk, call: dict[str, Any], question: str):
    person = talk(call, "done")
    person.type("go\r")
    person.wait_for(question)
    person.type("n\x03")
    person.wait_for("Ctrl-C again ends")
    person.wait_for(question)
    person.type("y\r")
    person.wait_for("done")
    person.type("/exit\r")
    assert person.wait() == 0
    assert is_changed(shell.folder)


@QUESTIONS
def test_ctrl_c_twice_at_a_question_ends_without_an_action(
    shell: Shell, talk: Talk, call: dict[str, Any], question: str
):
    person = talk(call)
    person.type("go\r")
    person.wait_for(question)
    person.type("\x03")
    person.wait_for("Ctrl-C again ends")
    person.wait_for(question)
    person.type("\x03")
    assert person.wait() == 130
    assert not is_changed(shell.folder)
    assert b"Traceback" not in person.seen


@pytest.mark.parametrize("is_signal", [False, True])
def test_ctrl_c_at_the_prompt_clears_the_line_and_takes_no_other(talk: Talk, is_signal: bool):
    person = talk("first", "second")
    for answer in ("first", "second"):
        person.type("half a line")
        person.wait_for("half a line")
        if is_signal:
            person.process.send_signal(signal.SIGINT)
        else:
            person.type("\x03")
        person.wait_for("Ctrl-C again ends")
        person.wait_for("you: ")
        person.type(f"say {answer}\r")
        person.wait_for(f"lsp-harness: {answer}")
        person.wait_for("you: ")
    assert read_prompts() == ["say first", "say second"]
    person.type("\x03")
    person.wait_for("Ctrl-C again ends")
    person.wait_for("you: ")
    person.type("\x03")
    assert person.wait() == 130
    assert b"Traceback" not in person.seen


def test_ctrl_c_stops_each_answer_and_not_the_conversation(talk: Talk):
    person = talk({"text": "thinking", "hang": True}, {"text": "musing", "hang": True}, "better")
    for words in ("thinking", "musing"):
        person.type("go\r")
        person.wait_for(words)
        person.type("\x03")
        person.wait_for("the turn ended: interrupted")
        person.wait_for("you: ")
    person.type("quick\r")
    person.wait_for("better")
    person.wait_for("you: ")
    person.type("\x04")
    assert person.wait() == 0


def test_a_signal_at_the_prompt_leaves_the_terminal_as_it_was(talk: Talk):
    person = talk()
    person.type("half a line")
    person.wait_for("half a line")
    assert not person.is_echoing
    person.process.send_signal(signal.SIGTERM)
    assert person.wait() == 128 + signal.SIGTERM
    assert person.is_echoing


# -- the question of `sessions undo`
@pytest.fixture
def undo(shell: Shell, script: Script) -> Iterator[TerminalPerson]:
    """Yield a person who runs `sessions undo` in a folder in which a turn has changed `a.py`."""
    shell.file("a.py", "x = 1\n")
    shell.run("run", "--provider", script(EDIT, "done"), "--permission-mode", "trust", "go")
    person = TerminalPerson(["sessions", "undo"], shell.folder)
    yield person
    person.close()


@pytest.mark.parametrize(("line", "is_undone"), [("n\r", False), ("maybe\ry\r", True), ("y\r", True), ("\x04", False)])
def test_an_undo_waits_for_a_yes(shell: Shell, undo: TerminalPerson, line: str, is_undone: bool):
    assert b"would restore a.py" in undo.wait_for(UNDO_QUESTION)
    for part in line.splitlines(keepends=True):
        undo.type(part)
        if part == "maybe\r":
            undo.wait_for("Write y or n.")
            undo.wait_for(UNDO_QUESTION)
    assert undo.wait() == (0 if is_undone else 1)
    assert is_changed(shell.folder) != is_undone


def test_text_that_was_typed_before_an_undo_does_not_answer_its_question(shell: Shell, undo: TerminalPerson):
    undo.type_ahead("y\ry\r")
    undo.wait_for(UNDO_QUESTION)
    undo.type("n\r")
    assert undo.wait() == 1
    assert is_changed(shell.folder)


def test_ctrl_c_at_an_undo_clears_the_line_and_twice_ends(shell: Shell, undo: TerminalPerson):
    undo.wait_for(UNDO_QUESTION)
    undo.type("y\x03")
    undo.wait_for("Ctrl-C again ends")
    undo.wait_for(UNDO_QUESTION)
    undo.type("\x03")
    assert undo.wait() == 128 + signal.SIGINT
    assert undo.is_echoing
    assert is_changed(shell.folder)
    assert b"Traceback" not in undo.seen


# -- the history
def test_the_history_has_the_lines_but_no_answers(shell: Shell, talk: Talk):
    person = talk(TOUCH, "done", "again")
    person.type("go now\r")
    person.wait_for("Allow? [y/n")
    person.type("y\r")
    person.wait_for("you: ")
    person.type("\x1b[A\r")
    person.wait_for("again")
    person.type("/exit\r")
    assert person.wait() == 0
    assert read_prompts() == ["go now", "go now"]


def test_a_history_keeps_only_its_last_lines(tmp_path: Path):
    file = tmp_path / "chat_history"
    file.write_text("".join(f"line {number}\n" for number in range(3 * HISTORY_LINES)))
    assert [*LineHistory(file).load_history_strings()][::999] == ["line 2999", "line 2000"]
    assert len(file.read_text().splitlines()) == HISTORY_LINES
    LineHistory(file).store_string("two\nlines")
    assert next(iter(LineHistory(file).load_history_strings())) == "two lines"
    assert [*LineHistory(tmp_path / "none").load_history_strings()] == []
