"""The gate: one ordered check of every side effect of a session.

1. Protected paths (`protected_paths.py`) and the lists of tools.
2. The rules (`rules.py`): the most restrictive one of all parts of the action.
3. The hooks of `preToolUse`: a denial wins.
4. The function of the program, if there is one. It is asked whatever the mode is, but not about the linter.
5. The mode (`mode_table.py`).
6. The person. If nobody is there, the action is denied.

The check never raises, and an error denies. Each check records exactly one `permission.decided`.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsp_harness.config.load import trust_remedy
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import PermissionDecided, PermissionRequested
from lsp_harness.permission.action import CHECK_TOOLS, Action, Decision
from lsp_harness.permission.action_parts import describe_action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.hooks import HookOutcome, Hooks
from lsp_harness.permission.person import CHOICES, AskPerson, PermissionQuestion, PersonAnswer
from lsp_harness.permission.question_text import RememberedRules, describe_question
from lsp_harness.permission.rules import Rule, parse_rule
from lsp_harness.permission.settings_file import add_allow_rules
from lsp_harness.permission.settings_judge import Explanation, GateCheck, SettingsJudge
from lsp_harness.permission.tool_callback import ToolCallback, call_callback
from lsp_harness.text.ulid import make_ulid
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode

Record = Callable[[SessionEvent], object]
Rebuild = Callable[[Action, Mapping[str, Any]], Action]
"""A function that returns the action of a tool for another input."""


def replace_input(action: Action, input: Mapping[str, Any]) -> Action:
    """Return an action with another input. The command and the paths are taken from the usual keys of the input."""
    command = input.get("command")
    paths = [value for key in ("path", "file_path", "file") if isinstance(value := input.get(key), str)]
    return replace(
        action,
        input=input,
        command=command if isinstance(command, str) and action.kind == "execute" else action.command,
        paths=tuple(Path(path) for path in paths) if paths else action.paths,
    )


class PermissionGate:
    """The permission gate of a session.

    Args:
        policy: The mode, the lists of tools and the rules.
        record: Receives the events of the check.
        hooks: The hooks of the session.
        callback: The function of the program that uses the session.
        person: The surface that can ask a person.
        rebuild: The function that makes the action of a tool from an input that a hook or a callback has changed.
    """

    def __init__(
        self,
        policy: GatePolicy,
        record: Record | None = None,
        hooks: Hooks | None = None,
        callback: ToolCallback | None = None,
        person: AskPerson | None = None,
        rebuild: Rebuild = replace_input,
    ) -> None:
        self.policy = policy
        self.callback, self.person = callback, person
        self._record: Record = record or _drop
        self._hooks, self._rebuild = hooks, rebuild
        self._session_rules = list[Rule]()
        self._announces = True
        # a person answers one question at a time, and an answer may decide the next one
        self._asking = asyncio.Lock()

    @property
    def mode(self) -> PermissionMode:
        """Return the permission mode."""
        return self.policy.mode

    def set_mode(self, mode: PermissionMode) -> None:
        """Change the mode from now on. Raises ValueError for another word."""
        if mode not in PERMISSION_MODES:
            raise ValueError(f"{mode!r} is no permission mode; they are {', '.join(PERMISSION_MODES)}")
        self.policy = replace(self.policy, mode=mode)

    async def check(self, action: Action) -> Decision:
        """Decide about an action. Never raises, but for a cancellation."""
        check: GateCheck | None = None
        try:
            # about a command, folders and the history of git may be searched
            begin = self._judge.begin
            check = await asyncio.to_thread(begin, action) if action.command else begin(action)
            decision = await self._decide(check)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails, nothing is allowed
            decision = _fail(error)
        try:
            self._record(_as_event(action, decision, check.request_id if check else ""))
        except Exception as error:  # noqa: BLE001 - whatever fails, nothing is allowed
            # an action that cannot be recorded does not happen
            return _fail(error)
        return decision

    @property
    def unattended(self) -> "PermissionGate":
        """The gate of work in the background: nobody can answer, and the log does not get its decisions."""
        gate = PermissionGate(self.policy, None, self._hooks, self.callback, rebuild=self._rebuild)
        gate._session_rules = self._session_rules
        return gate

    def answered_by(self, person: AskPerson) -> "PermissionGate":
        """Return the same gate for a user whose request is the answer. No client is told of a question."""
        gate = PermissionGate(self.policy, self._record, self._hooks, self.callback, person, self._rebuild)
        gate._session_rules = self._session_rules
        gate._announces = False
        return gate

    def explain(self, action: Action) -> Explanation:
        """Decide without hooks, a program or a person, and record nothing."""
        judge = self._judge
        check = judge.begin(action)
        decision = judge.decide(check) or judge.decide_by_mode(check)
        if decision:
            return Explanation(decision, check.split)
        return Explanation(None, check.split, judge.question_reason(check), judge.suggestions(check))

    def asks(self, action: Action) -> bool:
        """Return whether a person is asked about an action, as far as the settings say, which may read its files."""
        # a program that decides is told of every call
        is_asked = self.person is not None and self.callback is None and self.explain(action).decision is None
        return is_asked and all(map(self.is_readable, action.paths))

    def is_readable(self, path: Path, tool: str = "read") -> bool:
        """Return whether a tool that walks through folders may read a file, as far as the settings say.

        It takes a third of a millisecond, so ask `GatePolicy.tells_files_apart` before thousands of questions.
        """
        action = Action(tool, "read", paths=(path,))
        decision = self.explain(action).decision
        return decision is not None and decision.is_allowed

    @property
    def _judge(self) -> SettingsJudge:
        return SettingsJudge(self.policy, tuple(self._session_rules))

    async def _decide(self, check: GateCheck) -> Decision:
        if (decision := self._judge.decide(check)) and not decision.is_allowed:
            return decision
        outcome = await self._run_hooks("preToolUse", check)
        check.context = outcome.context
        if outcome.is_denied:
            return Decision("deny", "hook", outcome.reason, outcome.hook, None, outcome.context)
        if denial := self._change_input(check, outcome.updated_input):
            return denial
        if self.callback is not None and check.action.tool not in CHECK_TOOLS:
            answer = await call_callback(
                self.callback, check.action.tool, self._callback_context(check), self.policy.callback_timeout_s
            )
            if answer.decision == "deny":
                return self._finish(check, Decision("deny", "callback", answer.reason or "the program denies it"))
            if denial := self._change_input(check, answer.updated_input):
                return denial
            if answer.decision == "allow":
                return self._finish(check, Decision("allow", "callback", answer.reason or "the program allows it"))
            return await self._ask(check, answer.reason or "the program asks")
        if outcome.decision == "ask":
            return await self._ask(check, outcome.reason or f"the hook {outcome.hook} asks")
        if outcome.decision == "allow" and not check.asks_by_rule:
            reason = outcome.reason or f"the hook {outcome.hook} allows it"
            return self._finish(check, Decision("allow", "hook", reason, outcome.hook))
        decision = self._judge.decide(check) or self._judge.decide_by_mode(check)
        return self._finish(check, decision) if decision else await self._ask(check, self._judge.question_reason(check))

    def _change_input(self, check: GateCheck, updated: Mapping[str, Any] | None) -> Decision | None:
        """Take over a changed input, and return the denial if the settings deny the changed action."""
        if updated is None:
            return None
        # another input may be another program, about which nothing is assured
        changed = self._judge.begin(replace(self._rebuild(check.action, updated), confinement=None))
        check.action, check.split, check.verdicts = changed.action, changed.split, changed.verdicts
        check.updated_input = updated
        decision = self._judge.decide(check)
        return decision if decision and not decision.is_allowed else None

    def _finish(self, check: GateCheck, decision: Decision) -> Decision:
        updated = check.updated_input if decision.is_allowed else None
        return replace(decision, updated_input=updated, context=check.context)

    async def _run_hooks(self, event: str, check: GateCheck, **facts: Any) -> HookOutcome:
        action = check.action
        if self._hooks is None or not self._hooks.concerns(event, action.tool):
            return HookOutcome()
        payload = {
            "session_id": action.session_id,
            "call_id": action.call_id,
            "tool": action.tool,
            "tool_input": dict(action.input),
            "kind": action.kind,
            "paths": [str(path) for path in action.paths],
            "command": action.command,
            "risk": check.split.risk,
            "mode": self.mode,
        }
        return await self._hooks.run(event, {**payload, **facts})

    def _callback_context(self, check: GateCheck) -> dict[str, Any]:
        action = check.action
        self._request(check, "the program decides")
        return {
            "toolName": action.tool,
            "toolInputJson": json.dumps(action.input, default=str),
            "tool_name": action.tool,
            "tool_input": dict(action.input),
            "call_id": action.call_id,
            "session_id": action.session_id,
            "request_id": check.request_id,
            "risk": check.split.risk,
            "mode": self.mode,
            "suggestions": list(self._judge.suggestions(check)),
            "paths": [str(path) for path in action.paths],
            "text": self._describe(check, "the program decides"),
        }

    def _request(self, check: GateCheck, reason: str) -> None:
        if check.request_id:
            return
        check.request_id = make_ulid()
        action = check.action
        paths, suggestions = tuple(map(str, action.paths)), self._judge.suggestions(check)
        self._record(
            PermissionRequested(
                check.request_id,
                action.tool,
                action.input,
                reason,
                action.call_id,
                paths,
                suggestions,
                check.split.risk,
                self.mode,
                action.agent_id,
                self._describe(check, reason),
            )
        )

    def _describe(self, check: GateCheck, reason: str) -> str:
        action, policy = check.action, self.policy
        # nobody can let a foreign agent do something always
        rules = None if action.agent_id else RememberedRules(self._judge.suggestions(check), policy.settings_file)
        return describe_question(action, policy.protected.folder, reason, rules)

    async def _ask(self, check: GateCheck, reason: str) -> Decision:
        outcome = await self._run_hooks("permissionRequest", check, reason=reason)
        check.context = "\n".join(filter(None, [check.context, outcome.context]))
        if outcome.is_denied:
            return self._finish(check, Decision("deny", "hook", outcome.reason, outcome.hook))
        if denial := self._change_input(check, outcome.updated_input):
            return denial
        if outcome.decision == "allow":
            text = outcome.reason or f"the hook {outcome.hook} allows it"
            return self._finish(check, Decision("allow", "hook", text, outcome.hook))
        if self.person is None:
            return self._deny_without_person(check, reason)
        async with self._asking:
            if self._was_answered(check):
                return self._finish(check, Decision("allow", "person", "an answer of this session allows it"))
            if self._announces:
                self._request(check, reason)
            suggestions, text = self._judge.suggestions(check), self._describe(check, reason)
            question = PermissionQuestion(check.request_id, check.action, reason, suggestions, text)
            try:
                answer = await self.person.ask(question)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                answer = None
            if answer is None:
                return self._deny_without_person(check, reason)
            return self._finish(check, self._take_answer(answer, question))

    def _deny_without_person(self, check: GateCheck, reason: str) -> Decision:
        if check.action.untrusted:
            return self._finish(check, Decision("deny", "nobody", f"{reason}; {trust_remedy()}"))
        suggestions = self._judge.suggestions(check)
        rule = f"add the rule {' and '.join(suggestions)} to permissions.allow" if suggestions else ""
        remedy = " or ".join(filter(None, [rule, "choose another permission mode", "run it where a person can answer"]))
        return self._finish(check, Decision("deny", "nobody", f"{reason}, and nobody is there to answer; {remedy}"))

    def _was_answered(self, check: GateCheck) -> bool:
        """Return whether an answer that was given meanwhile decides this question too."""
        if not self._session_rules or check.asks_by_rule:
            return False
        before = check.verdicts
        rules = self._judge.rules
        check.verdicts = [rules.judge(part) for part in check.split.parts]
        rule = check.rule
        return bool(rule and rule.decision == "allow" and check.verdicts != before)

    def _take_answer(self, answer: PersonAnswer, question: PermissionQuestion) -> Decision:
        if answer.choice not in CHOICES:
            return Decision("deny", "person", f"the answer {answer.choice!r} is not one of {', '.join(CHOICES)}")
        if answer.choice == "reject":
            return Decision("deny", "person", answer.reason or "the user rejected it")
        reason = answer.reason or "the user allowed it"
        if answer.choice in ("session", "always"):
            source = "session"
            self._session_rules += [parse_rule(text, "allow", source) for text in question.suggestions]
        if answer.choice == "always" and question.suggestions:
            file = self.policy.settings_file
            problem = add_allow_rules(file, question.suggestions) if file else "there is no settings file"
            if problem:
                reason = f"{reason}; the rule counts for this session only, because {problem}"
        return Decision("allow", "person", reason, ", ".join(question.suggestions if answer.choice != "once" else ()))


def _as_event(action: Action, decision: Decision, request_id: str) -> PermissionDecided:
    return PermissionDecided(
        tool=action.tool,
        action=describe_action(action),
        decision=decision.verdict,
        by=decision.by,
        reason=decision.reason,
        rule=decision.rule,
        call_id=action.call_id,
        request_id=request_id,
        updated_input=decision.updated_input,
        agent_id=action.agent_id,
    )


def _drop(event: SessionEvent) -> None:
    """Record nothing."""


def _fail(error: Exception) -> Decision:
    return Decision("deny", "nobody", f"the permission gate failed: {type(error).__name__}: {error}")
