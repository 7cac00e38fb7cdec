"""Tests of the permission gate: who decides in which order, what is recorded, and that every failure denies."""

import asyncio
import itertools
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.events.tool_events import PermissionDecided, PermissionRequested
from lsp_harness.permission.action import LINT_TOOL, Action
from lsp_harness.permission.hooks import Hook, Hooks
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.person import PersonAnswer
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode
from tests.permission.gates import (
    Recorder,
    ScriptedPerson,
    edit,
    make_bash_action,
    make_fetch_action,
    make_rules,
    policy,
    read,
)


def make_callback(answer: Any):
    async def callback(tool: str, context: Mapping[str, Any]) -> Any:
        return answer

    return callback


def make_hook(decision: str, **more: Any) -> Hook:
    def function(payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"decision": decision, **more}

    function.__name__ = f"{decision}_hook"
    return Hook("preToolUse", function=function)


async def test_the_decision_names_the_part_that_made_it(tmp_path: Path) -> None:
    hostile = edit(tmp_path / ".git" / "config")
    everything = {"callback": make_callback("allow"), "person": ScriptedPerson([])}
    gate = Gate(
        policy(tmp_path, "bypassPermissions", make_rules(["*"])), None, Hooks([make_hook("allow")]), **everything
    )
    assert (await gate.check(hostile)).by == "protected"
    gate = Gate(
        policy(tmp_path, "bypassPermissions", make_rules(["*"]), disallowed_tools=("Bash(ls *)",)), **everything
    )
    assert (await gate.check(make_bash_action("ls"))).by == "tools"
    gate = Gate(
        policy(tmp_path, "trust", make_rules((), (), ["Bash(ls *)"])), None, Hooks([make_hook("allow")]), **everything
    )
    assert (await gate.check(make_bash_action("ls"))).by == "rule"
    gate = Gate(policy(tmp_path, "trust"), None, Hooks([make_hook("deny")]), **everything)
    assert (await gate.check(make_bash_action("ls"))).by == "hook"
    assert (
        await Gate(policy(tmp_path, "trust"), callback=make_callback("deny")).check(make_bash_action("ls"))
    ).by == "callback"
    assert (await Gate(policy(tmp_path, "trust")).check(make_bash_action("make"))).by == "mode"
    assert (
        await Gate(policy(tmp_path), person=ScriptedPerson([PersonAnswer("once")])).check(make_bash_action("make"))
    ).by == "person"
    assert (await Gate(policy(tmp_path)).check(make_bash_action("make"))).by == "nobody"


@pytest.mark.parametrize("mode", ["ask", "trust", "deny", "acceptEdits", "plan", "auto", "bypassPermissions"])
async def test_the_callback_is_asked_in_every_mode(tmp_path: Path, mode: Any) -> None:
    seen = list[tuple[str, Mapping[str, Any]]]()

    async def callback(tool: str, context: Mapping[str, Any]) -> Any:
        seen.append((tool, context))
        return {"decision": "deny", "reason": "not today"}

    gate = Gate(policy(tmp_path, mode, make_rules(["Bash(make *)"])), callback=callback)
    decisions = [
        await gate.check(action)
        for action in (make_bash_action("make x"), make_bash_action("ls"), edit(tmp_path / "a.py"))
    ]
    assert [(d.verdict, d.by, d.reason) for d in decisions] == [("deny", "callback", "not today")] * 3
    [(tool, context), *_] = seen
    assert tool == "bash"
    assert {key: context[key] for key in ("toolName", "tool_name", "tool_input", "call_id", "session_id", "mode")} == {
        "toolName": "bash",
        "tool_name": "bash",
        "tool_input": {"command": "make x"},
        "call_id": "c1",
        "session_id": "s1",
        "mode": mode,
    }
    assert json.loads(context["toolInputJson"]) == {"command": "make x"}
    assert [context["risk"] for _, context in seen] == ["medium", "low", "medium"]
    assert seen[2][1]["paths"] == [str(tmp_path / "a.py")]
    assert seen[2][1]["suggestions"] == ["edit(a.py)"]


