"""Subagents: sessions of their own, whose parents only know the task, the end and the answer."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from lsp_harness.chat.tool import CallContext
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.permission.hooks import Hook
from lsp_harness.process.process_table import list_processes
from lsp_harness.sessions.agent_presets import PRESETS, READING_TOOLS, narrow_tools
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.subagent_tool import SubagentTool
from lsp_harness.wire.event import Event
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say


def read_events(opened: OpenSession, id: str = "") -> list[Event]:
    return list(read_log(opened.session.log.folder.parent / (id or opened.session.id) / "events.jsonl"))


def find_only_event(found: list[Event], type: str) -> Event:
    [event] = [event for event in found if event.type == type]
    return event


def read_prompts(opened: OpenSession) -> list[str]:
    engine = cast("ScriptedEngine", opened.parts.models[0].engine)
    return [prompt_text(request) for request in engine.foreground_requests]


def listen_for_questions(opened: OpenSession) -> asyncio.Queue[Event]:
    """Return a queue of the questions about permissions that the client of a session sees."""
    questions: asyncio.Queue[Event] = asyncio.Queue()
    opened.session.log.listeners.append(
        lambda event: questions.put_nowait(event) if event.type == "permission.requested" else None
    )
    return questions


async def test_the_parent_gets_only_the_answer_and_the_child_has_its_own_log(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="read geo.py"),
        make_tool_call("read", path="geo.py"),
        say("PI is 3"),
        say("It is 3."),
    )
    stopped = await ask(opened, "what is PI?")
    assert (stopped.reason, stopped.text) == ("completed", "It is 3.")
    own = read_events(opened)
    started, finished = find_only_event(own, "task.started").data, find_only_event(own, "agent.finished").data
    assert (started["kind"], finished["text"], finished["reason"]) == ("subagent", "PI is 3", "completed")
    child_id = started["session_id"]
    assert child_id == finished["session_id"] != opened.session.id
    # nothing that the child read or did is in the log of the parent
    assert "PI = 3" not in json.dumps([event.data for event in own])
    assert [event.data["tool"] for event in own if event.type == "tool.started"] == ["agent"]
    child = read_events(opened, child_id)
    assert find_only_event(child, "session.started").data["parent"] == opened.session.id
    assert "PI = 3" in find_only_event(child, "tool.completed").data["output"]
    assert child[-1].type == "session.closed"
    # the child got a prompt of its own, and the parent goes on with the answer
    _, first_of_child, _, last = read_prompts(opened)
    assert "what is PI?" not in first_of_child
    assert "read geo.py" in first_of_child
    assert "PI is 3" in last
    assert last.count("PI is 3") == 1


async def test_a_preset_limits_the_tools_and_no_subagent_starts_another_one(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="write x.py", preset="explore"),
        make_tool_call("create", path="x.py", text="x = 1\n"),
        make_tool_call("agent", prompt="do it"),
        say("I cannot"),
        say("no"),
    )
    await ask(opened, "make x.py")
    child = read_events(opened, find_only_event(read_events(opened), "task.started").data["session_id"])
    reasons = [event.data["reason"] for event in child if event.type == "tool.failed"]
    assert reasons == ["not_allowed", "unknown_tool"]
    assert not (opened.options.root / "x.py").exists()


async def test_a_subagent_has_no_more_permissions_than_its_parent(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="write x.py", preset="edit"),
        make_tool_call("create", path="x.py", text="x = 1\n"),
        say("done"),
        say("ok"),
        allowed_tools=("agent", "read", "create"),
    )
    # the mode that counts is the present one, and not that of the options
    await opened.set_permission_mode("acceptEdits")
    opened.parts.gate.person = opened.parts.questions
    questions = listen_for_questions(opened)
    asked = asyncio.ensure_future(ask(opened, "make x.py"))
    opened.answer_question((await questions.get()).data["request_id"], {"decision": "allow"})
    await asked
    child = read_events(opened, find_only_event(read_events(opened), "task.started").data["session_id"])
    assert find_only_event(child, "session.started").data["permission_mode"] == "acceptEdits"
    decided = [(event.data["tool"], event.data["by"]) for event in child if event.type == "permission.decided"]
    assert decided == [("create", "mode"), ("lint", "mode")]
    assert (opened.options.root / "x.py").read_text() == "x = 1\n"


def test_the_tools_of_a_preset_are_narrowed_by_those_of_the_parent():
    assert narrow_tools(READING_TOOLS, None) == READING_TOOLS
    assert narrow_tools(READING_TOOLS, ()) == ()
    assert narrow_tools(PRESETS["edit"].tools, ("bash(git *)", "Read", "web")) == ("read", "bash(git *)")


async def test_a_question_of_a_subagent_is_answered_by_the_client_of_the_parent(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="list", preset="edit"),
        make_tool_call("bash", command="touch made", execution="inline"),
        say("done"),
        say("ok"),
        permission_mode="ask",
        has_person=True,
    )
    questions = listen_for_questions(opened)
    asked = asyncio.ensure_future(ask(opened, "go"))
    tools: list[str] = []
    for _ in range(2):
        # the client sees the question, although only the log of the child has it
        question = (await questions.get()).data
        tools.append(question["tool"])
        opened.answer_question(question["request_id"], {"decision": "allow"})
    assert (await asked).reason == "completed"
    assert tools == ["agent", "bash"]
    assert (opened.options.root / "made").exists()
    assert "bash" not in [event.data.get("tool") for event in read_events(opened)]


async def test_the_parent_learns_when_a_background_subagent_ends(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="count", execution="background"),
        say("it runs"),
        say("there are 7"),
        say("7 it is"),
    )
    # the subagent waits for its answer until the turn of the parent is over
    engine = cast("ScriptedEngine", opened.parts.models[0].engine)
    is_over = asyncio.Event()
    play = engine.stream

    async def stream(request: Any):
        if "You find things" in prompt_text(request):
            await is_over.wait()
        async for chunk in play(request):
            yield chunk

    engine.stream = stream  # pyright: ignore[reportAttributeAccessIssue]
    await ask(opened, "start")
    assert opened.session.is_idle
    ended = asyncio.Event()
    opened.session.log.listeners.append(
        lambda event: ended.set() if event.type == "turn.stopped" and event.turn == 1 else None
    )
    is_over.set()
    await asyncio.wait_for(ended.wait(), 10)
    own = read_events(opened)
    assert (
        find_only_event(own, "invocation.auto").data["task_id"]
        == find_only_event(own, "task.completed").data["task_id"]
    )
    assert find_only_event(own, "agent.finished").data["is_background"] is True
    assert "[explore completed] there are 7" in read_prompts(opened)[-1]


async def test_cancelling_the_task_of_the_parent_ends_the_shells_of_the_child(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="wait", preset="edit", execution="background"),
        make_tool_call("bash", command="sleep 300 & echo $! > pipe; wait", execution="inline"),
        say("it runs"),
    )
    # whoever is asked first, the replies are in the order parent, child, parent
    engine = cast("ScriptedEngine", opened.parts.models[0].engine)
    has_asked = asyncio.Event()
    play = engine.stream

    async def stream(request: Any):
        if "You do one task" not in prompt_text(request) and len(engine.foreground_requests) == 1:
            await has_asked.wait()
        async for chunk in play(request):
            yield chunk
        if "You do one task" in prompt_text(request):
            has_asked.set()

    engine.stream = stream  # pyright: ignore[reportAttributeAccessIssue]
    pipe = opened.options.root / "pipe"
    os.mkfifo(pipe)
    await ask(opened, "start")
    pid = int(await asyncio.to_thread(pipe.read_text))
    [task] = opened.parts.tasks.list()
    opened.session.run_next = None
    result = await opened.cancel_task(task.task_id)
    assert result["status"] == "cancelled"
    assert pid not in [process.pid for process in list_processes()]
    assert find_only_event(read_events(opened), "agent.finished").data["reason"] == "cancelled"
    child = read_events(opened, task.session_id)
    assert find_only_event(child, "task.cancelled")
    assert find_only_event(child, "turn.stopped").data["reason"] == "cancelled"
    assert child[-1].type == "session.closed"


async def test_hooks_can_refuse_a_subagent_and_are_called_at_its_end(open_scripted: OpenScripted):
    opened = await open_scripted(
        make_tool_call("agent", prompt="first"), say("one"), make_tool_call("agent", prompt="second"), say("no")
    )
    seen: list[dict[str, Any]] = []

    def start(payload: Any) -> dict[str, Any]:
        return {"decision": "deny", "reason": "too many"} if payload["prompt"] == "second" else {}

    opened.parts.hooks.add(Hook("subagentStart", function=start))
    opened.parts.hooks.add(Hook("subagentStop", function=lambda payload: seen.append(dict(payload)) or {}))
    await ask(opened, "go")
    assert [(end["preset"], end["reason"]) for end in seen] == [("explore", "completed")]
    assert "too many" in find_only_event(read_events(opened), "tool.failed").data["output"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"prompt": " "}, "is empty"), ({"prompt": "x", "preset": "no"}, "preset"), ({}, "prompt")],
)
async def test_a_wrong_input_is_explained_to_the_model(
    open_scripted: OpenScripted, arguments: dict[str, Any], message: str
):
    opened = await open_scripted(make_tool_call("agent", **arguments), say("ok"))
    await ask(opened, "go")
    assert message in find_only_event(read_events(opened), "tool.failed").data["output"]


async def test_a_subagent_that_fails_is_an_error_for_the_model(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(make_tool_call("agent", prompt="x"), {"error": "the engine broke"}, say("ok"))
    await ask(opened, "go")
    assert "the engine broke" in find_only_event(read_events(opened), "tool.failed").data["output"]
    assert find_only_event(read_events(opened), "agent.finished").data["reason"] == "error"


async def test_the_tokens_of_a_session_limit_its_subagents(open_scripted: OpenScripted):
    opened = await open_scripted(make_tool_call("agent", prompt="x"), max_tokens_total=10)
    stopped = await ask(opened, "go")
    assert stopped.reason == "budget_exceeded"
    assert "all 10 tokens of the session are used" in find_only_event(read_events(opened), "tool.failed").data["output"]


async def test_the_tokens_of_a_subagent_count_for_its_parent(open_scripted: OpenScripted):
    opened = await open_scripted(make_tool_call("agent", prompt="x"), say("found it"), say("ok"), say("more"))
    await ask(opened, "go")
    finished = find_only_event(read_events(opened), "agent.finished").data
    child = [
        event.data["usage"] for event in read_events(opened, finished["session_id"]) if event.type == "model.completed"
    ]
    own = [event.data["usage"] for event in read_events(opened) if event.type == "model.completed"]
    assert finished["usage"]["input_tokens"] == child[0]["input_tokens"] > 0
    assert opened.status()["tokens"]["input"] == sum(usage["input_tokens"] for usage in own + child)
    # the answers of both together reach the limit, and not those of the parent alone
    used = opened.session.state.tokens.total
    opened.session.limits = replace(opened.session.limits, max_tokens_total=used)
    assert (await ask(opened, "go on")).reason == "budget_exceeded"


async def test_running_subagents_and_their_parent_share_one_budget(open_scripted: OpenScripted):
    opened = await open_scripted(
        say("hello"), make_tool_call("read", path="geo.py"), {"hang": True}, max_tokens_total=1_000_000
    )
    await ask(opened, "go")
    own = opened.session.state.tokens.total
    agent = cast("SubagentTool", opened.parts.tools["agent"])
    started = await agent.run({"prompt": "x", "execution": "background"}, CallContext("1"))
    child = next(iter(agent.running))
    calls: asyncio.Queue[str] = asyncio.Queue()
    child.session.log.listeners.append(
        lambda event: calls.put_nowait(event.type) if event.type == "model.started" else None
    )
    for _ in range(2):
        await calls.get()
    used = child.session.state.tokens.total
    assert used > 0
    assert opened.status()["tokens"]["input"] + opened.status()["tokens"]["output"] == own + used
    for session, others in ((opened.session, used), (child.session, own)):
        assert session.limits.max_tokens_total == 1_000_000
        assert session.limits.count_shared() == others
    # the tokens of a cancelled subagent stay used
    await opened.parts.tasks.cancel(str(started.data["task_id"]))
    assert opened.session.state.tokens.total == own + used
    assert opened.session.limits.count_shared() == 0
