"""Tests of the uses that the documentation of such an SDK shows, with a real session in a child process."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.inference.models import model_files
from lsp_harness.sdk import (
    HarnessBinaryNotFoundError,
    HarnessClient,
    HarnessError,
    HarnessOptions,
    HookDecision,
    SessionStart,
    TextDelta,
    ToolEnd,
    ToolStart,
    TurnStop,
    query,
    tool,
)
from tests.support.scripted_session import call_text, write_script

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 30.0
READ = call_text("read", path="a.txt")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the models of the user, although the home directory is another one."""
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(model_files.models_folder()))


async def test_quick_start(project: Path, tmp_path: Path):
    text, tools, reasons = "", [], []
    options: dict[str, Any] = {"provider": write_script(tmp_path, READ, "It says: the text of a.")}
    async with asyncio.timeout(LIMIT_S):
        async for event in query("What does a.txt say?", cwd=project, max_turns=5, **options):
            match event:
                case TextDelta(content=content):
                    text += content
                case ToolStart(tool=name):
                    tools.append(name)
                case TurnStop(reason=reason):
                    reasons.append(reason)
                case _:
                    pass
    assert (text, tools, reasons) == ("It says: the text of a.", ["read"], ["completed"])


async def test_a_second_prompt_continues_the_conversation(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, "Noted.", {"text": "Teal.", "expect": "My favourite colour is teal."})
    async with asyncio.timeout(LIMIT_S), HarnessClient(provider=provider, cwd=project) as client:
        pids = [client.pid]
        async for event in await client.send("My favourite colour is teal."):
            assert event.session_id == client.session_id
        text = "".join([e.content async for e in await client.send("Which one?") if isinstance(e, TextDelta)])
        pids.append(client.pid)
    assert text == "Teal."
    # one process answers all prompts
    assert len(set(pids)) == 1


async def test_functions_are_called_as_tools(project: Path, tmp_path: Path):
    @tool
    def get_weather(city: str) -> str:
        """Return the weather of a city."""
        return f"sunny in {city}"

    @tool(name="add", description="Add two numbers.")
    async def add_numbers(a: int, b: int) -> int:
        return a + b

    calls = call_text("mcp__sdk__get_weather", city="Paris"), call_text("mcp__sdk__add", a=19, b=23)
    async with asyncio.timeout(LIMIT_S):
        events = query(
            "Weather?", cwd=project, tools=[get_weather, add_numbers], provider=write_script(tmp_path, *calls, "done")
        )
        ends = [event async for event in events if isinstance(event, ToolEnd)]
    assert [end.error for end in ends] == [False, False]
    assert "sunny in Paris" in ends[0].output
    assert "42" in ends[1].output


async def test_a_permission_callback_allows_changes_and_denies_calls(project: Path, tmp_path: Path):
    async def decide(context: dict[str, Any]) -> str | dict[str, Any]:
        if context["toolName"] == "read":
            return "allow"
        if context["toolName"] == "create":
            return {"decision": "allow", "updated_input": {"path": "other.txt", "text": "moved\n"}}
        return {"decision": "deny", "reason": "no commands"}

    calls = READ, call_text("create", path="new.txt", text="made\n"), call_text("bash", command="touch made")
    async with asyncio.timeout(LIMIT_S):
        events = query("go", cwd=project, can_use_tool=decide, provider=write_script(tmp_path, *calls, "done"))
        decisions = [event async for event in events if isinstance(event, HookDecision)]
    assert [(event.tool, event.decision, event.by) for event in decisions] == [
        ("read", "allow", "callback"),
        ("create", "allow", "callback"),
        ("bash", "deny", "callback"),
    ]
    assert sorted(path.name for path in project.iterdir()) == ["a.txt", "other.txt"]


