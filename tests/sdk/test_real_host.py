"""The SDK against `lsp-harness session` itself: what a program relies on, with a scripted model."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config import paths
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.sdk import (
    ErrorEvent,
    HarnessClient,
    HarnessError,
    HookDecision,
    PermissionRequest,
    QueueEvent,
    TextDelta,
    ToolEnd,
    ToolStart,
    TurnStop,
    query,
    tool,
)
from tests.support.child_signals import reset_signals
from tests.support.scripted_session import call_text, write_script

LIMIT_S = 40.0
READ = call_text("read", path="a.txt")
SLEEP = call_text("bash", command="echo $$ > pid; exec sleep 600")
HANG = {"text": "half", "hang": True}


def list_event_types(session_id: str) -> list[str]:
    """Return the types of the events in the log of a session."""
    return [event.type for event in read_history(paths.sessions_folder(), session_id)]


async def wait_for_pid(project: Path) -> int:
    """Return the process of the command `SLEEP` when it runs."""
    file = project / "pid"
    await wait_until(lambda: file.exists() and file.read_text().strip() != "")
    return int(file.read_text())


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition that no event of this process reports."""
    while not condition():  # noqa: ASYNC110 - another process fulfils it
        await asyncio.sleep(0)


def is_running(pid: int) -> bool:
    """Return whether a process runs and is not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@asynccontextmanager
async def start_session_process(project: Path, provider: str, *flags: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start `lsp-harness session` and read its first frame."""
    pipe = asyncio.subprocess.PIPE
    argv = (sys.executable, "-m", "lsp_harness", "session", f"--provider={provider}", *flags)
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=project, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, preexec_fn=reset_signals
    )
    try:
        assert (await receive(process))["type"] == "ready"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout
    return json.loads(await process.stdout.readline())


async def receive_until(process: asyncio.subprocess.Process, **fields: Any) -> dict[str, Any]:
    """Return the next frame with these fields."""
    while True:
        frame = await receive(process)
        if fields.items() <= frame.items():
            return frame


def send(process: asyncio.subprocess.Process, **frame: Any) -> None:
    assert process.stdin
    process.stdin.write(json.dumps(frame).encode() + b"\n")


# -- the ends of processes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_turn_and_the_tools_and_is_in_the_log(number: int, project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S), start_session_process(project, write_script(tmp_path, SLEEP)) as process:
        send(process, id="1", prompt="go")
        session_id = (await receive_until(process, type="tool_start"))["session_id"]
        child = await wait_for_pid(project)
        began_s = time.monotonic()
        process.send_signal(number)
        assert process.stderr
        assert await process.stderr.read() == b""
        assert await process.wait() == 128 + number
        assert time.monotonic() - began_s < 5
    assert not is_running(child)
    types = list_event_types(session_id)
    assert types[-2:] == ["turn.stopped", "session.closed"]
    assert types.count("tool.started") == types.count("tool.completed") + types.count("tool.failed")


async def test_a_client_that_does_not_read_cannot_keep_the_process(project: Path, tmp_path: Path):
    text = "word " * 400_000
    async with asyncio.timeout(LIMIT_S), start_session_process(project, write_script(tmp_path, text, HANG)) as process:
        # the pipe is full, and nobody reads
        send(process, id="1", prompt="go")
        send(process, command="status", request_id="s")
        process.send_signal(signal.SIGTERM)
        began_s = time.monotonic()
        # not `wait`, which needs the end of the pipes
        await wait_until(lambda: not is_running(process.pid))
        assert time.monotonic() - began_s < 6


