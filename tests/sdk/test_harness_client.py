"""A client over several prompts: order, commands, and its end."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from lsp_harness import errors
from lsp_harness.sdk import (
    ClientEvent,
    HarnessClient,
    HarnessError,
    PermissionRequest,
    SessionStart,
    TaskEvent,
    TextDelta,
    TurnStart,
    TurnStop,
    UnknownEvent,
    query,
)
from tests.sdk.conftest import FakeProgram

LIMIT_S = 20.0


async def test_query_yields_the_session_first_and_the_stop_last(write_fake_program: FakeProgram):
    write_fake_program()
    events = [event async for event in query("hi")]
    assert isinstance(events[0], SessionStart)
    assert (events[0].session_id, events[0].model, events[0].permission_mode) == ("01TESTSESSION", "tiny", "trust")
    assert "".join(event.content for event in events if isinstance(event, TextDelta)) == "echo hi"
    assert isinstance(events[-1], TurnStop)
    assert events[-1].text == "echo hi"
    assert {event.prompt_id for event in events[1:]} == {events[-1].prompt_id}


async def test_events_arrive_while_the_turn_runs(write_fake_program: FakeProgram):
    # the fake continues only after the client has reacted to the first piece
    write_fake_program("""
        def in_two(frame, number):
            start(frame, number)
            say(frame, number, "one")
            command = get()
            respond(command, result={"item_id": "1"})
            say(frame, number, command["text"])
            stop(frame, number)
        ready()
        serve(in_two)
    """)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        texts: list[str] = []
        async for event in await client.send("hi"):
            if isinstance(event, TextDelta):
                texts.append(event.content)
                if len(texts) == 1:
                    await client.steer("two")
        assert texts == ["one", "two"]


async def test_the_process_stays_the_same_over_prompts(write_fake_program: FakeProgram):
    write_fake_program("""
        seen = []
        def remember(frame, number):
            seen.append(frame["prompt"])
            start(frame, number)
            stop(frame, number, text=" ".join([str(os.getpid()), *seen]))
        ready()
        serve(remember)
    """)
    async with HarnessClient() as client:
        assert client.session_id == "01TESTSESSION"
        pid = client.pid
        await (await client.send("first")).result()
        stop = await (await client.send("second")).result()
    assert stop.text == f"{pid} first second"


async def test_concurrent_prompts_are_answered_in_order(write_fake_program: FakeProgram):
    write_fake_program()
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        feed = client.events()

        async def ask(prompt: str) -> str:
            return (await (await client.send(prompt)).result()).text

        assert await asyncio.gather(*(ask(str(number)) for number in range(3))) == ["echo 0", "echo 1", "echo 2"]
    marks = [type(event).__name__ async for event in feed if isinstance(event, TurnStart | TurnStop)]
    assert marks == ["TurnStart", "TurnStop"] * 3


async def test_an_unread_turn_does_not_block_the_next_turn(write_fake_program: FakeProgram):
    write_fake_program()
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        first = await client.send("first")
        second = await client.send("second")
        assert (await second.result()).text == "echo second"
        assert (await first.result()).text == "echo first"
        assert first.stop
        assert first.prompt_id != second.prompt_id


async def test_a_prompt_whose_task_is_cancelled_in_the_queue_is_not_sent(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        first = await client.send("long")
        waiting = asyncio.create_task(client.send("never"))
        await anext(first)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await client.interrupt()
        assert (await first.result()).reason == "interrupted"
        assert (await (await client.send("short")).result()).turn_number == 1


INTERRUPTIBLE = """
    def until_interrupted(frame, number):
        start(frame, number)
        say(frame, number, "…")
        if frame["prompt"] == "short":
            return stop(frame, number)
        while (command := get()):
            if command.get("command") == "interrupt":
                stop(frame, number, "interrupted")
                return respond(command)
            if command.get("command") == "exit":
                sys.exit(0)
            respond(command)
    ready()
    serve(until_interrupted)
