"""The question of a command on a real terminal before code of a folder runs that is not trusted."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_harness.cli.sessions.terminal_person import TerminalPerson as AskingTerminal
from lsp_harness.permission.action import SUITE_TOOL, Action
from lsp_harness.permission.person import PermissionQuestion
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from tests.cli.conftest import Shell
from tests.support.terminal_person import TerminalPerson

QUESTION, AGAIN = "Allow? [y/n] ", "Ctrl-C again ends the command"
EXIT_DENIED = 5

pytestmark = pytest.mark.skipif(not machine_sandbox().is_confined, reason="no sandbox works here")


@pytest.fixture
def person(shell: Shell) -> Iterator[TerminalPerson]:
    """Yield a person who runs `fix --tests --apply` in a folder that is not trusted."""
    shell.file("area.py", "def double(n):\n    return 7 * n\n")
    shell.file("test_area.py", "from area import double\n\n\ndef test_double():\n    assert double(4) == 8\n")
    shell.replies("return 2 * n", "return 2 * n")
    person = TerminalPerson(["fix", "area.py", "--tests", "--apply"], shell.folder)
    yield person
    person.close()


def is_repaired(shell: Shell) -> bool:
    return (shell.folder / "area.py").read_text() == "def double(n):\n    return 2 * n\n"


def test_the_question_shows_the_commands_and_a_yes_runs_them_once(shell: Shell, person: TerminalPerson):
    shown = person.wait_for(QUESTION).decode()
    facts = (SUITE_TOOL, "pytest", f"folder: {shell.folder}", "sandbox: ", "interpreter: ", "asked because: ")
    for text in (*facts, "permissions.trusted_folders"):
        assert text in shown
    person.type("y\r")
    assert person.wait() == 0
    assert is_repaired(shell)
    assert person.seen.count(b"asked because") == 1


@pytest.mark.parametrize("line", ["n\r", "no\r", "\x04"])
def test_a_no_and_the_end_of_the_input_start_no_command(shell: Shell, person: TerminalPerson, line: str):
    person.wait_for(QUESTION)
    person.type(line)
    assert person.wait() == EXIT_DENIED
    assert b"the tests may not run: you" in person.seen
    assert not is_repaired(shell)


def test_an_answer_that_is_neither_yes_nor_no_repeats_the_question(shell: Shell, person: TerminalPerson):
    for line in ("maybe\r", "\r", "s\r", "a\r", "yep\r"):
        person.wait_for(QUESTION)
        person.type(line)
        person.wait_for("please answer with y = yes, n = no")
    person.wait_for(QUESTION)
    person.type("n\r")
    assert person.wait() == EXIT_DENIED


def test_text_that_was_typed_before_the_question_is_no_answer(shell: Shell, person: TerminalPerson):
    person.type_ahead("y\ry\r")
    person.wait_for(QUESTION)
    person.type("n\r")
    assert person.wait() == EXIT_DENIED
    assert not is_repaired(shell)


def test_ctrl_c_clears_the_line_and_asks_again(shell: Shell, person: TerminalPerson):
    person.wait_for(QUESTION)
    person.type("n\x03")
    person.wait_for(AGAIN)
    person.wait_for(QUESTION)
    person.type("y\r")
    assert person.wait() == 0
    assert is_repaired(shell)


@pytest.mark.parametrize("is_signal", [False, True])
def test_ctrl_c_twice_and_a_signal_end_the_command_and_take_no_other_line(
    shell: Shell, person: TerminalPerson, is_signal: bool
):
    person.wait_for(QUESTION)
    if is_signal:
        person.process.send_signal(signal.SIGINT)
    else:
        person.type("\x03")
        person.wait_for(AGAIN)
        person.wait_for(QUESTION)
        person.type("\x03")
    assert person.wait() == 128 + signal.SIGINT
    assert person.is_echoing
    assert b"Traceback" not in person.seen
    assert not is_repaired(shell)


async def test_without_a_terminal_the_question_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as empty:
        monkeypatch.setattr(sys, "stdin", empty)
        question = PermissionQuestion("1", Action(SUITE_TOOL, "execute", untrusted=Path("/somewhere")), "why")
        assert await AskingTerminal().ask(question) is None