async def test_the_callback_is_not_asked_if_a_rule_denies(tmp_path: Path) -> None:
    seen = list[str]()

    def callback(tool: str, context: Mapping[str, Any]) -> str:
        seen.append(tool)
        return "allow"

    gate = Gate(policy(tmp_path, "trust", make_rules((), (), ["Bash(make *)"])), callback=callback)
    assert not (await gate.check(make_bash_action("make"))).is_allowed
    assert not (await gate.check(edit(tmp_path / ".git" / "x"))).is_allowed
    assert seen == []


INVALID = "instead of allow, deny, ask or a decision with a reason"


async def raise_error(tool: str, context: Mapping[str, Any]) -> Any:
    raise RuntimeError("broken")


async def wait_for_ever(tool: str, context: Mapping[str, Any]) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("callback", "reason"),
    [
        (raise_error, "the permission callback failed: RuntimeError: broken"),
        (wait_for_ever, "the permission callback gave no answer within 0.05 s (callback_timeout_s)"),
        (make_callback(5), f"the permission callback gave 5 {INVALID}"),
        (make_callback(None), f"the permission callback gave None {INVALID}"),
        (make_callback(True), f"the permission callback gave True {INVALID}"),
        (
            make_callback("yes"),
            f"the permission callback gave 'yes' {INVALID}",
        ),
        (make_callback({}), "the permission callback gave the decision None instead of allow, deny or ask"),
        (
            make_callback({"decision": "ALLOW"}),
            "the permission callback gave the decision 'ALLOW' instead of allow, deny or ask",
        ),
        (
            make_callback({"decision": "allow", "updatedInput": {}}),
            "the permission callback gave the unknown key 'updatedInput'; the keys are decision, reason, updated_input",
        ),
        (make_callback({"decision": "allow", "reason": 5}), "the permission callback gave a reason that is not a text"),
        (
            make_callback({"decision": "allow", "updated_input": [1]}),
            "the permission callback gave an updated_input that is not an object",
        ),
        (make_callback({"decision": "deny"}), "the program denies it"),
    ],
)
async def test_a_failed_callback_denies_with_its_own_reason(tmp_path: Path, callback: Any, reason: str) -> None:
    gate = Gate(policy(tmp_path, "bypassPermissions", callback_timeout_s=0.05), callback=callback)
    decision = await gate.check(make_bash_action("ls"))
    assert (decision.verdict, decision.by, decision.reason) == ("deny", "callback", reason)


async def test_a_sync_callback_that_never_returns_denies_in_time(tmp_path: Path) -> None:
    release, threads = threading.Event(), list[threading.Thread]()

    def callback(tool: str, context: Mapping[str, Any]) -> str:
        threads.append(threading.current_thread())
        release.wait()
        return "allow"

    gate = Gate(policy(tmp_path, "trust", callback_timeout_s=0.05), callback=callback)
    try:
        async with asyncio.timeout(5):
            decision = await gate.check(make_bash_action("ls"))
    finally:
        release.set()
    assert (decision.verdict, decision.by) == ("deny", "callback")
    assert threads[0] is not threading.main_thread()
    threads[0].join()


async def test_a_callback_can_change_the_input_and_rules_apply_to_the_change(tmp_path: Path) -> None:
    changed = make_callback({"decision": "allow", "updated_input": {"command": "make check"}})
    decision = await Gate(policy(tmp_path, "trust"), callback=changed).check(make_bash_action("make"))
    assert (decision.verdict, decision.updated_input) == ("allow", {"command": "make check"})
    gate = Gate(policy(tmp_path, "trust", make_rules((), (), ["Bash(make check)"])), callback=changed)
    decision = await gate.check(make_bash_action("make"))
    assert (decision.verdict, decision.by, decision.updated_input) == ("deny", "rule", None)
    moved = make_callback({"decision": "allow", "updated_input": {"path": str(tmp_path / ".git" / "x")}})
    assert (await Gate(policy(tmp_path, "trust"), callback=moved).check(edit(tmp_path / "a"))).by == "protected"


