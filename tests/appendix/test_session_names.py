"""The commands, variables, events, reasons, projections and steps of sessions that another program names."""

import asyncio
import inspect
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat import loop
from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.conversation_prompt import build_messages
from lsp_harness.chat.conversation_steps import ConversationSteps
from lsp_harness.config import paths
from lsp_harness.events.event_codec import EVENT_CLASSES
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.projections.message_history import project_conversation
from lsp_harness.kernel.projections.session_state import project_session
from lsp_harness.sdk import HarnessClient, SessionStart, TaskEvent, TextDelta, ToolEnd
from tests.appendix.bench import READ, Bench, select_events
from tests.appendix.names import require_complete_table
from tests.appendix.test_hooks import end_a_task, fill_the_window
from tests.support.scripted_session import call_text
from tests.support.server import FakeServer, Reply, open_server


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command."""

    code: int
    out: str
    err: str


async def run(bench: Bench, *arguments: str, **environment: str) -> CommandResult:
    """Run `lsp-harness` in the folder of a test."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_harness", *arguments),
        cwd=bench.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(b"hi\n")
    return CommandResult(process.returncode or 0, out.decode(), err.decode())


CommandTest = Callable[[Bench], Awaitable[None]]


async def check_chat(bench: Bench) -> None:
    ran = await run(bench, "chat", f"--provider={bench.script('hello you')}")
    assert (ran.code, "hello you" in ran.out) == (0, True), ran.err


