"""Prompts for the driver `code`: each becomes one checked edit, which the permission gate allows or not."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import NoAnswer, StaleDocument, UsageError
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event
from tests.sessions.conftest import OpenScripted, ask

GEO = "import math\n\n\ndef area(radius):\n    return 3 * radius\n\n\ndef edge(radius):\n    return 6 * radius\n"
TASK = "use math.pi in area"
WRONG, RIGHT = (f"```python\ndef area(radius):\n    return {text} * radius ** 2\n```" for text in ("pi", "math.pi"))
CHANGED = GEO.replace("return 3 * radius", "return math.pi * radius ** 2")
REPLIES = [{"text": text} for text in ("edit", WRONG, RIGHT, RIGHT, RIGHT, "edit")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "project" / "geo.py"


async def open_code(open_scripted: OpenScripted, file: Path, **options: Any) -> OpenSession:
    opened = await open_scripted(*REPLIES, driver="code", **options)
    file.write_text(GEO)
    return opened


def read_event_data(opened: OpenSession, type: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in read_log(opened.session.log.path) if event.type == type]


async def test_a_prompt_becomes_a_checked_edit_that_can_be_undone(open_scripted: OpenScripted, file: Path):
    opened = await open_code(open_scripted, file)

    stopped = await ask(opened, TASK)

    assert (stopped.reason, stopped.detail) == ("completed", "pipeline_done")
    assert stopped.text == (
        "geo.py:4-5: candidate 2 of 2: form ✓, behaviour not checked (parse ✓, lint ✓, "
        "types – (ty is not installed (pip install ty)), "
        "tests – (no program is known that runs the tests for geo.py)); applied"
    )
    assert file.read_text() == CHANGED
    states = [data["state"] for data in read_event_data(opened, "state.entered")]
    assert states == ["UNDERSTAND", "LOCATE", "PLAN", "GENERATE", "VERIFY", "COMPLETE"]
    outcomes = {data["state"]: data["outcome"] for data in read_event_data(opened, "state.exited")}
    assert outcomes == {
        "UNDERSTAND": "edit",
        "LOCATE": "Found area at geo.py:4-5",
        "PLAN": "Skipped: one edit; nothing else depends on area",
        "GENERATE": "",
        "VERIFY": "",
    }
    decisions = [(data["tool"], data["decision"], data["by"]) for data in read_event_data(opened, "permission.decided")]
    assert decisions == [("lint", "allow", "mode"), ("edit", "allow", "mode")]
    assert "LINT: F821 Undefined name `pi`" in read_event_data(opened, "candidate.rejected")[0]["reason"]
    assert (await opened.undo()).paths == ("geo.py",)
    assert file.read_text() == GEO


@pytest.mark.parametrize(
    ("options", "by", "reason"),
    [
        ({"permission_mode": "plan"}, "mode", "the permission mode plan does not allow it"),
        ({"permission_mode": "deny"}, "mode", "the permission mode deny does not allow it"),
        ({"permission_mode": "ask"}, "nobody", "nobody is there to answer"),
        ({"disallowed_tools": ("edit",)}, "tools", "edit is in disallowed_tools"),
        ({"allowed_tools": ("read",)}, "tools", "edit is not allowed"),
    ],
)
async def test_an_edit_that_the_gate_denies_is_shown_and_not_written(
    open_scripted: OpenScripted, file: Path, options: dict[str, Any], by: str, reason: str
):
    opened = await open_code(open_scripted, file, **options)

    stopped = await ask(opened, TASK)

    assert stopped.reason == "denied"
    assert "; not applied: " in stopped.text
    assert file.read_text() == GEO
    assert "+    return math.pi * radius ** 2" in read_event_data(opened, "edit.proposed")[0]["diff"]
    assert [(data["tool"], data["by"]) for data in read_event_data(opened, "permission.decided")] == [
        ("lint", "mode"),
        ("edit", by),
    ]
    assert reason in read_event_data(opened, "edit.rejected")[0]["reason"]
    assert read_event_data(opened, "checkpoint.created") == read_event_data(opened, "edit.applied") == []


async def start_until_question(opened: OpenSession, task: str = TASK) -> "tuple[asyncio.Task[Any], str]":
    """Start a turn, and return it with the id of its question as soon as the person is asked."""
    request: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def listen(event: Event) -> None:
        if event.type == "permission.requested":
            # the question waits for its answer only after this event
            asyncio.get_running_loop().call_soon(request.set_result, event.data["request_id"])

    opened.session.log.listeners.append(listen)
    turn = asyncio.ensure_future(ask(opened, task))
    return turn, await asyncio.wait_for(request, 30)


@pytest.mark.parametrize(("decision", "text"), [("allow", CHANGED), ("deny", GEO)])
async def test_a_person_decides_and_sees_the_file(open_scripted: OpenScripted, file: Path, decision: str, text: str):
    opened = await open_code(open_scripted, file, has_person=True)
    turn, request = await start_until_question(opened)
    opened.answer_question(request, {"decision": decision})
    assert ((await turn).reason == "completed") == (decision == "allow")
    assert file.read_text() == text
    [question] = read_event_data(opened, "permission.requested")
    assert (question["tool"], question["paths"]) == ("edit", [str(file)])


async def test_a_file_that_changed_meanwhile_is_left_alone(open_scripted: OpenScripted, file: Path):
    opened = await open_code(open_scripted, file, has_person=True)
    turn, request = await start_until_question(opened)
    file.write_text(GEO + "\nPI = 3\n")
    opened.answer_question(request, {"decision": "allow"})
    with pytest.raises(StaleDocument, match="changed while the edit was computed"):
        await turn
    assert file.read_text() == GEO + "\nPI = 3\n"
    assert len(read_event_data(opened, "edit.stale")) == 1


async def test_a_linter_that_is_not_allowed_does_not_run(open_scripted: OpenScripted, file: Path):
    opened = await open_code(open_scripted, file, disallowed_tools=("lint",))
    stopped = await ask(opened, TASK)
    # the first candidate has an unknown name, which only the linter sees
    assert stopped.text.startswith(
        "geo.py:4-5: candidate 1 of 1: form ✓, behaviour not checked; only the syntax was looked at (parse ✓, "
        "lint – (the linter may not run: lint is not allowed: lint is in disallowed_tools), types – ("
    )
    [lint, *_] = read_event_data(opened, "permission.decided")
    assert (lint["tool"], lint["decision"], lint["by"]) == ("lint", "deny", "tools")
    [checks] = read_event_data(opened, "verify.completed")
    [reason] = [outcome["reason"] for outcome in checks["outcomes"] if outcome["check"] == "lint"]
    assert reason.startswith("the linter may not run: lint is not allowed")


async def test_a_text_that_waits_is_the_next_task(open_scripted: OpenScripted, file: Path):
    opened = await open_code(open_scripted, file, has_person=True)
    turn, request = await start_until_question(opened)
    opened.session.enqueue("follow_up", "widen the zebra")
    opened.answer_question(request, {"decision": "allow"})
    await turn
    await opened.session.finish_waiting()
    assert [data["text"] for data in read_event_data(opened, "invocation.received")] == [TASK, "widen the zebra"]
    assert "no code in project fits this task" in read_event_data(opened, "turn.stopped")[-1]["detail"]


async def test_an_impossible_edit_says_what_to_do(open_scripted: OpenScripted, file: Path, tmp_path: Path):
    opened = await open_code(open_scripted, file)
    with pytest.raises(NoAnswer, match="no code in project fits this task; name a function in it"):
        await ask(opened, "widen the zebra")
    assert file.read_text() == GEO
    # only a conversation answers by a schema
    assert opened.create_driver({"type": "object"}).name == "chat"
    for option in ({"system_prompt": "You sing."}, {"json_schema": {"type": "object"}}):
        with pytest.raises(UsageError, match="options of the driver chat"):
            SessionOptions.from_mapping({"cwd": str(tmp_path), "driver": "code", **option})