async def test_the_answer_ask_of_a_callback_asks_the_person_in_every_mode(tmp_path: Path) -> None:
    gate = Gate(policy(tmp_path, "bypassPermissions"), callback=make_callback("ask"))
    assert (await gate.check(make_bash_action("ls"))).by == "nobody"
    gate.person = ScriptedPerson([PersonAnswer("once")])
    assert (await gate.check(make_bash_action("ls"))).by == "person"


async def test_each_check_records_the_question_and_one_decision(tmp_path: Path) -> None:
    for callback, person, names in [
        (None, None, ["PermissionDecided"]),
        (make_callback("allow"), None, ["PermissionRequested", "PermissionDecided"]),
        (None, ScriptedPerson([PersonAnswer("once")]), ["PermissionRequested", "PermissionDecided"]),
        (make_callback("ask"), ScriptedPerson([PersonAnswer("reject")]), ["PermissionRequested", "PermissionDecided"]),
        (raise_error, None, ["PermissionRequested", "PermissionDecided"]),
    ]:
        record = Recorder()
        decision = await Gate(policy(tmp_path), record, callback=callback, person=person).check(
            make_bash_action("make x")
        )
        assert record.names == names
        decided = record.events[-1]
        assert isinstance(decided, PermissionDecided)
        assert (decided.decision, decided.by, decided.reason) == (decision.verdict, decision.by, decision.reason)
        assert (decided.tool, decided.action, decided.call_id) == ("bash", "bash: make x", "c1")
        if len(names) == 2:
            requested = record.events[0]
            assert isinstance(requested, PermissionRequested)
            assert requested.request_id == decided.request_id != ""
            assert requested.suggestions == ("bash(make x *)",) or requested.suggestions


async def test_an_action_that_cannot_be_recorded_is_denied(tmp_path: Path) -> None:
    def record(event: object) -> None:
        raise OSError("disk full")

    decision = await Gate(policy(tmp_path, "trust"), record).check(make_bash_action("ls"))
    assert (decision.verdict, decision.reason) == ("deny", "the permission gate failed: OSError: disk full")


async def test_a_broken_gate_denies_and_a_cancellation_passes(tmp_path: Path) -> None:
    class BrokenPerson:
        async def ask(self, question: object) -> PersonAnswer:
            raise RuntimeError("no screen")

    record = Recorder()
    decision = await Gate(policy(tmp_path), record, person=BrokenPerson()).check(make_bash_action("make"))
    assert (decision.verdict, decision.by) == ("deny", "nobody")
    assert record.names == ["PermissionRequested", "PermissionDecided"]
    broken = Action("bash", "execute", command=5)  # type: ignore[arg-type]
    assert not (await Gate(policy(tmp_path, "trust")).check(broken)).is_allowed
    check = asyncio.ensure_future(Gate(policy(tmp_path), callback=wait_for_ever).check(make_bash_action("make")))
    await asyncio.sleep(0)
    check.cancel()
    with pytest.raises(asyncio.CancelledError):
        await check