async def check_run(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", f"--provider={bench.script('hello you')}")
    assert (ran.code, ran.out) == (0, "hello you\n")


async def check_session(bench: Bench) -> None:
    await run(bench, "run", "my colour is teal", f"--provider={bench.script('noted')}")
    [session_id] = {event.session_id for event in bench.log()}
    provider = bench.script({"text": "teal", "expect": "my colour is teal"})
    ran = await run(bench, "run", "which?", "--session", session_id, f"--provider={provider}")
    assert (ran.code, ran.out) == (0, "teal\n")
    assert "events loaded" in ran.err


async def check_provider(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", "--provider", "nobody")
    assert ran.code
    assert "there is no provider 'nobody'" in ran.err


async def check_model(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", "--model", "nothing.gguf")
    assert ran.code
    assert "nothing.gguf" in ran.err


async def check_help(bench: Bench) -> None:
    ran = await run(bench, "run", "--help")
    assert ran.code == 0
    assert all(word in ran.out for word in ("--session", "--provider", "--model"))


COMMANDS: Mapping[str, CommandTest] = {
    "lh": check_chat,
    "lh PROMPT": check_run,
    "--session": check_session,
    "--provider": check_provider,
    "--model": check_model,
    "--help": check_help,
}


@pytest.mark.parametrize("word", require_complete_table("session", "cli", COMMANDS))
async def test_each_documented_word_of_the_command_line_works(word: str, session_bench: Bench):
    await COMMANDS[word](session_bench)


async def check_home(bench: Bench) -> None:
    other = bench.scripts / "other-home"
    await run(bench, "run", "hi", f"--provider={bench.script('x')}", LSP_HARNESS_HOME=str(other))
    assert list((other / "sessions").glob("*/events.jsonl"))


async def check_provider_variable(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", LSP_HARNESS_PROVIDER=bench.script("chosen by the variable"))
    assert ran.out == "chosen by the variable\n"


async def check_model_variable(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", LSP_HARNESS_MODEL="chosen.gguf")
    assert ran.code
    assert "chosen.gguf" in ran.err


async def check_key(bench: Bench) -> None:
    ran = await run(bench, "run", "hi", "--provider=openai", "--model=m", OPENAI_API_KEY="")
    [line] = ran.err.splitlines()
    assert ran.code == 1, ran
    assert "OPENAI_API_KEY" in line


async def check_ollama(bench: Bench) -> None:
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": "m", "owned_by": "somebody"}]})
    answer = {"choices": [{"index": 0, "delta": {"content": "from the address"}, "finish_reason": "stop"}]}
    server.on["POST", "/v1/chat/completions"] = Reply((answer, "[DONE]"))
    arguments = ("run", "hi", "--provider=ollama", "--model=m", "--allowed-tools=")
    for name in ("LSP_HARNESS_OLLAMA_BASE_URL", "LEHARNESS_OLLAMA_BASE_URL"):
        async with open_server(server):
            ran = await run(bench, *arguments, **{name: server.url})
        assert ran.out == "from the address\n", ran.err


VARIABLES: Mapping[str, CommandTest] = {
    "LEHARNESS_HOME": check_home,
    "LEHARNESS_PROVIDER": check_provider_variable,
    "LEHARNESS_MODEL": check_model_variable,
    "OPENAI_API_KEY": check_key,
    "LEHARNESS_OLLAMA_BASE_URL": check_ollama,
}


@pytest.mark.parametrize("name", require_complete_table("session", "env", VARIABLES))
async def test_each_documented_variable_of_the_program_works(name: str, session_bench: Bench):
    await VARIABLES[name](session_bench)


# -- events
async def answer(bench: Bench) -> None:
    await bench.ask(READ, "done")


async def fail(bench: Bench) -> None:
    await bench.ask({"error": "away"})


async def fail_tool(bench: Bench) -> None:
    await bench.ask(call_text("read", path="nothing"), "done")


async def interrupt(bench: Bench) -> None:
    provider = bench.script({"text": "half", "hang": True})
    async with HarnessClient(provider=provider, cwd=bench.folder, in_process=True) as client:
        async for event in await client.send("hi"):
            if isinstance(event, TextDelta):
                await client.interrupt()


async def run_command(bench: Bench) -> None:
    await bench.ask(call_text("bash", command="true", execution="inline"), "done")


async def cancel_task(bench: Bench) -> None:
    call = call_text("bash", command="sleep 60", execution="background")
    async with HarnessClient(provider=bench.script(call, "runs"), cwd=bench.folder, in_process=True) as client:
        await (await client.send("go")).result()


async def fail_task(bench: Bench) -> None:
    # the folder in which the command would run is gone
    folder = bench.folder / "gone"
    folder.mkdir()
    provider = bench.script(call_text("bash", command="true"), "done")
    async with HarnessClient(provider=provider, cwd=folder, in_process=True) as client:
        folder.rmdir()
        await (await client.send("go")).result()


async def store_output(bench: Bench) -> None:
    await bench.ask(call_text("bash", command="seq 100000"), "done")


async def load_skill(bench: Bench) -> None:
    skill = bench.folder / ".lsp-harness" / "skills" / "greet"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n")
    bench.write_settings("user", f'[permissions]\ntrusted_folders = ["{bench.folder}"]\n')
    await bench.ask(call_text("skill", name="greet"), "done")


async def start_agent(bench: Bench) -> None:
    await bench.ask(call_text("agent", prompt="look around"), "nothing there", "done")


async def fill_the_window_more(bench: Bench) -> None:
    (bench.folder / "long.txt").write_text("word and more words\n" * 500)
    call = call_text("read", path="long.txt")
    provider = bench.script(*[call, "read it " * 300] * 12)
    async with HarnessClient(provider=provider, cwd=bench.folder, in_process=True, allowed_tools=["read"]) as client:
        for _ in range(12):
            await (await client.send("read it")).result()


async def summarize_short_turns(bench: Bench) -> None:
    # the long text fills 90 % of the budget, and a summary of the short ones is longer than they are
    long_text = "word " * 5_800
    async with HarnessClient(
        provider=bench.script(*["ok"] * 5), cwd=bench.folder, in_process=True, allowed_tools=[]
    ) as client:
        for text in ("a", "b", "c", long_text, "go on"):
            await (await client.send(text)).result()


SESSION_EVENTS: Mapping[str, CommandTest] = {
    "invocation.received": answer,
    "invocation.auto": end_a_task,
    "step.started": answer,
    "model.completed": answer,
    "model.failed": fail,
    "model.cancelled": interrupt,
    "tool.started": answer,
    "tool.completed": answer,
    "tool.failed": fail_tool,
    "task.started": run_command,
    "task.completed": run_command,
    "task.failed": fail_task,
    "task.cancelled": cancel_task,
    "artifact.created": store_output,
    "compaction.started": fill_the_window,
    "compaction.summary": fill_the_window_more,
    "compaction.summary.failed": summarize_short_turns,
    "compaction.tool_promoted": fill_the_window,
    "compaction.completed": fill_the_window,
    "skill.loaded": load_skill,
    "agent.finished": start_agent,
}


@pytest.mark.parametrize("name", require_complete_table("session", "events", SESSION_EVENTS))
async def test_a_session_writes_an_event(name: str, session_bench: Bench):
    assert name in EVENT_CLASSES
    async with asyncio.timeout(90):
        await SESSION_EVENTS[name](session_bench)
    assert name in session_bench.types()


# -- reasons to end
async def reach_max_steps(bench: Bench) -> None:
    await bench.ask(READ, max_turns=1)


REASONS: Mapping[str, tuple[CommandTest, str, str]] = {
    "no_tool_calls": (answer, "completed", "no_tool_calls"),
    "max_steps": (reach_max_steps, "max_turns", "max_steps"),
    "cancelled": (interrupt, "interrupted", "cancelled"),
    "model_failed": (fail, "error", "away"),
}


@pytest.mark.parametrize("name", require_complete_table("session", "finish_reasons", REASONS))
async def test_a_turn_ends_for_a_reason(name: str, session_bench: Bench):
    cause, reason, detail = REASONS[name]
    await cause(session_bench)
    [stop] = [event.data for event in session_bench.log() if event.type == "turn.stopped"]
    assert (stop["reason"], stop["detail"]) == (reason, detail)


# -- projections: the same events give the same value
async def check_state(bench: Bench) -> None:
    await bench.ask(READ, "done")
    events = bench.log()
    state = project_session(events)
    assert (state.turn_count, state.next_seq) == (1, len(events))
    assert project_session(events) == state


async def check_prompt(bench: Bench) -> None:
    await bench.ask(READ, "done", prompt="read it")
    messages = build_messages("the system", project_conversation(bench.log()))
    assert messages[0] == ("system", "the system")
    assert [role for role, _ in messages[1:]] == ["user", "assistant", "user", "assistant"]
    assert "the text of a" in messages[3][1]


async def check_notifications(bench: Bench) -> None:
    await end_a_task(bench)
    [text] = [message.text for message in project_conversation(bench.log()).messages if message.role == "notification"]
    assert "completed" in text


async def check_artifacts(bench: Bench) -> None:
    await store_output(bench)
    [created] = [event.data for event in bench.log() if event.type == "artifact.created"]
    folder = paths.sessions_folder() / bench.log()[0].session_id
    part = ArtifactStore(folder, lambda event: None).read(created["artifact_id"], 0, 100)
    assert part.text.startswith("1\n2\n3\n")


PROJECTIONS: Mapping[str, CommandTest] = {
    "projectSession": check_state,
    "buildPrompt": check_prompt,
    "projectTaskNotifications": check_notifications,
    "projectArtifacts": check_artifacts,
}


@pytest.mark.parametrize("name", require_complete_table("session", "projections", PROJECTIONS))
async def test_a_projection_folds_the_log(name: str, session_bench: Bench):
    async with asyncio.timeout(90):
        await PROJECTIONS[name](session_bench)


LOOP: Mapping[str, Callable[..., Any]] = {
    "loadEvents": read_history,
    "projectSession": project_session,
    "shouldCompact": ConversationSteps.should_compact,
    "compact": ConversationSteps.compact,
    "buildPrompt": ConversationSteps.build_prompt,
    "callModel": ConversationSteps.call_model,
    "executeToolCalls": ConversationSteps.execute_tool_calls,
    "shouldContinue": loop.find_ending,
}


@pytest.mark.parametrize("name", require_complete_table("session", "loop", LOOP))
def test_the_loop_has_a_step(name: str):
    step = LOOP[name]
    assert inspect.getdoc(step)
    if step.__qualname__.startswith("ConversationSteps."):
        # the loop calls it, and the chat driver does it
        assert f"steps.{step.__name__}(" in inspect.getsource(loop.run_turn)
        assert hasattr(ChatDriver, step.__name__)


EXECUTIONS = {"inline": "completed", "background": "started", "auto": "completed"}


@pytest.mark.parametrize("execution", require_complete_table("session", "execution", EXECUTIONS))
async def test_a_task_runs_in_a_mode(execution: str, session_bench: Bench):
    """A command that waits for a file: only in the background the call returns before it ended."""
    wait = "until [ -e go ]; do :; done" if execution == "background" else "true"
    call = call_text("bash", command=wait, execution=execution)
    events = await session_bench.ask(call, call_text("bash", command="touch go"), "done", "again")
    [task, *_] = select_events(TaskEvent, events)
    assert (task.status, task.execution) == ("started", execution)
    [end, _] = select_events(ToolEnd, events)
    assert ("runs in the background" in end.output) is (EXECUTIONS[execution] == "started")


async def test_the_frames_on_a_pipe_are_json(session_bench: Bench):
    ran = await run(
        session_bench, "run", "hi", "--output-format=stream-json", f"--provider={session_bench.script('x')}"
    )
    frames = [json.loads(line) for line in ran.out.splitlines()]
    assert (frames[0]["type"], frames[-1]["type"]) == ("session_start", "session")
    assert select_events(SessionStart, await session_bench.ask("x"))[0].session_id != frames[0]["session_id"]
