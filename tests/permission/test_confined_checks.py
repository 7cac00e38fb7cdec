"""Checks in a sandbox: the modes allow them without a question, and everything that is stricter still counts."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lsp_harness.permission.action import SUITE_TOOL, Action
from lsp_harness.permission.gate_policy import make_policy
from lsp_harness.permission.hooks import Hook, Hooks
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.person import PersonAnswer
from lsp_harness.process.sandbox.sandbox import Confinement, NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode
from tests.harness.tools import make_settings
from tests.permission.gates import Recorder, ScriptedPerson, make_bash_action, make_rules, policy


class ClosedSandbox(Sandbox):
    """A sandbox without network. It runs nothing here."""

    name = "closed"

    def wrap(self, argv: object, policy: SandboxPolicy) -> list[str]:
        raise NotImplementedError


class OpenSandbox(ClosedSandbox):
    """A sandbox that leaves the network open."""

    name = "open"
    has_network: ClassVar[bool] = True


def check_in(choice: SandboxChoice, root: Path) -> Action:
    """Return the action of running a test file, as our own checks describe it."""
    return Action(SUITE_TOOL, "execute", argv=("pytest", "test_a.py"), confinement=choice.confine(root))


def make_answering_hooks(decision: str, **more: Any) -> Hooks:
    def function(payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"decision": decision, **more}

    return Hooks([Hook("preToolUse", function=function)])


ALLOWING: tuple[PermissionMode, ...] = ("ask", "trust", "acceptEdits", "auto", "bypassPermissions")


@pytest.mark.parametrize("mode", PERMISSION_MODES)
async def test_modes_that_allow_changes_allow_a_check_in_a_sandbox(tmp_path: Path, mode: PermissionMode) -> None:
    decision = await Gate(policy(tmp_path, mode)).check(check_in(SandboxChoice(ClosedSandbox()), tmp_path))
    assert (decision.is_allowed, decision.by) == (mode in ALLOWING, "mode")
    if mode not in ALLOWING:
        assert "(confined: pytest test_a.py)" in decision.reason


@pytest.mark.parametrize("sandbox", [NoSandbox(), OpenSandbox()], ids=["none", "network"])
async def test_without_a_closed_sandbox_a_check_is_decided_like_a_command(tmp_path: Path, sandbox: Sandbox) -> None:
    action = check_in(SandboxChoice(sandbox), tmp_path)
    assert action.confinement is None
    decision = await Gate(policy(tmp_path, "ask")).check(action)
    assert (decision.is_allowed, decision.by) == (False, "nobody")
    with pytest.raises(ValueError, match="does not close the network"):
        Confinement(sandbox, tmp_path)


@pytest.mark.parametrize("rule", ["Tests", "Tests(pytest *)", "Bash", "Bash(pytest *)", "*"])
@pytest.mark.parametrize("mode", ["ask", "bypassPermissions"])
async def test_rules_win(tmp_path: Path, rule: str, mode: PermissionMode) -> None:
    action = check_in(SandboxChoice(ClosedSandbox()), tmp_path)
    decision = await Gate(policy(tmp_path, mode, make_rules((), (), [rule]))).check(action)
    assert (decision.is_allowed, decision.by, decision.rule) == (False, "rule", rule)
    decision = await Gate(policy(tmp_path, mode, make_rules((), [rule]))).check(action)
    assert (decision.is_allowed, decision.by) == (False, "nobody")
    decision = await Gate(policy(tmp_path, mode, disallowed_tools=("Tests",))).check(action)
    assert (decision.is_allowed, decision.by) == (False, "tools")


async def test_hooks_win_and_another_input_is_not_confined(tmp_path: Path) -> None:
    action = check_in(SandboxChoice(ClosedSandbox()), tmp_path)
    for hooks, by in (
        (make_answering_hooks("deny"), "hook"),
        (make_answering_hooks("ask"), "nobody"),
        (make_answering_hooks("", updated_input={"command": "make all"}), "nobody"),
    ):
        decision = await Gate(policy(tmp_path), hooks=hooks).check(action)
        assert (decision.is_allowed, decision.by) == (False, by)


async def test_a_check_is_not_allowed_if_rules_may_be_missing(tmp_path: Path) -> None:
    config = replace(make_settings(permissions={"mode": "trust"}), missing_rules=True)
    active, _ = make_policy(config, [tmp_path])
    assert not active.is_complete
    assert not (await Gate(active).check(check_in(SandboxChoice(ClosedSandbox()), tmp_path))).is_allowed


async def test_no_input_of_a_tool_makes_a_command_confined(tmp_path: Path) -> None:
    claims = {"confinement": {"sandbox": "bubblewrap", "folder": str(tmp_path)}, "is_confined": True, "tool": "tests"}
    for action in (
        make_bash_action("pytest test_a.py"),
        Action("bash", "execute", {"command": "pytest", **claims}, command="pytest"),
        Action(SUITE_TOOL, "execute", claims, argv=("pytest",)),
        # not even a caller that takes the fields of an action from JSON
        Action(SUITE_TOOL, "execute", argv=("pytest",), **json.loads('{"confinement": {"folder": "/"}}')),
        Action(SUITE_TOOL, "execute", argv=("pytest",), **json.loads('{"confinement": true}')),
    ):
        assert not (await Gate(policy(tmp_path)).check(action)).is_allowed


async def test_without_a_person_the_same_policy_decides_and_no_event_is_recorded(tmp_path: Path) -> None:
    recorder, person = Recorder(), ScriptedPerson([PersonAnswer("session")])
    gate = Gate(policy(tmp_path), recorder, person=person)
    assert not (await gate.unattended.check(make_bash_action("make all"))).is_allowed
    assert not person.questions
    assert (await gate.check(make_bash_action("make all"))).is_allowed
    recorder.events.clear()
    # an answer for the session counts there, too
    assert (await gate.unattended.check(make_bash_action("make all"))).by == "rule"
    assert (
        await Gate(policy(tmp_path, "trust"), recorder, make_answering_hooks("deny")).unattended.check(
            make_bash_action("ls")
        )
    ).by == "hook"
    assert recorder.events == []
