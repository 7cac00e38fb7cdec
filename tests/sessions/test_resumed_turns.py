"""Prompts about code whose process is killed: another process goes on where the log ends."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from tests.sessions.conftest import OpenScripted, ask
from tests.sessions.test_code_turns import (
    AREA,
    PLANNED,
    REPORT,
    SHOW,
    UNIT,
    UNIT_REPORT,
    list_entered_states,
    read_event_data,
    write_files,
)
from tests.sessions.test_edit_driver import start_until_question
from tests.support.rounds import count_rounds

TASK = "let area take a unit and return it"
DECISIONS = PLANNED[:3]
REPLIES = [{"text": text} for text in (*DECISIONS, UNIT, UNIT_REPORT)]

pytestmark = pytest.mark.usefixtures("one_candidate")


@pytest.fixture
def one_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """One candidate for each edit. Otherwise, the first one that passes ends the others, before or after their call."""
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "1")


def write_base(project: Path) -> None:
    write_files(project, geo=AREA, report=REPORT, show=SHOW)


def read_files(project: Path) -> list[str]:
    return [(project / f"{name}.py").read_text() for name in ("geo", "report", "show")]


def list_missing_replies(types: Sequence[str]) -> list[str]:
    """Return the replies that are still needed after events of these types."""
    decisions, items = types.count("plan.item.decided"), types.count("plan.item.completed")
    replies = ["edit"] * ("intent.chosen" not in types) + ["change", "keep"][decisions:]
    return [*replies, *[UNIT] * (items < 1), *[UNIT_REPORT] * (items < 2)]


async def resume_session(opened: OpenSession) -> int:
    """Let a session that was opened again go on by itself, and return the number of model calls."""
    opened.record_start()
    await opened.session.finish_waiting()
    engine = opened.parts.models[0].engine
    assert isinstance(engine, ScriptedEngine)
    return sum(request.sampling.n for request in engine.foreground_requests)


async def test_a_turn_that_was_killed_after_any_event_is_continued(open_scripted: OpenScripted, project: Path):
    first = await open_scripted(*REPLIES, driver="code")
    write_base(project)
    first.record_start()
    await ask(first, TASK)
    result, log = read_files(project), first.session.log.path
    await first.aclose()
    lines = log.read_text().splitlines(keepends=True)
    types = [event.type for event in read_log(log)]
    end = types.index("edit.applied")
    last_of_kind = {f"{kind}{types[:number].count(kind)}": number for number, kind in enumerate(types[:end])}
    cuts = [
        number for name, number in last_of_kind.items() if not name.startswith(("candidate.", "verify.", "context."))
    ]
    assert len(cuts) > 20
    cuts = cuts[cuts.index(types.index("turn.started")) :]
    # evenly distributed
    for cut in cuts[:: len(cuts) // count_rounds(len(cuts))]:
        log.write_text("".join(lines[: cut + 1]))
        write_base(project)
        replies = list_missing_replies(types[: cut + 1])
        opened = await open_scripted(*({"text": text} for text in replies), driver="code", resume=first.session.id)
        assert opened.unfinished_prompt == TASK
        assert await resume_session(opened) == len(replies), types[cut]
        assert read_files(project) == result
        assert list_entered_states(opened)[-1] == "COMPLETE"
        assert opened.unfinished_prompt == ""
        await opened.aclose()


@pytest.mark.parametrize("is_written", [False, True])
async def test_the_person_is_not_asked_again_for_a_recorded_answer(
    open_scripted: OpenScripted, project: Path, is_written: bool
):
    first = await open_scripted(*REPLIES, driver="code", has_person=True)
    write_base(project)
    first.record_start()
    turn, request = await start_until_question(first, TASK)
    first.answer_question(request, {"decision": "allow"})
    await turn
    result, log = read_files(project), first.session.log.path
    await first.aclose()
    types = [event.type for event in read_log(log)]
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[: types.index("edit.applied")]))
    if not is_written:
        write_base(project)
    opened = await open_scripted(driver="code", has_person=True, resume=first.session.id)
    assert await resume_session(opened) == 0
    assert read_files(project) == result, [dict(e.data) for e in read_log(log)][-6:]
    assert len(read_event_data(opened, "permission.requested")) == 1
    assert len(read_event_data(opened, "edit.applied")) == 1
    assert read_event_data(opened, "turn.stopped")[-1]["reason"] == "completed"


async def test_knowledge_of_another_text_is_not_used(open_scripted: OpenScripted, project: Path):
    first = await open_scripted(*REPLIES, driver="code")
    write_base(project)
    first.record_start()
    await ask(first, TASK)
    log = first.session.log.path
    await first.aclose()
    types = [event.type for event in read_log(log)]
    log.write_text("".join(log.read_text().splitlines(keepends=True)[: types.index("edit.proposed")]))
    write_base(project)
    (project / "geo.py").write_text("# a line more\n" + AREA)
    replies = REPLIES[1:]
    opened = await open_scripted(*replies, driver="code", resume=first.session.id)
    assert await resume_session(opened) == len(replies)
    assert read_files(project)[0].startswith("# a line more\n")
    assert "area(radius, 'm')" in read_files(project)[1]


async def test_another_prompt_discards_the_unfinished_one(open_scripted: OpenScripted, project: Path):
    first = await open_scripted({"text": "edit"}, driver="code")
    write_base(project)
    first.record_start()
    with pytest.raises(Exception, match="script has 1 reply"):
        await ask(first, TASK)
    log = first.session.log.path
    await first.aclose()
    types = [event.type for event in read_log(log)]
    log.write_text("".join(log.read_text().splitlines(keepends=True)[: types.index("intent.chosen") + 1]))
    chat = await open_scripted({"text": "hi"}, driver="chat", resume=first.session.id)
    assert (chat.unfinished_prompt, await resume_session(chat)) == ("", 0)
