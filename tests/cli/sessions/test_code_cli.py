"""`lsp-harness code`: the transcript of an edit, with fake lines of a person and a scripted model."""

import asyncio
import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lsp_harness.cli.sessions.chat_cli import TerminalConversation
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.config.load import find_user_config_file
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.session_state import project_session
from tests.cli.conftest import Shell
from tests.cli.sessions.conftest import Script
from tests.cli.sessions.test_chat_cli import Person

CONFIG = """\
import json


def parse_config(path):
    with open(path) as file:
        return json.load(file)
"""
WRONG = """```python
def parse_config(path):
    if not isinstance(path, str | Path):
        raise TypeError("path must be a text")
    with open(path) as file:
        return json.load(file)
```"""
RIGHT = WRONG.replace("str | Path", "str")
TRANSCRIPT = """\
scripted:replies.json in {folder} · permission mode ask · /help
 lsp-harness:
[UNDERSTAND] edit
[LOCATE] Found parse_config at src/config.py:4-6
[PLAN] Skipped: one edit; nothing else depends on parse_config
[GENERATE] Producing 5 candidates...
[VERIFY] Candidate 1 is rejected: LINT: F821 Undefined name `Path`
[VERIFY] Candidate 2 is rejected: the same as candidate 1
[VERIFY] Candidate 3: form ✓, behaviour not checked (parse ✓, lint ✓, {types}, {tests})
edit: change files
file: {folder}/src/config.py
summary: candidate 3 of 3: form ✓, behaviour not checked (parse ✓, lint ✓, {types}, {tests})
  --- a/src/config.py
  +++ b/src/config.py
  @@ -2,5 +2,7 @@
  \x20
  \x20
   def parse_config(path):
  +    if not isinstance(path, str):
  +        raise TypeError("path must be a text")
       with open(path) as file:
           return json.load(file)
asked because: the permission mode ask asks
for this session, or always (saved in {settings}, for all folders), it would allow:
  edit(src/config.py) = edit of all files that match src/config.py
· the edit is applied
"""


APPLY = "Apply? [y/n · s = for this session, a = always · r = retry, h = help] "


@pytest.fixture
def project(shell: Shell) -> Path:
    (shell.folder / "src").mkdir()
    shell.file("src/config.py", CONFIG)
    shell.file("lsp-harness.toml", "[generation]\ncandidates = 5\n[index]\nenabled = true\n")
    return shell.folder


def converse(flags: SessionFlags, *lines: str) -> Person:
    person = Person(*lines)
    assert asyncio.run(TerminalConversation(replace(flags, driver="code"), person).run()) == 0
    assert person.lines == []
    return person


def test_an_edit_prints_the_expected_transcript(project: Path, script: Script, capsys: pytest.CaptureFixture[str]):
    provider = script("edit", WRONG, WRONG, RIGHT, RIGHT, RIGHT)
    person = converse(SessionFlags(provider=provider, cwd=str(project)), "add input validation to parse_config", "y")
    assert person.questions == ["you: ", APPLY, "you: "]
    assert capsys.readouterr().out == TRANSCRIPT.format(
        folder=project,
        settings=find_user_config_file(),
        types="types – (ty is not installed (pip install ty))",
        tests="tests – (no program is known that runs the tests for config.py)",
    )
    assert "path must be a text" in (project / "src/config.py").read_text()


def test_a_no_leaves_the_file_and_an_answer_is_shown(project: Path, script: Script, capsys: pytest.CaptureFixture[str]):
    provider = script("edit", *[RIGHT] * 5, "It reads a file.")
    converse(SessionFlags(provider=provider), "validate the input of parse_config", "n", "what does parse_config do?")
    out = capsys.readouterr().out
    assert (project / "src/config.py").read_text() == CONFIG
    assert "· the edit is not applied: the user said no" in out
    assert "[UNDERSTAND] explain\n[LOCATE] Found parse_config at src/config.py:4-6\nsrc/config.py:4-6\n" in out
    assert "        return json.load(file)\n\nIt reads a file." in out


