"""The function that decides about tool calls: its argument, its answers, and that everything else denies."""

import asyncio
import json
import threading
from typing import Any

import pytest

from lsp_harness.sdk import HarnessClient, PermissionRequest
from lsp_harness.sdk.permission_callback import ask_callback, read_answer
from tests.sdk.conftest import FakeProgram

REQUEST = PermissionRequest(
    "q1",
    "bash",
    {"command": "ls é"},
    reason="the mode asks",
    call_id="c1",
    paths=("/a",),
    suggestions=("bash(ls *)",),
    mode="ask",
    risk="low",
    text="bash: run a program",
    session_id="s",
)


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        ("allow", {"decision": "allow", "reason": ""}),
        ("deny", {"decision": "deny", "reason": ""}),
        ("ask", {"decision": "ask", "reason": ""}),
        ({"decision": "deny", "reason": "no"}, {"decision": "deny", "reason": "no"}),
        (
            {"decision": "allow", "updated_input": {"command": "ls"}, "remember": "session"},
            {"decision": "allow", "reason": "", "remember": "session", "updated_input": {"command": "ls"}},
        ),
    ],
)
def test_each_answer_of_a_callback_is_translated(answer: Any, fields: dict[str, Any]):
    assert read_answer(answer) == fields


@pytest.mark.parametrize(
    "answer",
    [
        *(5, None, True, 1, "Allow", "yes", "", [], ["allow"], {}, {"decision": True}, {"decision": ["allow"]}),
        {"decision": "allow", "updated_input": "ls"},
        {"decision": "deny", "updated_input": {}},
        {"decision": "allow", "remember": "forever"},
        {"decision": "allow", "updated_input": {"command": object()}},
    ],
)
def test_any_other_answer_of_a_callback_denies(answer: Any):
    fields = read_answer(answer)
    assert fields["decision"] == "deny"
    assert "can_use_tool returned" in fields["reason"]


async def test_the_context_has_both_spellings():
    contexts: list[dict[str, Any]] = []

    def note(context: dict[str, Any]) -> str:
        contexts.append(context)
        return "allow"

    assert (await ask_callback(note, REQUEST, 5))["decision"] == "allow"
    [context] = contexts
    assert json.loads(context.pop("toolInputJson")) == {"command": "ls é"}
    assert context == {
        "toolName": "bash",
        "tool_name": "bash",
        "tool_input": {"command": "ls é"},
        "call_id": "c1",
        "session_id": "s",
        "request_id": "q1",
        "reason": "the mode asks",
        "risk": "low",
        "mode": "ask",
        "suggestions": ["bash(ls *)"],
        "paths": ["/a"],
        "text": "bash: run a program",
    }


async def raise_error(context: dict[str, Any]) -> str:
    raise ValueError("broken")


def raise_synchronously(context: dict[str, Any]) -> str:
    raise StopIteration("broken")


async def cancel_itself(context: dict[str, Any]) -> str:
    raise asyncio.CancelledError


async def wait_forever(context: dict[str, Any]) -> str:
    await asyncio.Event().wait()
    return "allow"


async def ignore_cancellation(context: dict[str, Any]) -> str:
    while True:
        try:
            await release.wait()
            return "allow"
        except asyncio.CancelledError:
            continue


release = asyncio.Event()
unblock = threading.Event()


def block_thread(context: dict[str, Any]) -> str:
    unblock.wait()
    return "allow"


@pytest.mark.parametrize(
    ("callback", "reason"),
    [
        (raise_error, "can_use_tool failed: ValueError: broken"),
        (raise_synchronously, "StopIteration"),
        (cancel_itself, "can_use_tool was cancelled"),
        (wait_forever, "did not answer within 0.05 s"),
        (ignore_cancellation, "did not answer within 0.05 s"),
        (block_thread, "did not answer within 0.05 s"),
    ],
)
async def test_a_callback_that_fails_or_is_late_denies(callback: Any, reason: str):
    unblock.clear()
    release.clear()
    async with asyncio.timeout(10):
        fields = await ask_callback(callback, REQUEST, 0.05)
    unblock.set()
    release.set()
    assert fields["decision"] == "deny"
    assert reason in fields["reason"]


class CallableObject:
    async def __call__(self, context: dict[str, Any]) -> str:
        return "allow"


@pytest.mark.parametrize(
    "callback", [CallableObject(), lambda context: "allow", lambda context: CallableObject()(context)]
)
async def test_functions_and_objects_are_callbacks(callback: Any):
    assert (await ask_callback(callback, REQUEST, 5))["decision"] == "allow"


async def test_two_questions_are_answered_independently(write_fake_program: FakeProgram):
    write_fake_program("""
        def twice(frame, number):
            start(frame, number)
            for name in ("slow", "quick"):
                put("permission_request", id=frame["id"], turn=number, request_id=name, tool=name)
            answers = []
            for _ in range(2):
                command = get()
                respond(command)
                answers.append([command["request_id"], command["decision"]])
            stop(frame, number, text=json.dumps(answers))
        ready()
        serve(twice)
    """)
    quick_was_asked = threading.Event()

    def decide(context: dict[str, Any]) -> str:
        if context["tool_name"] == "quick":
            quick_was_asked.set()
            return "deny"
        quick_was_asked.wait()
        return "allow"

    async with asyncio.timeout(20), HarnessClient(can_use_tool=decide) as client:
        stop = await (await client.send("hi")).result()
    assert sorted(json.loads(stop.text)) == [["quick", "deny"], ["slow", "allow"]]


async def test_the_time_limit_is_an_option(write_fake_program: FakeProgram):
    write_fake_program("""
        def ask(frame, number):
            start(frame, number)
            put("permission_request", id=frame["id"], turn=number, request_id="q", tool="bash")
            command = get()
            respond(command)
            stop(frame, number, text=command["decision"] + ": " + command["reason"])
        ready()
        serve(ask)
    """)
    async with HarnessClient(can_use_tool=wait_forever, permission_timeout=0.05) as client:
        stop = await (await client.send("hi")).result()
    assert stop.text == "deny: can_use_tool did not answer within 0.05 s"