def test_a_closed_client_causes_no_traceback(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, "word " * 400_000)
    argv = [sys.executable, "-m", "lsp_harness", "session", f"--provider={provider}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=project, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b'{"id": "1", "prompt": "go"}\n')
        process.stdin.close()
        assert process.wait(20)
        assert b"Traceback" not in process.stderr.read()


async def test_closing_a_client_ends_its_process_and_its_tools(project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S):
        async with HarnessClient(cwd=project, provider=write_script(tmp_path, SLEEP)) as client:
            # a turn that nobody has is interrupted
            turn = await client.send("go")
            pids = [client.pid or 0, await wait_for_pid(project)]
            assert turn.stop is None
        assert not any(map(is_running, pids))


async def test_a_session_that_is_killed_ends_the_turn_and_can_be_resumed(project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S):
        async with HarnessClient(cwd=project, provider=write_script(tmp_path, HANG)) as client:
            turn = await client.send("my colour is teal")
            async for event in turn:
                if isinstance(event, TextDelta):
                    break
            os.kill(client.pid or 0, signal.SIGKILL)
            with pytest.raises(HarnessError, match="ended with status -9"):
                await turn.result()
        provider = write_script(tmp_path, {"text": "teal", "expect": "my colour is teal"})
        async with HarnessClient(cwd=project, provider=provider, resume=client.session_id) as client:
            assert (await (await client.send("which?")).result()).text == "teal"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": "nobody"}, "there is no provider 'nobody'"),
        ({"resume": "01NOTHING"}, "there is no session '01NOTHING'"),
        ({"provider": "scripted:/nowhere.json"}, "there is no file /nowhere.json"),
        ({"allowed_tools": ["bash(("]}, "which is not the name of a tool"),
        ({"mcp_config": "/nowhere.json"}, "/nowhere.json"),
    ],
)
@pytest.mark.parametrize("in_process", [True, False])
async def test_a_failed_start_gives_its_reason(options: dict[str, Any], message: str, in_process: bool, project: Path):
    with pytest.raises(HarnessError, match=re.escape(message)) as failure:
        async with asyncio.timeout(LIMIT_S), HarnessClient(cwd=project, in_process=in_process, **options):
            pass
    if not in_process and failure.value.code != "usage":
        assert failure.value.exit_code


# -- interrupts
async def test_an_interrupt_is_about_one_prompt(project: Path, tmp_path: Path):
    async with (
        asyncio.timeout(LIMIT_S),
        start_session_process(project, write_script(tmp_path, HANG, "second")) as process,
    ):
        send(process, id="1", prompt="go")
        send(process, id="2", prompt="go on")
        await receive_until(process, type="text")
        # one that ended, and one that nobody sent
        for name in ("0", "x"):
            send(process, command="interrupt", request_id=f"i{name}", id=name)
            response = await receive_until(process, type="response", request_id=f"i{name}")
            assert response["result"] == {"interrupted": False}
        send(process, command="interrupt", request_id="i1", id="1")
        assert (await receive_until(process, type="turn_stop"))["reason"] == "interrupted"
        stop = await receive_until(process, type="turn_stop")
        assert (stop["id"], stop["reason"], stop["text"]) == ("2", "completed", "second")


async def test_a_prompt_that_waits_can_be_interrupted(project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S), start_session_process(project, write_script(tmp_path, HANG)) as process:
        send(process, id="1", prompt="go")
        send(process, id="2", prompt="go on")
        await receive_until(process, type="text")
        send(process, command="interrupt", request_id="i2", id="2")
        assert (await receive_until(process, type="response"))["result"] == {"interrupted": True}
        send(process, command="interrupt", request_id="i1", id="1")
        stops = [await receive_until(process, type="turn_stop") for _ in range(2)]
        assert [(stop["id"], stop["reason"]) for stop in stops] == [("1", "interrupted"), ("2", "interrupted")]


@pytest.mark.parametrize("in_process", [True, False])
async def test_an_unread_turn_is_interrupted(in_process: bool, project: Path, tmp_path: Path):
    provider = write_script(tmp_path, HANG, "next")
    async with asyncio.timeout(LIMIT_S), HarnessClient(cwd=project, provider=provider, in_process=in_process) as client:
        turn = await client.send("go")
        while not isinstance(await anext(turn), TextDelta):
            pass
        del turn
        assert (await (await client.send("next")).result()).text == "next"


