"""Python functions as hooks, in a process of their own, on a socket's protocol, and in this process."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config import paths
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.permission.hooks import HOOK_EVENTS
from lsp_harness.sdk import HarnessClient, HarnessError, HookDecision, HookMatcher, ToolEnd, query
from lsp_harness.sessions.session_host import serve_session
from lsp_harness.wire.frame_lines import encode_line
from lsp_harness.wire.frame_reading import read_frames
from tests.support.scripted_session import call_text, write_script

LIMIT_S = 40.0
READ = call_text("read", path="a.txt")
Facts = Mapping[str, Any]


async def run_and_read_ends(
    project: Path, hooks: Any, provider: str, **options: Any
) -> tuple[list[ToolEnd], list[HookDecision]]:
    """Return the results of the tools of a prompt, and the decisions of hooks about it."""
    async with asyncio.timeout(LIMIT_S):
        events = [event async for event in query("go", cwd=project, provider=provider, hooks=hooks, **options)]
    decisions = [event for event in events if isinstance(event, HookDecision) and event.event != "permission"]
    return [event for event in events if isinstance(event, ToolEnd)], decisions


def deny(facts: Facts) -> dict[str, str]:
    return {"decision": "deny", "reason": f"no {facts['tool']} today"}


async def change(facts: Facts) -> dict[str, Any]:
    return {"decision": "allow", "updated_input": {"path": "b.txt"}, "context": "b is better"}


@pytest.fixture
async def server(project: Path) -> Any:
    """Return the socket of a server of sessions."""
    path = project.parent / "s"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming: asyncio.Queue[Any] = asyncio.Queue()
        outgoing: asyncio.Queue[Any] = asyncio.Queue()

        async def read() -> None:
            async for frame in read_frames(reader):
                incoming.put_nowait(frame)
            incoming.put_nowait(None)

        reading = asyncio.ensure_future(read())
        serving = asyncio.ensure_future(serve_session(incoming, outgoing))
        while (frame := await outgoing.get()) is not None:
            writer.write(encode_line(frame))
        await serving
        reading.cancel()
        writer.close()

    started = await asyncio.start_unix_server(serve, path, limit=2**26)
    path.chmod(0o600)
    async with started:
        yield path


@pytest.mark.parametrize("where", ["child", "socket", "in_process"])
async def test_a_function_denies_and_another_one_changes_the_input(
    where: str, project: Path, tmp_path: Path, server: Path
):
    options: dict[str, Any] = {"socket": {"attach": server}, "in_process": {"in_process": True}}.get(where, {})
    (project / "b.txt").write_text("the text of b\n")
    provider = write_script(tmp_path, READ, call_text("grep", pattern="text"), "done")
    heard: list[str] = []
    hooks = {
        "preToolUse": [HookMatcher("read", change), HookMatcher("grep|bash", deny)],
        **{name: [lambda facts, name=name: heard.append(name)] for name in ("sessionStart", "postToolUse", "turnStop")},
        "sessionEnd": [lambda facts: heard.append("sessionEnd")],
    }
    ends, decisions = await run_and_read_ends(project, hooks, provider, **options)
    assert [end.error for end in ends] == [False, True]
    assert "the text of b" in ends[0].output
    assert "b is better" in ends[0].output
    assert "no grep today" in ends[1].output
    shown = [(event.event, event.by, event.decision) for event in decisions if event.event == "preToolUse"]
    assert shown == [("preToolUse", "change", "allow"), ("preToolUse", "deny", "deny")]
    assert heard == ["sessionStart", "postToolUse", "turnStop", "sessionEnd"]


def raise_error(facts: Facts) -> None:
    raise ValueError("broken")


async def wait_for_ever(facts: Facts) -> None:
    await asyncio.Event().wait()


def return_five(facts: Facts) -> int:
    return 5


def return_unsendable(facts: Facts) -> object:
    return {"decision": object()}


FAILURES: Mapping[Callable[[Facts], Any], str] = {
    raise_error: "the hook raise_error failed: it failed: ValueError: broken",
    wait_for_ever: "within 0.2 s",
    return_five: "the hook return_five failed: the answer is a int and no object",
    return_unsendable: "it returned something that is not JSON",
}


@pytest.mark.parametrize("function", FAILURES)
async def test_a_function_that_fails_denies_and_says_why(
    function: Callable[[Facts], Any], project: Path, tmp_path: Path
):
    provider = write_script(tmp_path, READ, "done")
    hooks = {"preToolUse": [HookMatcher("", function, timeout=0.2)]}
    [end], _ = await run_and_read_ends(project, hooks, provider, in_process=True)
    assert end.error
    assert FAILURES[function] in end.output
    # one that is only told fails open, and the failure is an event
    hooks = {"postToolUse": [HookMatcher("", function, timeout=0.2)]}
    [end], decisions = await run_and_read_ends(project, hooks, provider, in_process=True)
    assert not end.error
    assert [event.error != "" for event in decisions] == [True]


async def test_a_hook_function_denies_a_prompt_or_adds_to_it(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, {"text": "teal", "expect": "the user likes teal"})

    def check(facts: Facts) -> Any:
        return "deny" if "secret" in facts["prompt"] else {"context": "the user likes teal"}

    hooks = {"userPromptSubmit": [check]}
    async with HarnessClient(cwd=project, provider=provider, hooks=hooks, in_process=True) as client:
        assert (await (await client.send("a secret")).result()).reason == "denied"
        assert (await (await client.send("my colour?")).result()).text == "teal"
        with pytest.raises(HarnessError, match="the hook check"):
            await client.follow_up("a secret")


async def test_a_subagent_and_a_resumed_session_have_the_functions(project: Path, tmp_path: Path):
    heard: list[tuple[str, str]] = []
    hooks = {"preToolUse": [lambda facts: heard.append((facts["tool"], facts["session_id"]))]}
    provider = write_script(tmp_path, call_text("agent", prompt="look"), READ, "it says text", "done")
    async with HarnessClient(cwd=project, provider=provider, hooks=hooks, in_process=True) as client:
        await (await client.send("go")).result()
    assert [tool for tool, _ in heard] == ["agent", "read"]
    assert heard[0][1] == client.session_id != heard[1][1]
    provider = write_script(tmp_path, READ, "done")
    options: dict[str, Any] = {"resume": client.session_id, "hooks": hooks, "in_process": True}
    async with HarnessClient(cwd=project, provider=provider, **options) as client:
        await (await client.send("go")).result()
    assert heard[2] == ("read", client.session_id)
    log = list(read_history(paths.sessions_folder(), client.session_id))
    assert [event.data["hook"] for event in log if event.type == "hook.decision"] == ["<lambda>"] * 2


async def test_a_change_of_the_mode_asks_a_function_without_a_deadlock(project: Path, tmp_path: Path):
    async def refuse(facts: Facts) -> str:
        return "deny"

    hooks = {"configChange": [refuse]}
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), hooks=hooks) as client:
        with pytest.raises(HarnessError, match="the hook refuse does not allow this permission mode"):
            async with asyncio.timeout(LIMIT_S):
                await client.set_permission_mode("plan")


async def test_a_session_does_not_wait_for_a_closed_client(project: Path, tmp_path: Path):
    incoming: asyncio.Queue[Any] = asyncio.Queue()
    outgoing: asyncio.Queue[Any] = asyncio.Queue()
    options = {
        "cwd": str(project),
        "provider": write_script(tmp_path),
        "client_hooks": [{"event": event, "timeout_s": 1000} for event in HOOK_EVENTS],
    }
    serving = asyncio.ensure_future(serve_session(incoming, outgoing, options))
    incoming.put_nowait({"id": "1", "prompt": "go"})
    async with asyncio.timeout(LIMIT_S):
        while (await outgoing.get())["type"] != "hook_request":
            pass
        incoming.put_nowait(None)
        await serving
    frames = [outgoing.get_nowait() for _ in range(outgoing.qsize())]
    [stop] = [frame for frame in frames if frame and frame["type"] == "turn_stop"]
    assert stop["reason"] == "denied"


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"preToolUse": deny}, "has no list of functions for preToolUse"),
        ({"preToolUse": ["deny"]}, "which is no function and no HookMatcher"),
        ({"preToolUse": [HookMatcher("", deny, timeout=0)]}, "must be a number above 0"),
        ([deny], "must be a dictionary"),
        ({"beforeTool": [deny]}, "'beforeTool' is no event of hooks; they are sessionStart"),
    ],
)
async def test_hooks_that_are_not_valid_are_refused(hooks: Any, message: str, project: Path, tmp_path: Path):
    with pytest.raises(HarnessError, match=message):
        async with HarnessClient(cwd=project, provider=write_script(tmp_path), hooks=hooks, in_process=True):
            pass
