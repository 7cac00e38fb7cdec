"""Tests that every hook event calls the hooks of the user, and that some hooks can forbid something."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from lsp_harness.permission.hooks import HOOK_EVENTS
from lsp_harness.sdk import HarnessClient, HarnessError, SessionStart, ToolEnd, TurnStop
from tests.appendix.bench import CREATE, READ, Bench, read_facts, select_events
from tests.appendix.names import require_complete_table
from tests.support.scripted_session import call_text

Trigger = Callable[[Bench], Awaitable[Any]]


async def answer(bench: Bench) -> None:
    await bench.ask("hi")


async def read(bench: Bench) -> None:
    await bench.ask(READ, "done")


async def fail(bench: Bench) -> None:
    await bench.ask(call_text("read", path="nothing.txt"), "done")


async def ask_permission(bench: Bench) -> None:
    await bench.ask(CREATE, "done", permission_mode="ask")


async def edit(bench: Bench) -> None:
    await bench.ask(CREATE, "done")


async def continue_in_another_client(bench: Bench) -> None:
    [start] = select_events(SessionStart, await bench.ask("hi"))[:1]
    other = bench.folder / "other"
    other.mkdir()
    await bench.ask("hi", resume=start.session_id, cwd=other)


async def fill_the_window(bench: Bench) -> None:
    (bench.folder / "long.txt").write_text("word and more words\n" * 1200)
    call = call_text("read", path="long.txt")
    async with HarnessClient(
        provider=bench.script(*[call, "read it"] * 4), cwd=bench.folder, in_process=True, allowed_tools=["read"]
    ) as client:
        for _ in range(4):
            await (await client.send("read it")).result()


async def start_agent(bench: Bench) -> None:
    await bench.ask(call_text("agent", prompt="look around"), "nothing there", "done")


async def change_the_mode(bench: Bench) -> None:
    async with HarnessClient(provider=bench.script(), cwd=bench.folder, in_process=True) as client:
        await client.set_permission_mode("plan")


async def end_a_task(bench: Bench) -> None:
    call = call_text("bash", command="until [ -e go ]; do :; done", execution="background")
    provider = bench.script(call, "it runs", "it has ended")
    async with HarnessClient(provider=provider, cwd=bench.folder, in_process=True) as client:
        await (await client.send("go")).result()
        feed = client.events()
        # the task ends while no turn runs, so a turn begins by itself
        (bench.folder / "go").touch()
        async for event in feed:
            if isinstance(event, TurnStop):
                break


TRIGGERS: Mapping[str, tuple[Trigger, Mapping[str, Any]]] = {
    # what happens, and some of what the hook is told
    "sessionStart": (answer, {"model": "scripted:script-0.json"}),
    "sessionEnd": (answer, {}),
    "preToolUse": (read, {"tool": "read", "tool_input": {"path": "a.txt"}, "kind": "read", "risk": "low"}),
    "postToolUse": (read, {"tool": "read", "tool_input": {"path": "a.txt"}}),
    "postToolUseFailure": (fail, {"tool": "read", "tool_input": {"path": "nothing.txt"}}),
    "userPromptSubmit": (answer, {"prompt": "do it"}),
    "permissionRequest": (ask_permission, {"tool": "create"}),
    "fileChanged": (edit, {"paths": ["new.txt"]}),
    "cwdChanged": (continue_in_another_client, {}),
    "subagentStart": (start_agent, {}),
    "subagentStop": (start_agent, {}),
    "preCompact": (fill_the_window, {}),
    "postCompact": (fill_the_window, {}),
    "configChange": (change_the_mode, {"permission_mode": "plan"}),
    "notification": (end_a_task, {}),
    "turnStart": (answer, {"prompt": "do it"}),
    "turnStop": (answer, {"reason": "completed"}),
}


@pytest.mark.parametrize("event", require_complete_table("sdk", "hooks", TRIGGERS))
async def test_each_event_calls_its_hook(event: str, session_bench: Bench):
    trigger, facts = TRIGGERS[event]
    file = session_bench.hook(event)
    async with asyncio.timeout(90):
        await trigger(session_bench)
    heard = read_facts(file)
    assert heard
    assert heard[0]["event"] == event
    assert heard[0]["session_id"]
    assert {key: heard[0][key] for key in facts} == facts


def test_each_hook_event_has_a_trigger_in_this_test():
    assert set(TRIGGERS) == set(HOOK_EVENTS)


DENY = {"decision": "deny", "reason": "not by my hook"}


async def stop_detail(bench: Bench) -> str:
    return (await bench.stop()).detail


async def read_tool_output(bench: Bench) -> str:
    [end] = select_events(ToolEnd, await bench.ask(CREATE, "done", permission_mode="ask"))
    return end.output


async def read_mode_error(bench: Bench) -> str:
    with pytest.raises(HarnessError) as failure:
        await change_the_mode(bench)
    return str(failure.value)


FORBIDDEN: Mapping[str, Callable[[Bench], Awaitable[str]]] = {
    "preToolUse": read_tool_output,
    "userPromptSubmit": stop_detail,
    "permissionRequest": read_tool_output,
    "configChange": read_mode_error,
    "turnStart": stop_detail,
}


@pytest.mark.parametrize("event", FORBIDDEN)
async def test_a_hook_forbids(event: str, session_bench: Bench):
    session_bench.hook(event, DENY)
    async with asyncio.timeout(90):
        assert "not by my hook" in await FORBIDDEN[event](session_bench)
    assert not (session_bench.folder / "new.txt").exists()


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
async def test_a_hook_of_prompts_forbids_a_queued_text(kind: str, session_bench: Bench):
    session_bench.hook("userPromptSubmit", DENY)
    async with HarnessClient(provider=session_bench.script(), cwd=session_bench.folder, in_process=True) as client:
        with pytest.raises(HarnessError, match="not by my hook"):
            await getattr(client, kind)("do it")
    assert not [event for event in session_bench.log() if event.type == "queue.added"]


async def test_a_hook_of_turns_forbids_the_turn_of_a_queued_text(session_bench: Bench):
    session_bench.hook("turnStart", DENY)
    async with HarnessClient(provider=session_bench.script(), cwd=session_bench.folder, in_process=True) as client:
        feed = client.events()
        await client.follow_up("do it")
        stop = await anext(event async for event in feed if isinstance(event, TurnStop))
    assert stop.reason == "denied"
    assert "not by my hook" in stop.detail


async def test_a_hook_forbids_a_compaction(session_bench: Bench):
    session_bench.hook("preCompact", DENY)
    async with asyncio.timeout(90):
        await fill_the_window(session_bench)
    assert not [event for event in session_bench.log() if event.type == "compaction.completed"]