# -- prompts
async def test_every_prompt_has_exactly_one_end_with_its_id(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, {"error": "away"}, "fine")
    schema = {"type": "array", "uniqueItems": {"no": "schema"}, "$ref": "#/nowhere"}
    prompts: list[dict[str, Any]] = [
        {"id": "1", "prompt": "a"},
        {"id": "2", "prompt": " "},
        {"id": "3", "prompt": 7},
        {"id": "4", "prompt": "b", "json_schema": "no"},
        {"id": "5", "prompt": "c", "json_schema": schema},
        {"id": "6", "prompt": "d"},
    ]
    async with asyncio.timeout(LIMIT_S), start_session_process(project, provider) as process:
        for prompt in prompts:
            send(process, **prompt)
        stops: dict[str, dict[str, Any]] = {}
        for _ in prompts:
            stop = await receive_until(process, type="turn_stop")
            assert stop["id"] not in stops
            stops[stop["id"]] = stop
            assert type(stop["turn_number"]) is int
        assert [stops[str(n)]["reason"] for n in range(1, 7)] == ["error"] * 5 + ["completed"]
        send(process, command="exit")
        assert process.stdout
        rest = [json.loads(line) for line in (await process.stdout.read()).splitlines()]
        assert not [frame for frame in rest if frame["type"] == "turn_stop"]
        assert await process.wait() == 0


async def test_prompts_that_the_end_of_the_session_cuts_off_have_their_ends_too(project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S), start_session_process(project, write_script(tmp_path, HANG, "b")) as process:
        send(process, id="1", prompt="a")
        await receive_until(process, type="text")
        # this one waits, and the last one is not even looked at
        send(process, id="2", prompt="b")
        send(process, id="3", prompt="c")
        send(process, command="exit")
        assert process.stdout
        rest = [json.loads(line) for line in (await process.stdout.read()).splitlines()]
    stops = {frame["id"]: frame["reason"] for frame in rest if frame["type"] == "turn_stop"}
    assert stops == dict.fromkeys("123", "cancelled")


@pytest.mark.parametrize("is_empty", [True, False])
def test_prompts_are_read_from_a_file_and_an_empty_input_is_allowed(is_empty: bool, project: Path, tmp_path: Path):
    prompts = tmp_path / "prompts"
    prompts.write_text('{"id": "1", "prompt": "a"}\n{"id": "2", "prompt": "b"}')
    provider = write_script(tmp_path, *([] if is_empty else ["A", "B"]))
    argv = [sys.executable, "-m", "lsp_harness", "session", f"--provider={provider}"]
    with open(os.devnull if is_empty else prompts) as file:
        result = subprocess.run(argv, cwd=project, stdin=file, capture_output=True, check=True, timeout=LIMIT_S)
    frames = [json.loads(line) for line in result.stdout.splitlines()]
    texts = [frame["text"] for frame in frames if frame["type"] == "turn_stop"]
    assert texts == ([] if is_empty else ["A", "B"])
    assert b"Traceback" not in result.stderr


async def test_the_first_event_has_all_properties_of_the_session(project: Path, tmp_path: Path):
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), permission_mode="plan") as client:
        started = client.started
    assert (started.driver, started.cwd, started.permission_mode) == ("chat", str(project), "plan")
    assert started.model.startswith("scripted:")
    assert started.version


