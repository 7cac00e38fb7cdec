"""Every option of `query` and `HarnessClient` changes something that a program sees."""

from collections.abc import Awaitable, Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.sdk import (
    HarnessClient,
    HarnessOptions,
    HookDecision,
    PermissionRequest,
    SessionStart,
    TextDelta,
    ToolEnd,
    ToolStart,
    TurnStop,
    tool,
)
from tests.appendix.bench import CREATE, READ, Bench, select_events
from tests.appendix.names import NAMES, list_names, require_complete_table
from tests.support.scripted_session import call_text

OptionTest = Callable[[Bench, pytest.MonkeyPatch], Awaitable[None]]


async def check_model(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")
    # nothing is asked, because the session ends before a prompt
    async with HarnessClient(model="openai/a-model", in_process=True, cwd=bench.folder) as client:
        assert client.started.model == "openai/a-model"


async def check_permission_mode(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, exists in (("plan", False), ("trust", True)):
        events = await bench.ask(CREATE, "done", permission_mode=mode)
        assert select_events(SessionStart, events)[0].permission_mode == mode
        assert (bench.folder / "new.txt").exists() is exists


async def check_allowed_tools(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    [end] = select_events(ToolEnd, await bench.ask(READ, "done", allowed_tools=["read"]))
    assert not end.error
    for allowed in (["grep"], []):
        [end] = select_events(ToolEnd, await bench.ask(READ, "done", allowed_tools=allowed))
        assert (end.error, end.reason) == (True, "not_allowed")
        assert "not allowed: read is not allowed" in end.output
        [end] = select_events(ToolEnd, await bench.ask(call_text("frobnicate"), "done", allowed_tools=allowed))
        assert (end.error, end.reason) == (True, "unknown_tool")
        assert "read" not in end.output.partition("the tools are")[2]


async def check_disallowed_tools(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    [end] = select_events(ToolEnd, await bench.ask(READ, "done", disallowed_tools=["read"]))
    assert end.error
    rule = "bash(cut -d, *)"
    calls = call_text("bash", command="cut -d, -f1 a.txt"), call_text("bash", command="cat a.txt")
    ends = select_events(ToolEnd, await bench.ask(*calls, "done", disallowed_tools=[rule]))
    assert [end.error for end in ends] == [True, False]


async def check_max_turns(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = await bench.stop(READ, max_turns=1)
    assert (stop.reason, stop.detail) == ("max_turns", "max_steps")
    assert (await bench.stop(READ, "done", max_turns=2)).reason == "completed"


async def check_system_prompt(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = await bench.stop({"text": "aye", "expect": "You are a pirate."}, system_prompt="You are a pirate.")
    assert stop.text == "aye"


async def check_cwd(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    other = bench.folder / "other"
    other.mkdir()
    (other / "a.txt").write_text("the other text\n")
    [end] = select_events(ToolEnd, await bench.ask(READ, "done", cwd=other))
    assert "the other text" in end.output
    # a command runs there, too
    [end] = select_events(ToolEnd, await bench.ask(call_text("bash", command="pwd"), "done", cwd=other))
    assert str(other) in end.output


async def check_env(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    call = call_text("bash", command="echo $COLOUR")
    for in_process in (True, False):
        [end] = select_events(ToolEnd, await bench.ask(call, "done", env={"COLOUR": "teal"}, in_process=in_process))
        assert "teal" in end.output
    provider = bench.script("from the variable")
    stop = await bench.stop(provider=None, env={"LSP_HARNESS_PROVIDER": provider})
    assert stop.text == "from the variable"


async def check_tools(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    events = await bench.ask(call_text("mcp__sdk__add", a=19, b=23), "42", tools=[add])
    [end] = select_events(ToolEnd, events)
    assert (end.tool, end.error) == ("mcp__sdk__add", False)
    assert "42" in end.output


async def check_can_use_tool(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def decide(context: dict[str, Any]) -> dict[str, str]:
        asked.append(context)
        return {"decision": "deny", "reason": "not today"}

    events = await bench.ask(READ, "done", can_use_tool=decide)
    assert [(context["toolName"], context["tool_input"]) for context in asked] == [("read", {"path": "a.txt"})]
    assert [request.request_id for request in select_events(PermissionRequest, events)] == [asked[0]["request_id"]]
    [end], [decision] = select_events(ToolEnd, events), select_events(HookDecision, events)
    assert end.error
    assert "not today" in end.output
    assert (decision.decision, decision.by) == ("deny", "callback")


async def check_resume(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    [start, *_] = select_events(SessionStart, await bench.ask("noted", prompt="my colour is teal"))
    events = await bench.ask({"text": "teal", "expect": "my colour is teal"}, resume=start.session_id[:20])
    [again, *_] = select_events(SessionStart, events)
    assert again.session_id == start.session_id
    assert again.resumed_events > 0


async def check_setting_sources(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    # each file denies a command of its own
    commands = {"user": "date", "project": "id", "local": "uname"}
    for layer, command in commands.items():
        bench.write_settings(layer, f'permissions.deny = ["Bash({command})"]\n')
    calls = [call_text("bash", command=command) for command in commands.values()]
    for count in range(len(commands) + 1):
        for sources in combinations(commands, count):
            ends = select_events(ToolEnd, await bench.ask(*calls, "done", setting_sources=list(sources)))
            denied = [source for source, end in zip(commands, ends, strict=True) if end.error]
            assert denied == list(sources)
    # without the option, all count
    assert all(end.error for end in select_events(ToolEnd, await bench.ask(*calls, "done")))


OPTIONS: Mapping[str, OptionTest] = {
    "model": check_model,
    "permission_mode": check_permission_mode,
    "allowed_tools": check_allowed_tools,
    "disallowed_tools": check_disallowed_tools,
    "max_turns": check_max_turns,
    "system_prompt": check_system_prompt,
    "cwd": check_cwd,
    "env": check_env,
    "tools": check_tools,
    "can_use_tool": check_can_use_tool,
    "resume": check_resume,
    "setting_sources": check_setting_sources,
}


@pytest.mark.parametrize("name", require_complete_table("sdk", "options", OPTIONS))
async def test_an_option_has_an_effect(name: str, session_bench: Bench, monkeypatch: pytest.MonkeyPatch):
    await OPTIONS[name](session_bench, monkeypatch)


@pytest.mark.parametrize("name", list_names("sdk", "defaults"))
def test_an_option_has_its_documented_default(name: str):
    assert getattr(HarnessOptions(), name) == NAMES["sdk"]["defaults"][name]


EDIT, COMMAND = CREATE, call_text("bash", command="touch made")
MODES: Mapping[str, str] = {
    # what a session without a person does with: reading, an edit, a command
    "ask": "+--",
    "trust": "+++",
    "deny": "+--",
    "acceptEdits": "++-",
    "plan": "+--",
    "auto": "+++",
    "bypassPermissions": "+++",
}


@pytest.mark.parametrize("mode", require_complete_table("sdk", "permission_modes", MODES))
async def test_a_permission_mode_decides(mode: str, session_bench: Bench):
    calls = [READ, EDIT, COMMAND]
    ends = select_events(ToolEnd, await session_bench.ask(*calls, "done", permission_mode=mode))
    assert "".join("-" if end.error else "+" for end in ends) == MODES[mode]
    # what is denied did not happen
    assert [Path(session_bench.folder / name).exists() for name in ("new.txt", "made")] == [
        sign == "+" for sign in MODES[mode][1:]
    ]


SOURCES = {"user": "config.toml", "project": "lsp-harness.toml", "local": "lsp-harness.local.toml"}


@pytest.mark.parametrize("source", require_complete_table("sdk", "setting_sources", SOURCES))
async def test_a_source_of_settings_is_read(source: str, session_bench: Bench):
    session_bench.write_settings(source, 'permissions.deny = ["read"]\n')
    for sources, is_denied in (([source], True), ([], False)):
        [end] = select_events(ToolEnd, await session_bench.ask(READ, "done", setting_sources=sources))
        assert end.error is is_denied


DECISIONS: Mapping[str, tuple[bool, str]] = {
    # whether the tool fails, and who decides in the end
    "allow": (False, "callback"),
    "deny": (True, "callback"),
    "ask": (True, "nobody"),
}


@pytest.mark.parametrize("decision", require_complete_table("sdk", "decisions", DECISIONS))
async def test_each_permission_decision_has_its_effect(decision: str, session_bench: Bench):
    events = await session_bench.ask(READ, "done", can_use_tool=lambda context: decision)
    [end], [decided] = select_events(ToolEnd, events), select_events(HookDecision, events)
    assert (end.error, decided.by) == DECISIONS[decision]


async def test_a_tool_call_shows_no_text_of_the_protocol(session_bench: Bench):
    events = await session_bench.ask(f"Let me look. {READ}", "done")
    assert "".join(event.content for event in select_events(TextDelta, events)) == "Let me look. done"
    assert select_events(ToolStart, events)[0].input == {"path": "a.txt"}
    assert select_events(TurnStop, events)[0].text == "done"
