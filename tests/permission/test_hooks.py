"""Hooks: kinds, merging, failures, and the events that they can block."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lsp_harness.events.tool_events import HookDecision
from lsp_harness.permission.hooks import HOOK_EVENTS, Hook, Hooks
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from tests.permission.gates import Recorder, ScriptedPerson, make_bash_action, make_rules, policy

NAMES = [
    *("sessionStart", "sessionEnd", "preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmit"),
    *("permissionRequest", "fileChanged", "cwdChanged", "subagentStart", "subagentStop", "preCompact", "postCompact"),
    *("configChange", "notification", "turnStart", "turnStop"),
]


def answer(name: str, value: Any, event: str = "preToolUse", **more: Any) -> Hook:
    def function(payload: Mapping[str, Any]) -> Any:
        return value

    function.__name__ = name
    return Hook(event, function=function, **more)


ALLOW, DENY, ASK = (answer(word, {"decision": word, "context": f"{word} ran"}) for word in ("allow", "deny", "ask"))
SILENT = answer("silent", None)


def test_the_events_are_those_of_the_requirements() -> None:
    assert list(HOOK_EVENTS) == NAMES


@pytest.mark.parametrize(
    ("hooks", "decision", "context"),
    [
        ([], "", ""),
        ([SILENT], "", ""),
        ([ALLOW], "allow", "allow ran"),
        ([ALLOW, DENY], "deny", "allow ran\ndeny ran"),
        ([DENY, ALLOW], "deny", "deny ran"),
        ([ALLOW, ASK], "allow", "allow ran\nask ran"),
        ([ASK, ALLOW], "ask", "ask ran\nallow ran"),
        ([ASK, DENY], "deny", "ask ran\ndeny ran"),
        ([SILENT, ALLOW, SILENT], "allow", "allow ran"),
    ],
)
async def test_a_denial_of_a_hook_wins_and_otherwise_the_first_decision(
    hooks: list[Hook], decision: str, context: str
) -> None:
    outcome = await Hooks(hooks).run("preToolUse", {"tool": "bash"})
    assert (outcome.decision, outcome.context) == (decision, context)


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        *[("", "bash", True), ("", "", True), ("Bash", "bash", True), ("Edit", "bash", False), ("bash", "", False)],
        *[("Edit|bash", "bash", True), ("Edit | Bash", "bash", True), ("mcp__*", "mcp__a__b", True)],
    ],
)
async def test_a_matcher_selects_the_tools_of_a_hook(matcher: str, tool: str, runs: bool) -> None:
    hooks = Hooks([answer("x", "deny", matcher=matcher)])
    assert hooks.concerns("preToolUse", tool) == runs
    assert (await hooks.run("preToolUse", {"tool": tool})).is_denied == runs
    assert not (await hooks.run("turnStop", {"tool": tool})).is_denied


@pytest.mark.parametrize("event", NAMES)
async def test_a_failing_hook_denies_only_events_that_can_be_denied(event: str) -> None:
    def broken(payload: object) -> None:
        raise RuntimeError("broken")

    record = Recorder()
    outcome = await Hooks([Hook(event, function=broken)], record).run(event, {})
    assert outcome.is_denied == HOOK_EVENTS[event]
    [run] = record.events
    assert isinstance(run, HookDecision)
    assert (run.event, run.hook, run.error) == (event, "broken", "RuntimeError: broken")
    assert run.decision == ("deny" if HOOK_EVENTS[event] else "")


@pytest.mark.parametrize("event", NAMES)
async def test_only_a_blocking_hook_decides(event: str) -> None:
    outcome = await Hooks([answer("x", {"decision": "deny", "context": "c"}, event)]).run(event, {})
    assert (outcome.is_denied, outcome.context) == (HOOK_EVENTS[event], "c")


COMMANDS = [
    ("exit 0", "", "", ""),
    ("cat > seen.json", "", "", ""),
    ("echo some text", "", "", ""),
    ("echo no >&2; exit 2", "deny", "no", ""),
    ("exit 2", "deny", "the hook exit 2 denies it", ""),
    ("""echo '{"decision": "allow", "reason": "r"}'""", "allow", "r", ""),
    ("""echo '{"decision": "ask"}'""", "ask", "", ""),
    ("""echo '{}'""", "", "", ""),
    ("echo bad >&2; exit 1", "deny", "the hook echo bad >&2; exit 1 failed: the command ended with status 1 bad", "x"),
    ("echo '{'", "deny", "the hook echo '{' failed: the answer is not valid JSON", "x"),
    ("""echo '{"decision": "yes"}'""", "deny", "failed: the decision is 'yes' and not allow, deny or ask", "x"),
    ("""echo '{"verdict": "allow"}'""", "deny", "failed: the answer has the unknown key 'verdict'", "x"),
    ("""echo '{"updated_input": 5}'""", "deny", "failed: updated_input is no object", "x"),
    ("no-such-program", "deny", "failed: the command ended with status 127", "x"),
]


@pytest.mark.process
@pytest.mark.parametrize(("command", "decision", "reason", "error"), COMMANDS)
async def test_the_output_of_a_command_decides(
    tmp_path: Path, command: str, decision: str, reason: str, error: str
) -> None:
    record = Recorder()
    outcome = await Hooks([Hook("preToolUse", command=command)], record, tmp_path).run("preToolUse", {"tool": "bash"})
    assert outcome.decision == decision
    assert reason in outcome.reason
    [run] = record.events
    assert isinstance(run, HookDecision)
    assert bool(run.error) == bool(error)
    if "seen" in command:
        assert json.loads((tmp_path / "seen.json").read_text()) == {"event": "preToolUse", "tool": "bash"}


@pytest.mark.process
async def test_a_hook_that_takes_too_long_denies() -> None:
    async def never(payload: object) -> None:
        await asyncio.Event().wait()

    for hook in (
        Hook("preToolUse", command="sleep 60", timeout_s=0.05),
        Hook("preToolUse", function=never, timeout_s=0.05),
    ):
        outcome = await Hooks([hook]).run("preToolUse", {})
        assert (outcome.decision, outcome.reason) == (
            "deny",
            f"the hook {hook.name} failed: there was no answer within 0.05 s",
        )


class Answering(BaseHTTPRequestHandler):
    answer: tuple[int, bytes] = (200, b"")
    seen: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        status, body = type(self).answer
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hook_address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "decision", "reason"),
    [
        (200, b"", "", ""),
        (204, b"", "", ""),
        (200, b'{"decision": "deny", "reason": "no"}', "deny", "no"),
        (200, b'{"decision": "allow"}', "allow", ""),
        (500, b"", "deny", "answered 500"),
        (302, b'{"decision": "allow"}', "deny", "answered 302"),
        (200, b'{"decision": 1}', "deny", "the decision is 1"),
    ],
)
async def test_the_answer_of_an_address_decides(
    hook_address: str, status: int, body: bytes, decision: str, reason: str
) -> None:
    Answering.answer, Answering.seen = (status, body), []
    outcome = await Hooks([Hook("preToolUse", url=hook_address)]).run("preToolUse", {"tool": "bash"})
    assert outcome.decision == decision
    assert reason in outcome.reason
    assert Answering.seen == [{"event": "preToolUse", "tool": "bash"}]


async def test_an_address_without_a_server_denies() -> None:
    outcome = await Hooks([Hook("preToolUse", url="http://127.0.0.1:1/x")]).run("preToolUse", {})
    assert outcome.is_denied
    assert "http://127.0.0.1:1/x cannot be reached" in outcome.reason


async def test_a_changed_input_is_checked_by_the_next_hook_and_the_rules(tmp_path: Path) -> None:
    seen = list[Any]()

    async def watch(payload: Mapping[str, Any]) -> None:
        seen.append(payload["tool_input"])

    change = answer("change", {"decision": "allow", "updated_input": {"command": "rm x"}})
    hooks = Hooks([change, Hook("preToolUse", function=watch)])
    decision = await Gate(policy(tmp_path, "trust"), None, hooks).check(make_bash_action("ls"))
    assert (decision.by, decision.updated_input) == ("hook", {"command": "rm x"})
    assert seen == [{"command": "rm x"}]
    decision = await Gate(policy(tmp_path, "trust", make_rules((), (), ["Bash(rm *)"])), None, hooks).check(
        make_bash_action("ls")
    )
    assert (decision.verdict, decision.by) == ("deny", "rule")


async def test_a_hook_can_answer_in_place_of_the_person_and_ask_the_person(tmp_path: Path) -> None:
    hooks = Hooks([answer("x", "allow", "permissionRequest")])
    decision = await Gate(policy(tmp_path), None, hooks, person=ScriptedPerson([])).check(make_bash_action("make"))
    assert (decision.verdict, decision.by) == ("allow", "hook")
    hooks = Hooks([answer("x", "deny", "permissionRequest")])
    assert (
        await Gate(policy(tmp_path), None, hooks, person=ScriptedPerson([])).check(make_bash_action("make"))
    ).by == "hook"
    assert (await Gate(policy(tmp_path, "trust"), None, Hooks([ASK])).check(make_bash_action("ls"))).by == "nobody"


async def test_a_hook_that_allows_does_not_undo_a_rule_that_asks(tmp_path: Path) -> None:
    gate = Gate(policy(tmp_path, "trust", make_rules((), ["Bash(make *)"])), None, Hooks([ALLOW]))
    assert (await gate.check(make_bash_action("make"))).by == "nobody"
    decision = await gate.check(make_bash_action("touch x"))
    assert (decision.by, decision.context) == ("hook", "allow ran")


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(ValueError, match="'preTool' is no event of hooks; they are sessionStart, "):
        Hooks().add(Hook("preTool"))