"""


async def test_an_interrupted_turn_keeps_the_session(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        await client.interrupt()
        pid = client.pid
        turn = await client.send("long")
        async for event in turn:
            if isinstance(event, TextDelta):
                await client.interrupt()
        assert turn.stop
        assert turn.stop.reason == "interrupted"
        assert (await (await client.send("short")).result()).reason == "completed"
        assert client.pid == pid


async def test_a_late_interrupt_is_no_error(write_fake_program: FakeProgram):
    write_fake_program("""
        def refuse(frame):
            respond(frame, ok=False, error={"code": "no_turn", "message": "no turn runs"})
        ready()
        serve(on_command=refuse)
    """)
    async with HarnessClient() as client:
        await (await client.send("hi")).result()
        await client.interrupt()
        with pytest.raises(HarnessError, match="no turn runs"):
            await client.steer("left")


async def test_a_command_without_an_answer_is_an_error(
    write_fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch
):
    write_fake_program("""
        ready()
        serve(on_command=lambda frame: None)
    """)
    monkeypatch.setattr("lsp_harness.sdk.frame_router.COMMAND_WAIT_S", 0.05)
    async with HarnessClient() as client:
        with pytest.raises(HarnessError, match="did not answer the command status") as failure:
            await client.status()
        assert failure.value.code == "timeout"


async def test_a_prompt_is_a_text(write_fake_program: FakeProgram):
    write_fake_program()
    async with HarnessClient() as client:
        with pytest.raises(HarnessError, match="must be a text"):
            await client.send(5)  # type: ignore[arg-type]
        turn = await client.send("hi")
        await turn.aclose()
        with pytest.raises(HarnessError, match="was closed"):
            await turn.result()


async def test_commands_reach_the_session_and_refusals_are_errors(write_fake_program: FakeProgram):
    write_fake_program("""
        log = []
        def note(frame):
            log.append({key: value for key, value in frame.items() if key != "request_id"})
            if frame["command"] == "status":
                respond(frame, result={"log": log})
            elif frame["command"] == "follow_up":
                respond(frame, ok=False, error={"code": "full", "message": "the queue is full"})
            elif frame["command"] == "steer":
                respond(frame, result={"item_id": "7"})
            else:
                respond(frame)
        ready()
        serve(on_command=note)
    """)
    async with HarnessClient() as client:
        assert await client.steer("left") == "7"
        with pytest.raises(HarnessError, match="the command fork without session_id"):
            await client.fork()
        await client.set_permission_mode("plan")
        with pytest.raises(HarnessError, match="the queue is full") as refused:
            await client.follow_up("later")
        assert refused.value.code == "full"
        with pytest.raises(HarnessError, match="must be one of ask, trust"):
            await client.set_permission_mode("everything")  # type: ignore[arg-type]
        assert (await client.status())["log"] == [
            {"command": "steer", "text": "left"},
            {"command": "fork"},
            {"command": "set_permission_mode", "mode": "plan"},
            {"command": "follow_up", "text": "later"},
            {"command": "status"},
        ]


async def test_a_program_without_callback_can_answer_a_request(write_fake_program: FakeProgram):
    write_fake_program("""
        def ask(frame, number):
            start(frame, number)
            put("permission_request", id=frame["id"], turn=number, request_id="q", tool="edit", input={"path": "a"})
            command = get()
            respond(command)
            stop(frame, number, text=json.dumps(command, sort_keys=True))
        ready()
        serve(ask)
    """)
    async with HarnessClient(permission_mode="ask") as client:
        turn = await client.send("hi")
        async for event in turn:
            if isinstance(event, PermissionRequest):
                await client.answer_permission(event, "allow", updated_input={"path": "b"}, remember="session")
    assert turn.stop
    expected = (
        '"decision": "allow", "reason": "", "remember": "session", "request_id": "q", "updated_input": {"path": "b"}'
    )
    assert turn.stop.text == f'{{"command": "permission", {expected}}}'


async def test_events_of_no_prompt_reach_the_feed(write_fake_program: FakeProgram):
    write_fake_program("""
        def with_task(frame, number):
            start(frame, number)
            put("task", status="started", task_id="t", kind="tests", turn=number)
            stop(frame, number)
            # the end of the task begins a turn of its own
            put("task", status="completed", task_id="t", summary="3 passed")
            put("turn_start", turn=number + 1, turn_number=number + 1)
            put("turn_stop", turn=number + 1, turn_number=number + 1, reason="completed")
            print("a library prints this")
            sys.stdout.flush()
        ready()
        serve(with_task)
    """)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        feed = client.events()
        own = [event async for event in await client.send("hi")]
        assert [type(event).__name__ for event in own] == ["TurnStart", "TaskEvent", "TurnStop"]
        received: list[ClientEvent] = []
        async for event in feed:
            received.append(event)
            if isinstance(event, UnknownEvent):
                break
        assert received[:3] == own
        assert received[3] == TaskEvent("completed", "t", summary="3 passed", session_id="01TESTSESSION", seq=3)
        assert [type(event).__name__ for event in received[4:]] == ["TurnStart", "TurnStop", "UnknownEvent"]
        assert received[-1] == UnknownEvent(raw={"line": "a library prints this"})


async def test_close_is_idempotent_and_ends_iterators(write_fake_program: FakeProgram):
    write_fake_program(INTERRUPTIBLE)
    client = HarnessClient()
    async with asyncio.timeout(LIMIT_S), client:
        feed = client.events()
        turn = await client.send("long")
        reading = asyncio.create_task(turn.result())
        await asyncio.gather(client.close(), client.close())
        with pytest.raises(HarnessError, match="the client was closed") as closed:
            await reading
        assert closed.value.code == "closed"
        assert [event async for event in feed] == []
        await client.close()
        with pytest.raises(HarnessError, match="the client was closed"):
            await client.send("more")
    with pytest.raises(HarnessError, match="opened once"):
        await client.__aenter__()


async def test_a_client_can_be_used_only_inside_of_its_block():
    client = HarnessClient()
    with pytest.raises(HarnessError, match="use `async with`"):
        await client.send("hi")
    with pytest.raises(HarnessError, match="use `async with`"):
        _ = client.session_id
    await client.close()


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("ready(wire=99, version='9.9')", "wire_version", "lsp-harness 9.9 speaks version 99 .* upgrade"),
        ("ready(wire='1')", "protocol", "unknown first line"),
        ("ready(wire=True)", "protocol", "unknown first line"),
        ("SESSION = ''; ready()", "protocol", "unknown first line"),
        ("sys.stderr.write('no model\\n'); sys.exit(3)", "exited", "ended with status 3: no model"),
        (
            "put('error', message='there is no session X', code='unknown_session', recoverable=False); sys.exit(1)",
            "unknown_session",
            "there is no session X",
        ),
        (
            "put('error', message='the model is missing', code='model', recoverable=False); get()",
            "model",
            "the model is missing",
        ),
    ],
)
async def test_a_session_that_cannot_begin_is_an_error(
    write_fake_program: FakeProgram, body: str, code: str, message: str
):
    write_fake_program(body)
    with pytest.raises(HarnessError, match=message) as failure:
        async with asyncio.timeout(LIMIT_S), HarnessClient():
            pass
    assert failure.value.code == code
    assert isinstance(failure.value, errors.HarnessError)


async def test_a_session_has_a_time_to_begin(write_fake_program: FakeProgram):
    write_fake_program("get()")
    with pytest.raises(HarnessError, match=r"not ready within 0\.05 s"):
        async with HarnessClient(start_timeout=0.05):
            pass


async def test_the_exit_status_is_an_attribute(write_fake_program: FakeProgram):
    write_fake_program("sys.stderr.write('a\\nb\\n'); sys.exit(7)")
    with pytest.raises(HarnessError) as failure:
        await anext(query("hi"))
    assert (failure.value.exit_code, failure.value.stderr) == (7, "a\nb\n")


async def test_a_program_that_cannot_run_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "lsp-harness").write_text("#!/nonexistent/python\n")
    (tmp_path / "lsp-harness").chmod(0o755)
    monkeypatch.setenv("LSP_HARNESS_BINARY", str(tmp_path / "lsp-harness"))
    with pytest.raises(HarnessError, match="cannot be started") as failure:
        await anext(query("hi"))
    assert failure.value.code == "start_failed"


async def test_the_environment_is_merged(write_fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch):
    write_fake_program("""
        def show(frame, number):
            start(frame, number)
            stop(frame, number, text=os.environ["OURS"] + os.environ["THEIRS"])
        ready()
        serve(show)
    """)
    monkeypatch.setenv("OURS", "1")
    async with HarnessClient(env={"THEIRS": "2"}) as client:
        assert (await (await client.send("hi")).result()).text == "12"
    assert "THEIRS" not in os.environ


async def test_a_schema_is_sent_with_the_prompt(write_fake_program: FakeProgram):
    write_fake_program("""
        def structured(frame, number):
            start(frame, number)
            stop(frame, number, structured_output={"schema": frame.get("json_schema")})
        ready()
        serve(structured)
    """)
    [*_, stop] = [event async for event in query("hi", json_schema={"type": "object"})]
    assert isinstance(stop, TurnStop)
    assert stop.structured_output == {"schema": {"type": "object"}}
    async with HarnessClient() as client:
        assert (await (await client.send("hi")).result()).structured_output == {"schema": None}
        stop = await (await client.send("hi", json_schema={"type": "array"})).result()
        assert stop.structured_output == {"schema": {"type": "array"}}
        with pytest.raises(HarnessError, match="cannot be sent as JSON"):
            await client.send("hi", json_schema={"type": object()})
        assert (await (await client.send("after")).result()).reason == "completed"


async def test_a_line_that_is_too_long_ends_the_session(
    write_fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch
):
    write_fake_program("""
        ready()
        get()
        sys.stdout.write("x" * 300_000)
        sys.stdout.flush()
        get()
    """)
    monkeypatch.setattr("lsp_harness.sdk.child_connection.MAX_LINE_BYTES", 2**16)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("hi")
        with pytest.raises(HarnessError, match="a line of more than") as failure:
            await turn.result()
        assert failure.value.code == "line_too_long"


async def test_many_frames_do_not_stall_the_program(write_fake_program: FakeProgram):
    write_fake_program("""
        def many(frame, number):
            start(frame, number)
            line = json.dumps({"type": "text", "id": frame["id"], "content": "word"}) + "\\n"
            sys.stdout.write(line * 20_000)
            stop(frame, number)
        ready()
        serve(many)
    """)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        turn = await client.send("hi")
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while not turn.stop:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        assert sum([isinstance(event, TextDelta) async for event in turn]) == 20_000
        await ticking
        assert ticks > 100


async def test_a_bug_in_the_reader_ends_the_turn(write_fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch):
    write_fake_program()
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        monkeypatch.setattr("lsp_harness.sdk.frame_router.parse_event", lambda frame: 1 / 0)
        with pytest.raises(HarnessError, match="cannot be read: ZeroDivisionError") as failure:
            await (await client.send("hi")).result()
        assert failure.value.code == "protocol"


async def test_a_session_that_does_not_stop_a_turn_is_ended(
    write_fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch
):
    write_fake_program("""
        def deaf(frame, number):
            start(frame, number)
            while get():
                pass
        ready()
        serve(deaf)
    """)
    monkeypatch.setattr("lsp_harness.sdk.frame_router.INTERRUPT_WAIT_S", 0.05)
    async with asyncio.timeout(LIMIT_S), HarnessClient() as client:
        await (await client.send("hi")).aclose()
        with pytest.raises(HarnessError, match="did not stop") as failure:
            await client.send("next")
        assert failure.value.code == "stuck"