def test_another_change_is_made_with_what_the_person_says(
    project: Path, script: Script, capsys: pytest.CaptureFixture[str]
):
    other = RIGHT.replace("TypeError", "ValueError")
    provider = script("edit", *[RIGHT] * 5, *[other] * 5)
    lines = ("validate the input of parse_config", "maybe", "h", "r", "raise a ValueError", "y")
    person = converse(SessionFlags(provider=provider), *lines)
    assert person.questions == ["you: ", APPLY, APPLY, APPLY, "What should be different? ", APPLY, "you: "]
    out = capsys.readouterr().out
    # an answer that is none is asked again, and help says what they do
    assert "please answer with y = yes" in out
    assert "r  make another change" in out
    assert "you: try again, raise a ValueError\n" in out
    assert "ValueError" in (project / "src/config.py").read_text()


def test_the_first_prompt_may_be_an_argument(project: Path, script: Script, capsys: pytest.CaptureFixture[str]):
    person = Person()
    conversation = TerminalConversation(SessionFlags(provider=script(), driver="code"), person)
    assert asyncio.run(conversation.run("where is parse_config?")) == 0
    assert "you: where is parse_config?\n" in (out := capsys.readouterr().out)
    assert "src/config.py:4  function parse_config" in out
    assert person.questions == ["you: "]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "typed", "shown"),
    [
        (["code", "where is parse_config?"], "", "src/config.py:4  function parse_config"),
        (["code", "-"], "where is parse_config?", "src/config.py:4  function parse_config"),
        (["ask", "who imports config.py?"], "", "No file of"),
        (["ask", "-"], "which functions are there?", "There is 1 function in"),
    ],
)
def test_questions_are_answered_without_a_terminal(
    shell: Shell, script: Script, monkeypatch: pytest.MonkeyPatch, arguments: list[str], typed: str, shown: str
):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    result = shell.run(*arguments, "--provider", script())
    assert (result.code, shown in result.out) == (0, True)


@pytest.mark.parametrize(
    ("what", "task"), [("parse_config", "explain `parse_config`"), ("src/config.py", "explain src/config.py")]
)
def test_a_name_and_a_file_are_explained(shell: Shell, project: Path, script: Script, what: str, task: str):
    result = shell.run("explain", what, "--provider", script("It reads a file."))
    assert (result.code, result.err.splitlines()[:1]) == (0, ["[UNDERSTAND] explain"])
    assert "parse_config" in result.out
    assert "It reads a file." in result.out
    [event, *_] = [one for one in read_log(find_last_log()) if one.type == "invocation.received"]
    assert event.data["text"] == task


def test_a_question_may_give_orders_and_nothing_changes(shell: Shell, project: Path, script: Script):
    result = shell.run("ask", "delete parse_config", "--permission-mode", "trust", "--provider", script("It reads."))
    assert (result.code, (project / "src/config.py").read_text()) == (0, CONFIG)


def find_last_log() -> Path:
    store = SessionStore()
    return store.path(store.find(""))


def test_the_project_is_named_once(shell: Shell):
    refused = shell.run("code", "--project", "a", "--cwd", "b")
    assert (refused.code, "--project and --cwd mean the same" in refused.err) == (2, True)
    missing = shell.run("code", "--project", "nowhere")
    assert (missing.code, "nowhere is not a folder" in missing.err) == (2, True)


def test_the_tokens_of_candidates_are_those_of_the_session(shell: Shell, project: Path, script: Script):
    provider = script("edit", *[RIGHT] * 5)
    command = ("run", "validate the input of parse_config", "-p", provider, "--driver", "code")
    usage = shell.run(*command, "--permission-mode", "trust", "--output-format", "json").json["usage"]
    made = [event for event in shell.run("events", "--json").out.splitlines() if '"candidate.generated"' in event]
    data = [json.loads(event)["data"] for event in made]
    assert usage["output_tokens"] == sum(candidate["generated"] for candidate in data) > 0
    assert usage["input_tokens"] == sum(candidate["evaluated"] + candidate["reused"] for candidate in data) > 0
    state = project_session(read_log(SessionStore().path(SessionStore().find(""))))
    assert asdict(state.tokens.usage) == {**usage, "is_estimated": False}
