"""The ten defects that were observed in another SDK of this kind. Each test failed there."""

import asyncio
import os
import signal
import time
import tomllib
from pathlib import Path

import pytest

from lsp_harness.sdk import HarnessClient, HarnessError, TextDelta, ToolEnd, TurnStop, query
from tests.sdk.conftest import FakeProgram

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 20.0


def test_the_library_of_the_tools_has_an_upper_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "mcp>=2,<3" in project["optional-dependencies"]["mcp"]


async def test_a_child_that_ends_in_a_turn_ends_the_iterator(write_fake_program: FakeProgram):
    write_fake_program("""
        def die(frame, number):
            start(frame, number)
            say(frame, number, "half")
            sys.exit(0)
        ready()
        serve(die)
    """)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("hi")
        events = [await anext(turn), await anext(turn)]
        assert isinstance(events[-1], TextDelta)
        with pytest.raises(HarnessError, match="ended with status 0") as failure:
            await turn.result()
        assert (failure.value.code, failure.value.exit_code) == ("exited", 0)
        with pytest.raises(HarnessError, match="ended with status 0"):
            await client.send("again")


async def test_a_child_that_ends_after_ready_ends_the_iterator(write_fake_program: FakeProgram):
    write_fake_program("""
        ready()
        sys.stderr.write("out of memory\\n")
        sys.exit(7)
    """)
    async with asyncio.timeout(LIMIT_S):
        events = query("hi")
        await anext(events)
        with pytest.raises(HarnessError, match="ended with status 7: out of memory") as failure:
            await anext(events)
    assert (failure.value.exit_code, failure.value.stderr) == (7, "out of memory\n")


async def test_every_iterator_ends_with_turn_stop(write_fake_program: FakeProgram):
    write_fake_program("""
        def with_agent(frame, number):
            start(frame, number)
            put("turn_complete", id=frame["id"], turn=number, reason="completed", agent="search", text="found")
            say(frame, number, "after the subagent")
            stop(frame, number)
        ready()
        serve(with_agent)
    """)
    async with HarnessClient() as client:
        for number in range(2):
            events = [event async for event in await client.send("hi")]
            names = [type(event).__name__ for event in events]
            assert names == ["TurnStart", "TurnComplete", "TextDelta", "TurnStop"]
            assert isinstance(events[-1], TurnStop)
            assert events[-1].turn_number == number


INTERRUPTIBLE = """
    def until_interrupted(frame, number):
        start(frame, number)
        say(frame, number, "…")
        if frame["prompt"] == "short":
            return stop(frame, number)
        while (command := get()):
            if command.get("command") == "interrupt":
                respond(command)
                return stop(frame, number, "interrupted")
            if command.get("command") == "exit":
                sys.exit(0)
            respond(command)
        sys.exit(0)
    ready()
    serve(until_interrupted)
"""


