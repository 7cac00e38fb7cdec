"""The text of a question: all that would happen, why it is asked, and what a longer yes would allow."""

from pathlib import Path

import pytest

from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.permission.question_text import RememberedRules, describe_call, describe_question

FILE = Path("/u/config.toml")


def check(action: Action, expected: str, *rules: str, file: Path | None = FILE, reason: str = "the mode asks") -> None:
    assert describe_question(action, "/ws", reason, RememberedRules(rules, file)) == expected.strip("\n")


def test_a_question_about_a_command_shows_folder_reason_and_rules():
    action = Action("bash", "execute", {"command": "git push", "execution": "inline"}, command="git push")
    expected = """
bash: run a program
  git push
folder: /ws
execution: inline
asked because: the mode asks
for this session, or always (saved in /u/config.toml, for all folders), it would allow:
  bash(git push *) = git push, alone and with any arguments
"""
    check(action, expected, "bash(git push *)")


def test_tests_name_their_program_their_folder_and_their_interpreter():
    facts = {"folder": "/ws/api", "interpreter": "/ws/.venv/bin/python (the folder .venv)"}
    action = Action("tests", "execute", facts, argv=("pytest", "tests/test a.py"))
    expected = """
tests: run a program
  pytest 'tests/test a.py'
folder: /ws/api
interpreter: /ws/.venv/bin/python (the folder .venv)
asked because: the mode asks
"""
    check(action, expected)


def test_a_question_about_an_edit_shows_its_files_and_its_whole_diff():
    paths = (Path("/ws/a.py"), Path("/ws/b.py"))
    given = {"path": "/ws/a.py", "summary": "two", "diff": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"}
    expected = """
edit: change files
file: /ws/a.py
file: /ws/b.py
summary: two
  --- a/a.py
  +++ b/a.py
  @@ -1 +1 @@
  -x
  +y
asked because: the mode asks
for this session it would allow, and always is no longer, because there is no settings file:
  edit(src/*) = edit of all files that match src/*
  read = every use of read
"""
    check(Action("edit", "edit", given, paths), expected, "edit(src/*)", "read", file=None)


@pytest.mark.parametrize("kind", ["read", "edit", "execute", "network", "agent"])
def test_every_member_of_an_input_is_shown(kind: ActionKind):
    given = {"a": {"b": ["c\u202e", 1]}, "d\ne": "f\ng", "path": "elsewhere", "new": 5}
    text = describe_question(Action("mcp__x__y\x1b", kind, given, (Path("/ws/a"),)), "/ws")
    for line in ['a: {"b": ["c\\u202e", 1]}', "d\\u000ae:", "  f", "  g", "path: elsewhere", "new: 5", "file: /ws/a"]:
        assert line in text.split("\n")
    assert text.startswith("mcp__x__y\\u001b: ")


def test_a_question_of_another_program_is_shown_as_a_whole():
    text = describe_call("may I?\nplease", "shell", {"command": ["sh", "-c", "x" * 10_000], "cwd": "/ws"})
    assert text == f'  may I?\n  please\nshell:\ncommand: ["sh", "-c", "{"x" * 10_000}"]\ncwd: /ws'
    assert describe_call("", "", {}) == ""


def test_no_answer_for_longer_is_offered_to_other_agents():
    action = Action("bash", "execute", {}, command="ls")
    assert (
        describe_question(action, "/ws", "it asks") == "bash: run a program\n  ls\nfolder: /ws\nasked because: it asks"
    )