async def test_a_session_is_resumed_by_its_id(project: Path, tmp_path: Path):
    async with asyncio.timeout(LIMIT_S):
        async with HarnessClient(cwd=project, provider=write_script(tmp_path, "Noted.")) as client:
            await (await client.send("My colour is teal.")).result()
            session_id = client.session_id
        provider = write_script(tmp_path, {"text": "Teal.", "expect": "My colour is teal."})
        async with HarnessClient(cwd=project, provider=provider, resume=session_id) as client:
            assert client.session_id == session_id
            assert client.started.resumed_events > 0
            assert (await (await client.send("Which?")).result()).text == "Teal."


async def test_typed_options_reach_the_session(project: Path, tmp_path: Path):
    options = HarnessOptions(cwd=project, permission_mode="plan", max_turns=1, provider=write_script(tmp_path, READ))
    async with asyncio.timeout(LIMIT_S):
        events = [event async for event in query("go", **options.to_kwargs())]
    assert isinstance(events[0], SessionStart)
    assert events[0].permission_mode == "plan"
    assert isinstance(events[-1], TurnStop)
    assert events[-1].reason == "max_turns"


async def test_a_cancelled_task_ends_the_session_and_its_tools(project: Path, tmp_path: Path):
    call = call_text("bash", command="touch started; sleep 600")
    pid = 0

    async def ask() -> None:
        nonlocal pid
        async with HarnessClient(cwd=project, provider=write_script(tmp_path, call)) as client:
            pid = client.pid or 0
            async for event in await client.send("go"):
                if isinstance(event, ToolStart):
                    started.set()

    started = asyncio.Event()
    async with asyncio.timeout(LIMIT_S):
        task = asyncio.create_task(ask())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_errors_have_their_types_and_codes(project: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(HarnessError) as failure:
        await anext(query("hi", cwd=project, resume="01NOTHING"))
    assert (failure.value.code, failure.value.exit_code) == ("UsageError", 2)
    monkeypatch.setenv("LSP_HARNESS_BINARY", str(project / "missing"))
    with pytest.raises(HarnessBinaryNotFoundError, match="there is no such file"):
        await anext(query("hi", cwd=project))


@pytest.mark.parametrize(
    ("name", "replies", "lines"),
    [
        ("quickstart", [], ["There are no functions in", "(completed)"]),
        ("multi_turn", ["Nice.", "Teal.", "Still teal."], ["> Which colour did I name?", "Teal.", " events"]),
        ("tools", [call_text("mcp__sdk__weather", city="Paris"), "Sunny."], ["[mcp__sdk__weather: sunny in Paris]"]),
        ("permissions", [call_text("bash", command="rm notes.txt"), "I may not."], ["[deny bash by callback: "]),
    ],
)
def test_an_example_runs_with_a_real_session(
    name: str, replies: list[str], lines: list[str], project: Path, tmp_path: Path
):
    environment = dict(os.environ)
    if name == "multi_turn":
        # it opens two sessions, and each reads the script from its beginning
        first, second = write_script(tmp_path, *replies[:2]), write_script(tmp_path, *replies[2:])
        program = tmp_path / "program"
        copy = f"cp {second.removeprefix('scripted:')} {first.removeprefix('scripted:')}"
        program.write_text(f'#!/bin/sh\n{sys.executable} -P -m lsp_harness "$@"\nstatus=$?\n{copy}\nexit $status\n')
        program.chmod(0o755)
        environment |= {"LSP_HARNESS_PROVIDER": first, "LSP_HARNESS_BINARY": str(program)}
    else:
        environment["LSP_HARNESS_PROVIDER"] = write_script(tmp_path, *replies)
    argv = [sys.executable, ROOT / "examples" / f"{name}.py"]
    ran = subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    for line in lines:
        assert line in ran.stdout


@pytest.mark.model
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("models", "home")
async def test_the_real_model_answers(tmp_path: Path):
    async with asyncio.timeout(110), HarnessClient(cwd=tmp_path, allowed_tools=[], system_prompt="Be brief.") as client:
        stop = await (await client.send("Say the word yes.")).result()
        assert (stop.reason, bool(stop.text.strip())) == ("completed", True)
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        stop = await (await client.send("Which number is between 3 and 5?", json_schema=schema)).result()
        assert stop.reason == "completed"
        assert type(stop.structured_output["n"]) is int