async def test_an_abandoned_iterator_does_not_block_the_next_prompt(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        pid = client.pid
        async for _ in await client.send("long"):
            break
        stop = await (await client.send("short")).result()
        assert (stop.reason, stop.turn_number, client.pid) == ("completed", 1, pid)


async def test_a_cancelled_reader_does_not_block_the_next_prompt(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("long")
        reading = asyncio.create_task(turn.result())
        await asyncio.sleep(0)
        reading.cancel()
        # the task and the turn are still referred to
        await asyncio.wait({reading})
        assert (await (await client.send("short")).result()).reason == "completed"
        assert turn.stop
        assert turn.stop.reason == "interrupted"


async def test_break_and_aclose_end_at_once(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    began = time.monotonic()
    events = query("long")
    async for event in events:
        if isinstance(event, TextDelta):
            break
    await events.aclose()
    assert time.monotonic() - began < 4


async def test_closing_a_turn_ends_only_this_turn(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("long")
        await anext(turn)
        await turn.aclose()
        assert [event async for event in turn] == []
        assert (await (await client.send("short")).result()).turn_number == 1


async def test_a_line_of_a_megabyte_arrives(write_fake_program: FakeProgram):
    write_fake_program("""
        def big(frame, number):
            start(frame, number)
            put("tool_end", id=frame["id"], turn=number, tool="bash", call_id="1", output="é" * 2**20)
            stop(frame, number)
        ready()
        serve(big)
    """)
    [end] = [event async for event in query("hi") if isinstance(event, ToolEnd)]
    assert end.output == "é" * 2**20


@pytest.mark.parametrize("place", ["before ready", "in a turn"])
async def test_much_output_on_stderr_does_not_block(write_fake_program: FakeProgram, place: str):
    write = 'sys.stderr.write("x" * 300_000); sys.stderr.flush()'
    write_fake_program(f"""
        def loud(frame, number):
            {write if place == "in a turn" else "pass"}
            answer(frame, number)
        {write if place == "before ready" else "pass"}
        ready()
        serve(loud)
    """)
    async with asyncio.timeout(LIMIT_S):
        assert isinstance([event async for event in query("hi")][-1], TurnStop)


async def test_a_dead_child_whose_pipe_stays_open_ends_the_iterator(write_fake_program: FakeProgram):
    write_fake_program("""
        def die(frame, number):
            # the process leaves the session, with the pipes
            child = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
            start(frame, number)
            say(frame, number, str(child.pid))
            os.kill(os.getpid(), signal.SIGKILL)
        ready()
        serve(die)
    """)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("hi")
        events = [await anext(turn), await anext(turn)]
        assert isinstance(events[-1], TextDelta)
        with pytest.raises(HarnessError, match="ended with status -9"):
            await turn.result()
    os.kill(int(events[-1].content), signal.SIGKILL)


def echo(text: str) -> str:
    """Return the text."""
    return text


async def test_tools_and_a_callback_do_not_change_the_working_folder(write_fake_program: FakeProgram, tmp_path: Path):
    write_fake_program("""
        def where(frame, number):
            start(frame, number)
            stop(frame, number, text=json.dumps([os.getcwd(), option("cwd"), os.listdir()]))
        ready()
        serve(where)
    """)
    project = tmp_path / "project"
    project.mkdir()
    async with HarnessClient(cwd=project, tools=[echo], can_use_tool=lambda context: "allow") as client:
        stop = await (await client.send("pwd")).result()
    assert stop.text == f'["{project}", "{project}", []]'
    assert os.listdir(project) == []


async def test_the_mcp_servers_and_hooks_of_the_user_stay(write_fake_program: FakeProgram, tmp_path: Path):
    write_fake_program("""
        def settings(frame, number):
            start(frame, number)
            servers = json.load(open(option("mcp-config")))["mcpServers"]
            stop(frame, number, text=json.dumps([sorted(servers), open("lsp-harness.toml").read(),
                                                 option("strict-mcp-config", False)]))
        ready()
        serve(settings)
    """)
    text = '[[hooks.preToolUse]]\\ncommand = "check"\\n[mcp.servers.mine]\\ncommand = "mine"\\n'
    (tmp_path / "lsp-harness.toml").write_text(text.replace("\\n", "\n"))
    (tmp_path / "servers.json").write_text('{"mcpServers": {"other": {"command": "other"}}}')
    async with HarnessClient(cwd=tmp_path, tools=[echo], mcp_config=tmp_path / "servers.json") as client:
        stop = await (await client.send("hi")).result()
    assert stop.text == f'[["other", "sdk"], "{text}", false]'.replace('"check"', '\\"check\\"').replace(
        '"mine"\\n', '\\"mine\\"\\n'
    )


@pytest.mark.parametrize("mode", ["ask", "trust", "deny", "acceptEdits", "plan", "auto", "bypassPermissions"])
async def test_the_callback_is_asked_in_every_mode(write_fake_program: FakeProgram, mode: str):
    write_fake_program("""
        def check(frame, number):
            start(frame, number)
            assert option("ask-permissions") is True
            put("permission_request", id=frame["id"], turn=number, request_id="q1", tool="bash",
                input={"command": "ls"}, mode=option("permission-mode"))
            given = get()
            respond(given)
            put("tool_end", id=frame["id"], turn=number, tool="bash", call_id="1",
                error=given["decision"] == "deny", output=given.get("reason", ""))
            stop(frame, number)
        ready()
        serve(check)
    """)
    asked: list[str] = []

    def refuse(context: dict[str, object]) -> dict[str, str]:
        asked.append(f"{context['tool_name']} {context['mode']}")
        return {"decision": "deny", "reason": "not today"}

    events = [event async for event in query("hi", permission_mode=mode, can_use_tool=refuse)]  # type: ignore[arg-type]
    [end] = [event for event in events if isinstance(event, ToolEnd)]
    assert (asked, end.error, end.output) == ([f"bash {mode}"], True, "not today")
