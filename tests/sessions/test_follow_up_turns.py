"""Prompts that go on with the last one in a session of the driver `code`."""

from pathlib import Path

import pytest

from lsp_harness.errors import NoAnswer, UsageError
from tests.sessions.conftest import OpenScripted, ask, say
from tests.sessions.test_code_turns import GEO, group_outcomes_by_state, read_event_data, write_files

FLAT = """\
def area(width, height):
    return width * height
"""
USED = FLAT + "\n\ndef total(items):\n    return sum(area(*item) for item in items)\n"
GOOD = "```python\ndef area(width, height):\n    return abs(width * height)\n```"
OTHER = "```python\ndef area(radius):\n    return math.pi * radius ** 2\n```"


async def test_questions_go_on_at_the_last_answer(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(driver="code")
    write_files(project, flat=USED)
    await ask(opened, "where is area?")
    assert "total" in (await ask(opened, "and who calls it?")).text
    assert "def total(items)" in (await ask(opened, "what are the parameters of total?")).text
    assert "area" in (await ask(opened, "what does it call?")).text
    assert "function area" in (await ask(opened, "what is in flat.py?")).text
    assert (await ask(opened, "who imports it?")).text == "No file of project imports flat.py."
    assert {data["kind"] for data in read_event_data(opened, "follow_up.read")} == set()


async def test_the_place_is_corrected_and_the_wrong_edit_is_undone(open_scripted: OpenScripted, project: Path):
    replies = ["edit", *[OTHER] * 4, *[GOOD] * 4]
    opened = await open_scripted(*map(say, replies), driver="code", permission_mode="trust")
    write_files(project, geo=GEO, flat=FLAT)
    await ask(opened, "let area in geo.py return the absolute value")
    assert "math.pi" in (project / "geo.py").read_text()
    stopped = await ask(opened, "no, in flat.py")
    assert stopped.reason == "completed"
    assert (project / "geo.py").read_text() == GEO
    assert "abs(width * height)" in (project / "flat.py").read_text()
    # the intent is the same, so the model is not asked for it
    intents = read_event_data(opened, "intent.chosen")
    assert [(data["intent"], data["chooser"]) for data in intents] == [("edit", "model"), ("edit", "facts")]
    assert "read as" not in group_outcomes_by_state(opened)["LOCATE"]
    stopped = await ask(opened, "undo that")
    assert "flat.py" in stopped.text
    assert (project / "flat.py").read_text() == FLAT
    with pytest.raises(UsageError, match="there is nothing to undo"):
        await ask(opened, "undo that")


async def test_a_follow_up_says_how_it_was_read(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted({"text": "It multiplies."}, driver="code")
    write_files(project, flat=FLAT)
    await ask(opened, "where is area?")
    stopped = await ask(opened, "explain it")
    assert "It multiplies." in stopped.text
    assert read_event_data(opened, "follow_up.read") == [{"kind": "go_on", "task": "explain `area` in flat.py"}]
    assert group_outcomes_by_state(opened)["UNDERSTAND"] == "explain, read as “explain `area` in flat.py”"


async def test_another_try_says_what_is_wanted(open_scripted: OpenScripted, project: Path):
    replies = ["edit", *[GOOD] * 4, *[GOOD.replace("abs(", "max(0, ")] * 4]
    opened = await open_scripted(*map(say, replies), driver="code", permission_mode="trust")
    write_files(project, flat=FLAT)
    await ask(opened, "let area return no negative number")
    await ask(opened, "try again without abs")
    assert "max(0, width * height)" in (project / "flat.py").read_text()
    [follow_up] = read_event_data(opened, "follow_up.read")
    assert follow_up == {"kind": "retry", "task": "let area return no negative number, without abs"}


async def test_a_session_that_only_answers_changes_nothing(open_scripted: OpenScripted, project: Path):
    # neither the intent is asked for, nor an edit
    opened = await open_scripted(say("It multiplies."), driver="code", only_answers=True)
    write_files(project, flat=FLAT)
    stopped = await ask(opened, "let area return no negative number")
    assert "It multiplies." in stopped.text
    assert (project / "flat.py").read_text() == FLAT
    assert read_event_data(opened, "intent.chosen")[-1]["intent"] == "explain"
    with pytest.raises(NoAnswer, match="only an answer is wanted"):
        await ask(opened, "undo that")


async def test_a_conversation_that_only_answers_only_reads(open_scripted: OpenScripted):
    opened = await open_scripted(driver="chat", only_answers=True, permission_mode="trust")
    assert opened.permission_mode == "plan"


async def test_a_question_about_a_file_shows_its_outline(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted({"text": "It has areas."}, driver="code")
    write_files(project, flat=FLAT)
    stopped = await ask(opened, "what does flat.py do?")
    assert stopped.text.startswith("flat.py has 1 declaration:\n  flat.py:1  function area\n\nIt has areas.")
    stopped = await ask(opened, "what does round.py do?")
    assert stopped.text.startswith("There is no file round.py in project")