async def test_an_answer_of_a_person_holds_once_for_the_session_or_always(tmp_path: Path) -> None:
    settings = tmp_path / "home" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("# mine\n[permissions]\nmode = 'ask'  # asks\n")
    person = ScriptedPerson(
        [
            PersonAnswer("once"),
            PersonAnswer("session"),
            PersonAnswer("always"),
            PersonAnswer("reject", "use ruff"),
        ]
    )
    gate = Gate(policy(tmp_path, settings_file=settings), person=person)
    assert (await gate.check(make_bash_action("make a"))).is_allowed
    assert (await gate.check(make_bash_action("make b"))).rule == "bash(make b *)"
    assert (await gate.check(make_bash_action("make b c"))).by == "rule"
    assert len(person.questions) == 2
    assert (await gate.check(edit(tmp_path / "a.py"))).rule == "edit(a.py)"
    assert (await gate.check(edit(tmp_path / "a.py"))).by == "rule"
    assert settings.read_text() == (
        "# mine\n[permissions]\nmode = 'ask'  # asks\n\n"
        '[[permissions.rules]]\ndecision = "allow"\ntool = "edit"\npattern = "a.py"\n'
    )
    decision = await gate.check(make_bash_action("flake8"))
    assert (decision.verdict, decision.by, decision.reason) == ("deny", "person", "use ruff")


async def test_an_answer_decides_the_questions_that_wait(tmp_path: Path) -> None:
    person = ScriptedPerson([PersonAnswer("session")])
    gate = Gate(policy(tmp_path), person=person)
    decisions = await asyncio.gather(*(gate.check(make_bash_action("flake8 x")) for _ in range(3)))
    assert [decision.is_allowed for decision in decisions] == [True] * 3
    assert len(person.questions) == 1


async def test_without_a_person_the_gate_denies_and_says_what_to_do(tmp_path: Path) -> None:
    for person in (None, ScriptedPerson([None])):
        decision = await Gate(policy(tmp_path), person=person).check(make_bash_action("make x"))
        assert (decision.verdict, decision.by) == ("deny", "nobody")
        assert decision.reason == (
            "the permission mode ask asks, and nobody is there to answer; add the rule bash(make x *) to "
            "permissions.allow or choose another permission mode or run it where a person can answer"
        )


async def test_the_mode_can_be_changed_while_a_session_runs(tmp_path: Path) -> None:
    gate = Gate(policy(tmp_path, "deny"))
    assert not (await gate.check(make_bash_action("make"))).is_allowed
    gate.set_mode("trust")
    assert (await gate.check(make_bash_action("make"))).is_allowed
    with pytest.raises(ValueError, match="'plam' is no permission mode; they are ask, "):
        gate.set_mode("plam")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("allowed", "disallowed", "action", "is_allowed"),
    [
        (None, (), "make", True),
        ((), (), "make", False),
        ((), (), "ls", False),
        (("BASH",), (), "make", True),
        (("Bash(make *)",), (), "make x", True),
        (("Bash(make *)",), (), "make x && make y", True),
        (("Bash(make *)",), (), "make x && touch y", False),
        (("Bash(make *)",), (), "make $(touch y)", False),
        (("Bash(make *)",), (), "timeout 5 make", True),
        (("edit",), (), "make", False),
        (("ba*",), (), "make", True),
        (("bash",), ("bash",), "make", False),
        (("bash",), ("Bash(make *)",), "make x", False),
        (("bash",), ("Bash(make *)",), "sudo make x", False),
        (("bash",), ("Bash(make *)",), "touch x", True),
        (None, ("mcp__*",), "make", True),
        (None, ("*",), "ls", False),
    ],
)
async def test_the_lists_of_tools(tmp_path: Path, allowed: Any, disallowed: Any, action: str, is_allowed: bool) -> None:
    gate = Gate(policy(tmp_path, "trust", allowed_tools=allowed, disallowed_tools=disallowed))
    decision = await gate.check(make_bash_action(action))
    assert decision.is_allowed == is_allowed
    if not is_allowed:
        assert decision.by == "tools"
        assert "not allowed" in decision.reason


async def test_a_mode_that_denies_is_stronger_than_a_rule_that_asks(tmp_path: Path) -> None:
    gate = Gate(policy(tmp_path, "plan", make_rules((), ["edit"])), person=ScriptedPerson([PersonAnswer("once")]))
    assert (await gate.check(edit(tmp_path / "a"))).by == "mode"


