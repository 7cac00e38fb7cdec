"""Prompts of a session that only want to see something, want a part of an answer, or take edits back."""

import subprocess
from pathlib import Path

import pytest

from lsp_harness.errors import UsageError
from tests.sessions.conftest import OpenScripted, ask, say
from tests.sessions.test_code_turns import read_event_data, write_files
from tests.sessions.test_follow_up_turns import FLAT, GOOD, USED


def commit_all(folder: Path) -> None:
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "One"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)


async def test_an_edit_is_shown_and_all_edits_are_undone(open_scripted: OpenScripted, project: Path):
    replies = ["edit", *[GOOD] * 4, "edit", *[GOOD.replace("abs(", "max(0, ")] * 4]
    opened = await open_scripted(*map(say, replies), driver="code", permission_mode="trust")
    write_files(project, flat=FLAT)
    commit_all(project)
    await ask(opened, "let area return the absolute value")
    assert "2      return abs(width * height)" in (await ask(opened, "show me how it looks now")).text
    changes = (await ask(opened, "what did you change so far?")).text
    assert "-    return width * height" in changes
    assert "+    return abs(width * height)" in changes
    await ask(opened, "let area return no negative number")
    assert "max(0" in (await ask(opened, "print it")).text
    await ask(opened, "forget it, undo everything")
    assert (project / "flat.py").read_text() == FLAT
    with pytest.raises(UsageError, match="there is nothing to undo"):
        await ask(opened, "undo all")


async def test_a_part_of_an_answer_keeps_the_question(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    write_files(project, flat=USED, other="from flat import total\n\n\ndef run():\n    return total([])\n")
    await ask(opened, "who calls area?")
    part = await ask(opened, "how many of those are in flat.py")
    assert part.text == "1 of the 1 places is in flat.py:\n  flat.py:6  total"
    assert read_event_data(opened, "follow_up.read") == [{"kind": "part", "task": "who calls area?"}]
    assert "other.py:5  run" in (await ask(opened, "what about total?")).text


async def test_a_question_never_becomes_an_edit(open_scripted: OpenScripted, project: Path):
    # the only reply is the answer: the model is not asked what is wanted
    opened = await open_scripted(say("It does."), driver="code", permission_mode="trust")
    write_files(project, flat=FLAT)
    await ask(opened, "where is area?")
    stopped = await ask(opened, "does it work with negative numbers?")
    assert "It does." in stopped.text
    assert read_event_data(opened, "intent.chosen")[-1]["intent"] == "explain"
    assert (project / "flat.py").read_text() == FLAT


async def test_of_two_requests_the_first_is_done(open_scripted: OpenScripted, project: Path):
    docstring = '```python\ndef area(width, height):\n    """Return the area."""\n    return width * height\n```'
    opened = await open_scripted(*map(say, ["edit", *[docstring] * 8]), driver="code", permission_mode="trust")
    write_files(project, flat=USED)
    await ask(opened, "make area document itself and rename total to summed")
    [follow_up] = read_event_data(opened, "follow_up.read")
    assert follow_up == {"kind": "go_on", "task": "make area document itself"}
    assert "def total" in (project / "flat.py").read_text()


async def test_a_prompt_about_no_code_changes_nothing(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code", permission_mode="trust")
    write_files(project, flat=FLAT)
    for prompt in ("deploy this to production", "you are useless", "   ", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIabcdef"):
        text = (await ask(opened, prompt)).text
        assert "code" in text
        assert "wJalr" not in text
    assert "flat.py:1" in (await ask(opened, "\x1b[31mwo ist area definiert?\x1b[0m")).text
    assert (await ask(opened, "def area(width, height):\n    return 1\n")).text.startswith("flat.py:1  function area")
    assert "no code in Kotlin" in (await ask(opened, "add a test for area in Kotlin")).text
    assert (project / "flat.py").read_text() == FLAT