async def test_the_decision_of_a_prompt_hook_is_an_event_of_its_turn(project: Path, tmp_path: Path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(
        '[[hooks.userPromptSubmit]]\ncommand = "echo too long >&2; exit 2"\n'
    )
    events = [event async for event in query("go", cwd=project, provider=write_script(tmp_path), in_process=True)]
    found = [(event.event, event.decision, event.reason) for event in events if isinstance(event, HookDecision)]
    assert found == [("userPromptSubmit", "deny", "too long")]
    assert isinstance(events[-1], TurnStop)
    assert events[-1].reason == "denied"


@pytest.mark.parametrize("in_process", [True, False])
async def test_an_output_of_megabytes_arrives_whole(in_process: bool, project: Path, tmp_path: Path):
    def write_much(letters: int) -> str:
        return "ä" * letters

    size = 1_200_000
    call = call_text("bash", command=f"head -c {size} /dev/zero | tr '\\0' y", execution="inline")
    provider = write_script(tmp_path, call_text("mcp__sdk__write_much", letters=size), call, "done")
    options: dict[str, Any] = {"cwd": project, "provider": provider, "in_process": in_process}
    async with asyncio.timeout(LIMIT_S), HarnessClient(tools=[write_much], **options) as client:
        ends = [event async for event in await client.send("go") if isinstance(event, ToolEnd)]
        assert [len(end.output) < 1_000 for end in ends] == [True, True]
        texts = [await client.read_artifact(end.artifact_id) for end in ends]
        assert [(set(text), len(text)) for text in texts] == [({"ä"}, size), ({"y"}, size)]
        with pytest.raises(HarnessError, match="26 letters"):
            await client.read_artifact("none")


@pytest.mark.parametrize("call", [READ, call_text("read", path="nothing.txt")])
async def test_a_hook_reads_the_output_of_a_tool_and_adds_a_text_for_the_model(
    call: str, project: Path, tmp_path: Path
):
    (tmp_path / "home").mkdir()
    said = """python -c 'import json, sys; print(json.dumps({"context": json.load(sys.stdin)["output"].upper()}))'"""
    hooks = (f"[[hooks.{event}]]\ncommand = {json.dumps(said)}\n" for event in ("postToolUse", "postToolUseFailure"))
    (tmp_path / "home" / "config.toml").write_text("".join(hooks))
    seen = "THE TEXT OF A" if call == READ else "NOTHING.TXT"
    provider = write_script(tmp_path, call, {"text": "seen", "expect": seen})
    async with asyncio.timeout(LIMIT_S), HarnessClient(cwd=project, provider=provider) as client:
        assert (await (await client.send("go")).result()).text == "seen"
    # the prompt of a resumed session has it too
    provider = write_script(tmp_path, {"text": "still", "expect": seen})
    async with HarnessClient(cwd=project, provider=provider, resume=client.session_id) as client:
        assert (await (await client.send("go")).result()).text == "still"


@pytest.mark.parametrize("in_process", [True, False])
async def test_a_model_that_fails_ends_the_turn_and_not_the_session(in_process: bool, project: Path, tmp_path: Path):
    provider = write_script(tmp_path, {"error": "away"}, "here again")
    async with asyncio.timeout(LIMIT_S), HarnessClient(cwd=project, provider=provider, in_process=in_process) as client:
        events = [event async for event in await client.send("go")]
        assert [event.recoverable for event in events if isinstance(event, ErrorEvent)] == [False]
        assert isinstance(events[-1], TurnStop)
        assert (await (await client.send("go")).result()).text == "here again"


async def test_a_prompt_with_a_schema_returns_a_value(project: Path, tmp_path: Path):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    provider = write_script(tmp_path, '{"n": 4}', '{"n": 4}', "no object", '{"n": "four"}')
    async with HarnessClient(cwd=project, provider=provider, in_process=True) as client:
        stops = [
            await (await client.send("n?", json_schema=wanted)).result() for wanted in (schema, None, schema, schema)
        ]
        values = [stop.structured_output for stop in stops]
    assert values == [{"n": 4}, None, None, None]


async def test_texts_for_later_reach_the_model(project: Path, tmp_path: Path):
    call = call_text("bash", command="until [ -e go ]; do :; done", execution="inline")
    replies = (call, {"text": "steered", "expect": "in French"}, {"text": "followed", "expect": "and then"})
    async with (
        asyncio.timeout(LIMIT_S),
        HarnessClient(cwd=project, provider=write_script(tmp_path, *replies), in_process=True) as client,
    ):
        feed = client.events()
        turn = await client.send("go")
        async for event in feed:
            if isinstance(event, ToolStart):
                break
        await client.steer("in French")
        await client.follow_up("and then")
        (project / "go").touch()
        assert (await turn.result()).text == "steered"
        stops: list[TurnStop] = []
        queued: list[str] = []
        async for event in feed:
            if isinstance(event, QueueEvent):
                queued.append(event.status)
            if isinstance(event, TurnStop):
                stops.append(event)
                if len(stops) == 2:
                    break
        assert [stop.text for stop in stops] == ["steered", "followed"]
        assert queued[:2] == ["added", "added"]


# -- permissions
async def test_a_program_that_is_slow_to_decide_denies(project: Path, tmp_path: Path):
    async def decide(context: dict[str, Any]) -> str:
        await asyncio.Event().wait()
        return "allow"

    provider = write_script(tmp_path, READ, "done")
    async with asyncio.timeout(LIMIT_S):
        events = [
            event
            async for event in query(
                "go", cwd=project, provider=provider, can_use_tool=decide, permission_timeout=0.3, in_process=True
            )
        ]
    [decision] = [event for event in events if isinstance(event, HookDecision)]
    assert (decision.decision, "0.3 s" in decision.reason) == ("deny", True)


async def test_the_session_waits_for_the_timeout_of_the_option(project: Path, tmp_path: Path):
    flags = ("--ask-permissions", "--permission-timeout=0.2")
    async with (
        asyncio.timeout(LIMIT_S),
        start_session_process(project, write_script(tmp_path, READ, "done"), *flags) as process,
    ):
        send(process, id="1", prompt="go")
        question = await receive_until(process, type="permission_request")
        decision = await receive_until(process, type="hook_decision")
        assert (decision["decision"], "0.2 s" in decision["reason"]) == ("deny", True)
        # an answer that comes too late is refused, and changes nothing
        await receive_until(process, type="turn_stop")
        send(process, command="permission", request_id=question["request_id"], decision="allow")
        response = await receive_until(process, type="response")
        assert (response["ok"], "no open question" in response["error"]["message"]) == (False, True)


async def test_a_program_answers_questions_from_the_iterator(project: Path, tmp_path: Path):
    flags = ("--permission-mode=ask", "--permission-prompt-tool=stdio")
    call = call_text("create", path="new.txt", text="made\n")
    async with (
        asyncio.timeout(LIMIT_S),
        start_session_process(project, write_script(tmp_path, call, "done"), *flags) as process,
    ):
        send(process, id="1", prompt="go")
        question = await receive_until(process, type="permission_request")
        send(process, command="permission", request_id="c1", question_id=question["request_id"], decision="allow")
        assert (await receive_until(process, type="response", request_id="c1"))["ok"]
        assert (await receive_until(process, type="tool_end"))["error"] is False
    assert (project / "new.txt").exists()


async def test_a_client_without_a_function_answers_the_questions_among_the_events(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, call_text("create", path="new.txt", text="made\n"), "done")
    async with asyncio.timeout(LIMIT_S), HarnessClient(cwd=project, provider=provider, ask_permissions=True) as client:
        asked = list[str]()
        async for event in await client.send("go"):
            if isinstance(event, PermissionRequest):
                asked.append(event.tool)
                await client.answer_permission(event, "allow")
    assert asked == ["create"]
    assert (project / "new.txt").exists()


async def test_an_input_that_the_program_changes_is_used_by_the_tool(project: Path, tmp_path: Path):
    (project / "b.txt").write_text("the text of b\n")
    decided = {"decision": "allow", "updated_input": {"path": "b.txt"}}
    events = [
        event
        async for event in query(
            "go", cwd=project, provider=write_script(tmp_path, READ, "done"), can_use_tool=lambda _: decided
        )
    ]
    assert [event.input for event in events if isinstance(event, PermissionRequest)] == [{"path": "a.txt"}]
    assert ["the text of b" in event.output for event in events if isinstance(event, ToolEnd)] == [True]


# -- surroundings
async def test_a_tool_that_fails_is_a_result_and_the_settings_of_servers_stay(project: Path, tmp_path: Path):
    @tool
    def divide(a: int, b: int) -> float:
        """Divide two numbers."""
        return a / b

    settings = project / ".mcp.json"
    settings.write_text('{"mcpServers": {}}')
    provider = write_script(tmp_path, call_text("mcp__sdk__divide", a=1, b=0), "it failed")
    async with asyncio.timeout(LIMIT_S):
        events = [event async for event in query("go", cwd=project, provider=provider, tools=[divide], in_process=True)]
    [end] = [event for event in events if isinstance(event, ToolEnd)]
    assert end.error
    assert events[-1].text == "it failed"  # type: ignore[union-attr]
    # nothing is written into the folder of the user
    assert sorted(path.name for path in project.iterdir()) == [".mcp.json", "a.txt"]
    assert settings.read_text() == '{"mcpServers": {}}'


async def test_sessions_of_one_process_do_not_mix(project: Path, tmp_path: Path):
    async def ask(name: str) -> str:
        provider = write_script(tmp_path, name)
        async with HarnessClient(cwd=project, provider=provider, in_process=True) as client:
            return (await (await client.send(name)).result()).text

    async with asyncio.timeout(LIMIT_S):
        assert await asyncio.gather(*map(ask, "abcd")) == list("abcd")