async def test_a_tool_that_walks_can_ask_about_each_file(tmp_path: Path) -> None:
    gate = Gate(policy(tmp_path, "ask", make_rules((), (), ["Read(private/*)"])))
    names = ("a.py", ".env", "private/a.py", "../x")
    assert [gate.is_readable(tmp_path / name) for name in names] == [True, False, False, False]


async def test_if_rules_may_be_missing_the_gate_asks(tmp_path: Path) -> None:
    whole, broken = (
        policy(tmp_path, "trust", make_rules(["Bash(make *)"]), is_complete=value) for value in (True, False)
    )
    assert (await Gate(whole).check(make_bash_action("make"))).by == "rule"
    decision = await Gate(broken).check(make_bash_action("make"))
    assert (decision.by, decision.verdict) == ("nobody", "deny")
    assert "the settings have mistakes" in decision.reason
    assert (await Gate(broken).check(make_bash_action("ls"))).is_allowed


def make_matrix_actions(root: Path) -> dict[str, Action]:
    return {
        "read": read(root / "a.py"),
        "read elsewhere": read(root.parent / "other.txt"),
        "read secret": read(root / ".env"),
        "edit": edit(root / "a.py"),
        "edit .git": edit(root / ".git" / "config"),
        "git log": make_bash_action("git log"),
        "pytest": make_bash_action("pytest"),
        "rm -rf x": make_bash_action("rm -rf x"),
        "git log && rm -rf /": make_bash_action("git log && rm -rf /"),
        "python -c": make_bash_action("python -c 'x'"),
        "fetch": make_fetch_action("https://example.com"),
        "agent": Action("agent", "agent", {"prompt": "look"}),
    }


RULES = {
    "no rules": make_rules(),
    "allow": make_rules(["Bash(pytest *)", "Bash(rm *)", "Edit", "Agent"]),
    "ask": make_rules((), ["Bash(git *)", "Read"]),
    "deny": make_rules(["*"], (), ["Bash(rm *)", "Edit(a.py)", "webfetch"]),
}


async def test_the_table_of_modes_actions_and_rules_is_up_to_date(tmp_path: Path, golden_update: bool) -> None:
    root = tmp_path / "project"
    root.mkdir()
    lines = ["# mode | rules | action | decision | who decided", ""]
    for mode, (name, active) in itertools.product(PERMISSION_MODES, RULES.items()):
        gate = Gate(policy(root, mode, active), person=ScriptedPerson([PersonAnswer("once")] * 20))  # type: ignore[arg-type]
        for title, action in make_matrix_actions(root).items():
            decision = await gate.check(action)
            lines.append(f"{mode} | {name} | {title} | {decision.verdict} | {decision.by}")
    text, file = "\n".join(lines) + "\n", Path(__file__).parent / "matrix.txt"
    if golden_update:
        file.write_text(text)
    assert file.read_text() == text


@pytest.mark.parametrize("mode", PERMISSION_MODES)
async def test_the_linter_is_allowed_without_a_question_in_every_mode(tmp_path: Path, mode: PermissionMode) -> None:
    lint, recorder = Action(LINT_TOOL, "execute", argv=("ruff", "check", "--no-cache", "-")), Recorder()
    person = ScriptedPerson([])
    gate = Gate(policy(tmp_path, mode, allowed_tools=()), recorder, callback=make_callback("deny"), person=person)
    assert (await gate.check(lint)).by == "mode"
    assert [type(event) for event in recorder.events] == [PermissionDecided]
    assert not (await Gate(policy(tmp_path, mode, make_rules((), (), ["Lint"]))).check(lint)).is_allowed
    # the same program may write files with other arguments
    for words in (("ruff", "check", "--fix", "-"), ("ruff", "check", "."), ("./ruff", "check", "-")):
        risky = Gate(policy(tmp_path, "plan")).explain(Action("bash", "execute", argv=words))
        assert risky.decision
        assert not risky.decision.is_allowed
