"""Every class of events of the SDK comes from a session, with the frame that other programs read."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from lsp_harness.events.event_codec import encode_frame
from lsp_harness.events.session_events import AgentFinished
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.sdk import (
    ClientEvent,
    CostUpdate,
    ErrorEvent,
    HarnessBinaryNotFoundError,
    HarnessClient,
    HarnessError,
    HookDecision,
    SessionStart,
    TextDelta,
    ToolEnd,
    ToolStart,
    TurnComplete,
    TurnStart,
    TurnStop,
    UnknownEvent,
    parse_event,
    query,
    to_wire,
)
from lsp_harness.wire.event import Event
from tests.appendix.bench import READ, Bench, select_events
from tests.appendix.names import require_complete_table
from tests.support.scripted_session import call_text

EventSource = Callable[[Bench], Awaitable[ClientEvent]]


async def ask_for_first_event(bench: Bench, kind: type[ClientEvent], *replies: Any) -> ClientEvent:
    return select_events(kind, await bench.ask(*replies))[0]


async def find_text(bench: Bench) -> ClientEvent:
    event = await ask_for_first_event(bench, TextDelta, "a word")
    assert isinstance(event, TextDelta)
    assert (event.content, event.seq) == ("a word", None)
    return event


async def find_tool_start(bench: Bench) -> ClientEvent:
    event = await ask_for_first_event(bench, ToolStart, READ, "done")
    assert isinstance(event, ToolStart)
    assert (event.tool, event.input) == ("read", {"path": "a.txt"})
    return event


async def find_tool_end(bench: Bench) -> ClientEvent:
    events = await bench.ask(READ, call_text("read", path="nothing.txt"), "done")
    ends, starts = select_events(ToolEnd, events), select_events(ToolStart, events)
    assert [end.call_id for end in ends] == [start.call_id for start in starts]
    assert [end.error for end in ends] == [False, True]
    assert "the text of a" in ends[0].output
    return ends[0]


async def find_error(bench: Bench) -> ClientEvent:
    events = await bench.ask({"error": "the model is away"})
    errors = select_events(ErrorEvent, events)
    assert "the model is away" in errors[0].message
    assert errors[-1].recoverable is False
    assert isinstance(events[-1], TurnStop)
    return errors[0]


async def find_cost(bench: Bench) -> ClientEvent:
    event = await ask_for_first_event(bench, CostUpdate, "three words here")
    assert isinstance(event, CostUpdate)
    assert event.input_tokens > 0
    assert (event.output_tokens, event.cost) == (3, 0.0)
    return event


async def find_turn_complete(bench: Bench) -> ClientEvent:
    """Return the event at the end of a subagent. The event is written as its tool writes it."""
    log = SessionLog(bench.home / "sessions")
    sent: list[Event] = []
    log.listeners.append(sent.append)
    log.append(AgentFinished("01AGENT", "completed", "found it"))
    log.close()
    event = parse_event(encode_frame(sent[-1]))
    assert isinstance(event, TurnComplete)
    assert (event.reason, event.text) == ("completed", "found it")
    return event


async def find_turn_start(bench: Bench) -> ClientEvent:
    event = await ask_for_first_event(bench, TurnStart, "hi")
    assert isinstance(event, TurnStart)
    assert event.turn_number == event.turn == 0
    return event


async def find_turn_stop(bench: Bench) -> ClientEvent:
    stop = await bench.stop("the answer")
    assert (stop.reason, stop.text, stop.turn_number) == ("completed", "the answer", 0)
    return stop


async def find_decision(bench: Bench) -> ClientEvent:
    events = await bench.ask(READ, "done", permission_mode="deny")
    event = select_events(HookDecision, events)[0]
    assert (event.event, event.tool, event.decision, event.by) == ("permission", "read", "allow", "mode")
    return event


async def find_session_start(bench: Bench) -> ClientEvent:
    event = await ask_for_first_event(bench, SessionStart, "hi")
    assert isinstance(event, SessionStart)
    assert event.session_id == bench.log()[0].session_id
    assert (event.permission_mode, event.cwd) == ("trust", str(bench.folder))
    return event


async def find_unknown(bench: Bench) -> ClientEvent:
    event = parse_event({"type": "a type of tomorrow", "value": 1})
    assert isinstance(event, UnknownEvent)
    assert event.raw["value"] == 1
    return event


EVENTS: Mapping[str, EventSource] = {
    "TextDelta": find_text,
    "ToolStart": find_tool_start,
    "ToolEnd": find_tool_end,
    "ErrorEvent": find_error,
    "CostUpdate": find_cost,
    "TurnComplete": find_turn_complete,
    "TurnStart": find_turn_start,
    "TurnStop": find_turn_stop,
    "HookDecision": find_decision,
    "SessionStart": find_session_start,
    "UnknownEvent": find_unknown,
}


@pytest.mark.parametrize("name", require_complete_table("sdk", "events", EVENTS))
async def test_a_session_sends_an_event(name: str, session_bench: Bench):
    event = await EVENTS[name](session_bench)
    assert type(event).__name__ == name
    assert parse_event(to_wire(event)) == event


WIRE = {
    "text": "text",
    "tool_start": "tool_start",
    "tool_end": "tool_end",
    "error": "error",
    "cost_update": "cost_update",
    "turn_complete": "turn_complete",
    "turnStart": "turn_start",
    "turnStop": "turn_stop",
    "hook_decision": "hook_decision",
    "session_start": "session_start",
    "ready": "ready",
}
"""Name of a frame there → here. Those with capitals are read, too."""


async def read_frames(bench: Bench) -> list[dict[str, Any]]:
    """Return the lines of a session in a child process."""
    provider = bench.script(READ, "a word", {"error": "away"})
    argv = [sys.executable, "-m", "lsp_harness", "session", f"--provider={provider}", f"--cwd={bench.folder}"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe)
    lines = [{"id": "1", "prompt": "do it"}, {"id": "2", "prompt": "again"}]
    output, _ = await process.communicate("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]


async def test_the_frames_of_a_session_have_these_types(session_bench: Bench):
    frames = await read_frames(session_bench)
    seen = {frame["type"] for frame in frames}
    assert set(WIRE.values()) - seen == {"turn_complete"}
    assert [frame["id"] for frame in frames if frame["type"] == "turn_stop"] == ["1", "2"]
    assert {frame["id"] for frame in frames if frame["turn"] is not None} == {"1", "2"}


@pytest.mark.parametrize("name", require_complete_table("sdk", "wire", WIRE))
def test_a_frame_is_read_under_both_names(name: str):
    fields = {
        **dict.fromkeys(("content", "tool", "message", "reason", "event", "sessionId", "model"), "x"),
        **dict.fromkeys(("inputTokens", "outputTokens", "turnNumber"), 1),
    }
    event = parse_event({"type": name, **fields})
    assert not isinstance(event, UnknownEvent)
    if name != "ready":
        assert to_wire(event)["type"] == WIRE[name]


async def stop_interrupted(bench: Bench) -> TurnStop:
    async with HarnessClient(provider=bench.script({"hang": True}), cwd=bench.folder, in_process=True) as client:
        turn = await client.send("wait")
        await client.interrupt()
        return await turn.result()


STOPS: Mapping[str, Callable[[Bench], Awaitable[TurnStop]]] = {
    "completed": lambda bench: bench.stop("hi"),
    "max_turns": lambda bench: bench.stop(READ, max_turns=1),
    "error": lambda bench: bench.stop({"error": "away"}),
    "interrupted": stop_interrupted,
}


@pytest.mark.parametrize("reason", require_complete_table("sdk", "stop_reasons", STOPS))
async def test_a_turn_stops_for_a_reason(reason: str, session_bench: Bench):
    async with asyncio.timeout(20):
        assert (await STOPS[reason](session_bench)).reason == reason


async def check_binary_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_BINARY", "/nowhere/lsp-harness")
    with pytest.raises(HarnessBinaryNotFoundError, match="/nowhere/lsp-harness"):
        await anext(query("hi"))


async def check_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HarnessError, match="there is no session 'nothing'") as failure:
        await anext(query("hi", resume="nothing", cwd=bench.folder))
    assert failure.value.exit_code
    assert isinstance(failure.value.stderr, str)


EXCEPTIONS = {
    "OhBinaryNotFoundError": check_binary_error,
    "OpenHarnessError(stderr,exit_code)": check_error,
}


@pytest.mark.parametrize("name", require_complete_table("sdk", "exceptions", EXCEPTIONS))
async def test_an_exception_is_raised(name: str, session_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    await EXCEPTIONS[name](session_bench, monkeypatch)
