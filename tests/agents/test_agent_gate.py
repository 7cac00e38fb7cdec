"""The permission gate of foreign agents: the same rules as for our own tools."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.agents.agent_gate import AgentGate, GateParts, make_question_action
from lsp_harness.config.permission_schema import Permissions
from lsp_harness.config.schema import Config
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import PermissionDecided, PermissionRequested
from lsp_harness.permission.gate_policy import make_policy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.agent_errors import SpawnDenied
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import AgentState
from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer


class StubAgent:
    """An agent that asks for permissions and never changes its state."""

    def __init__(self, folder: Path) -> None:
        self.id, self.spec = "AGENT", AgentSpec("claude", folder)

    async def wait_until(self, is_wanted: object) -> AgentState:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError


class GateBench:
    """A permission gate with the settings of a test."""

    def __init__(self, folder: Path, is_trusted: bool = True, wait_s: float = 30.0, **settings: Any) -> None:
        self.folder, self.events = folder, list[SessionEvent]()
        self.is_requested = asyncio.Event()
        self.agent = StubAgent(folder)
        config = Config(permissions=replace(Permissions(), **settings))
        parts = GateParts(
            lambda folder: make_policy(config, [folder])[0],
            Hooks,
            self._record,
            lambda: is_trusted,
            wait_s,
        )
        self.gate = AgentGate(parts)

    def _record(self, event: SessionEvent) -> None:
        self.events.append(event)
        if isinstance(event, PermissionRequested):
            self.is_requested.set()

    async def ask(self, tool: str, kind: Any = "permission", **input: Any) -> QuestionAnswer:
        """Return the answer to a question about a tool."""
        return await self.gate.decide(self.agent, AgentQuestion("q1", kind, "may I?", tool, input))

    def order(self) -> LaunchOrder:
        """Return an order to start the agent."""
        return LaunchOrder("AGENT", self.agent.spec, "pty", ("claude",), {}, self.folder)


@pytest.mark.parametrize(
    ("tool", "input", "is_allowed"),
    [
        ("Bash", {"command": "git status"}, True),
        ("shell", {"command": ["git", "status"]}, True),
        ("commandExecution", {"command": "git status"}, True),
        ("Bash", {"command": "git status && rm -rf /"}, False),
        ("shell", {"command": ["bash", "-c", "rm -rf /"]}, False),
        ("Bash", {}, False),
        ("Edit", {"file_path": "src/app.py"}, True),
        ("fileChange", {"changes": [{"path": "src/app.py"}]}, True),
        ("apply_patch", {"changes": {"src/app.py": {}, "other/app.py": {}}}, False),
        ("Edit", {"file_path": "other/app.py"}, False),
        ("Write", {"file_path": "../outside.py"}, False),
        ("Write", {"file_path": ".git/config"}, False),
        ("Edit", {}, False),
        ("Read", {"file_path": "src/app.py"}, True),
        ("Read", {"file_path": ".env"}, False),
        ("Read", {"file_path": "/etc/shadow"}, False),
        ("WebFetch", {"url": "https://example.com"}, False),
        ("mcp__docs__search", {"query": "x"}, True),
        ("mcp__other__search", {"query": "x"}, False),
        ("SomethingNew", {"command": "git status"}, False),
        ("", {"text": "Do you want to run git status?"}, False),
    ],
)
async def test_the_rules_hold_for_the_tools_of_foreign_agents(
    tmp_path: Path, tool: str, input: dict[str, Any], is_allowed: bool
):
    rules = ("Bash(git status *)", "Edit(src/*)", "mcp__docs__*")
    bench = GateBench(tmp_path, allow=rules)
    answer = await bench.ask(tool, **input)
    assert (answer.is_allowed, answer.reason != "") == (is_allowed, True)
    decided = [event.decision for event in bench.events if isinstance(event, PermissionDecided)]
    assert decided == ["allow" if is_allowed else "deny"]


async def test_without_a_person_the_gate_denies_and_says_what_to_do(tmp_path: Path):
    answer = await GateBench(tmp_path).ask("Bash", command="npm publish")
    assert not answer.is_allowed
    assert "nobody is there" in answer.reason


@pytest.mark.parametrize("allows", [True, False])
async def test_a_person_answers_by_the_id_of_the_question(tmp_path: Path, allows: bool):
    bench = GateBench(tmp_path)
    bench.gate.has_person = True
    asking = asyncio.ensure_future(bench.ask("Bash", command="npm test"))
    # the question is recorded before the person is asked
    await asyncio.wait_for(bench.is_requested.wait(), 10)
    await asyncio.sleep(0)
    assert bench.gate.answer("AGENT", "q1", QuestionAnswer(allows, "because"))
    answer = await asking
    assert answer.is_allowed == allows
    assert not bench.gate.answer("AGENT", "q1", QuestionAnswer(True))
    assert not bench.gate.answer("OTHER", "q1", QuestionAnswer(True))


async def test_a_rule_that_denies_does_not_ask_the_person(tmp_path: Path):
    bench = GateBench(tmp_path, deny=("Bash(rm *)",), mode="trust")
    bench.gate.has_person = True
    answer = await bench.ask("Bash", command="sudo rm -r src")
    assert not answer.is_allowed


async def test_a_question_without_an_answer_of_the_person_is_denied(tmp_path: Path):
    bench = GateBench(tmp_path, wait_s=0.01)
    bench.gate.has_person = True
    assert not (await bench.ask("Bash", command="npm test")).is_allowed


async def test_an_untrusted_workspace_starts_no_agent_and_allows_no_tool(tmp_path: Path):
    bench = GateBench(tmp_path, is_trusted=False, mode="trust")
    with pytest.raises(SpawnDenied):
        await bench.gate.require_spawn(bench.order())
    assert not (await bench.ask("Read", file_path="src/app.py")).is_allowed


@pytest.mark.parametrize(
    ("settings", "is_allowed"),
    [
        ({}, True),
        ({"allow": ("Agent(claude)",)}, True),
        ({"deny": ("Agent(claude)",)}, False),
        ({"deny": ("Agent(codex)",)}, True),
        ({"mode": "plan"}, False),
        ({"mode": "deny"}, False),
    ],
)
async def test_starting_an_agent_is_an_action(tmp_path: Path, settings: dict[str, Any], is_allowed: bool):
    bench = GateBench(tmp_path, **settings)
    if is_allowed:
        await bench.gate.require_spawn(bench.order())
    else:
        with pytest.raises(SpawnDenied):
            await bench.gate.require_spawn(bench.order())
    assert len(bench.events) >= 1


def test_a_command_is_judged_in_its_folder(tmp_path: Path):
    question = AgentQuestion("q1", "permission", "", "Bash", {"command": "ls", "cwd": "src"})
    action = make_question_action(AgentSpec("codex", tmp_path), question, "AGENT")
    assert (action.command, action.input["cwd"]) == ("ls", str(tmp_path / "src"))


@pytest.mark.parametrize("kind", ["permission", "trust"])
@pytest.mark.parametrize("tool", ["Bash", "WebFetch", "Edit"])
async def test_the_events_of_the_gate_name_the_agent_and_its_question(tmp_path: Path, kind: str, tool: str):
    bench = GateBench(tmp_path, mode="ask")
    bench.gate.has_person = True
    waiting = asyncio.ensure_future(bench.ask(tool, kind, command="make", url="https://example.com"))
    await bench.is_requested.wait()
    assert bench.gate.answer("AGENT", "q1", QuestionAnswer(is_allowed=False))
    await waiting
    asked = [e for e in bench.events if isinstance(e, PermissionRequested | PermissionDecided)]
    assert [(event.agent_id, event.call_id) for event in asked] == [("AGENT", "q1")] * 2
