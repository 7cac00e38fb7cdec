"""Decisions by the settings alone: protected paths, lists of tools, rules and the mode, and rules to suggest."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lsp_harness.permission.action import CHECK_TOOLS, Action, Decision
from lsp_harness.permission.action_parts import ActionPart, FileRules, SplitAction, split_action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.mode_table import MODE_TABLE, class_of
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.rules import Rule, RuleSet, RuleVerdict, combine, parse_rule, tool_matches
from lsp_harness.permission.shell.git_reading import split_git
from lsp_harness.syntax.shell.shell_words import UNKNOWN
from lsp_harness.wire.permission_mode import PermissionMode

SUBCOMMANDS = frozenset(
    {
        "git",
        "npm",
        "yarn",
        "pnpm",
        "pip",
        "pip3",
        "uv",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "poetry",
        "hatch",
        "gh",
        "apt",
    }
    | {"apt-get", "brew", "dotnet", "mvn", "gradle", "bundle", "rake", "composer", "terraform", "make", "just", "ruff"}
)
"""Programs whose first argument says what they do."""


def suggest_rules(parts: Sequence[ActionPart], protected: ProtectedPaths) -> tuple[str, ...]:
    """Return rules that would allow these parts from now on, or none if a part can never be allowed by a rule."""
    rules = list[str]()
    for part in parts:
        if part.opaque:
            return ()
        if part.is_wrapper or part.risk == "low":
            continue
        rule = _suggest_rule(part, protected)
        if rule is None:
            return ()
        rules.append(rule)
    return tuple(dict.fromkeys(rules))


def _suggest_rule(part: ActionPart, protected: ProtectedPaths) -> str | None:
    if part.command is not None:
        words = [word.text for word in part.command.words]
        if re.search(rf"[*?\n{UNKNOWN}]", words[0]):
            return None
        if part.risk == "high":
            text = " ".join(words)
            # only exactly this dangerous command, and no other one that a wildcard would match
            return f"{part.tool}({text})" if not re.search(rf"[*?{UNKNOWN}]", text) else None
        if words[0] in SUBCOMMANDS:
            subcommand = split_git(words[1:])[0] if words[0] == "git" else (words[1] if len(words) > 1 else "")
            if not re.fullmatch(r"[\w:.-]+", subcommand) or subcommand.startswith("-"):
                return f"{part.tool}({' '.join(words)})" if UNKNOWN not in part.command.text else None
            prefix = f"{words[0]} {subcommand}"
            if part.command.text != prefix and not part.command.text.startswith(prefix + " "):
                # options stand before the subcommand, so that this prefix would not match again
                return f"{part.tool}({part.command.text})" if UNKNOWN not in part.command.text else None
            return f"{part.tool}({prefix} *)"
        return f"{part.tool}({words[0]} *)"
    if part.paths:
        names = [protected.relative(forms[-1]) for forms in part.paths if forms]
        folders = {name.rpartition("/")[0] for name in names}
        if len(names) == 1:
            return f"{part.tool}({names[0]})"
        return f"{part.tool}({folder}/*)" if len(folders) == 1 and (folder := folders.pop()) else part.tool
    return part.tool


@dataclass(slots=True)
class GateCheck:
    """The state of one check.

    Attributes:
        action: The action, with the input that hooks and programs have put in place of the first one.
        split: The parts of the action.
        verdicts: What the rules say about each part.
        request_id: The id of the question, if somebody was asked.
        context: What hooks add for the model.
        updated_input: The changed input, if it was changed.
    """

    action: Action
    split: SplitAction
    verdicts: list[RuleVerdict | None]
    request_id: str = ""
    context: str = ""
    updated_input: Mapping[str, Any] | None = None

    @property
    def rule(self) -> RuleVerdict | None:
        """Return what the rules say about the whole action."""
        return combine(verdict for _, verdict in self.relevant_parts)

    @property
    def relevant_parts(self) -> list[tuple[ActionPart, RuleVerdict | None]]:
        """Return the parts that need a permission, each with its verdict. A mere wrapper needs none."""
        return [
            (part, verdict)
            for part, verdict in zip(self.split.parts, self.verdicts, strict=True)
            if not part.is_wrapper or part.opaque or (verdict is not None and verdict.decision != "allow")
        ]

    @property
    def asks_by_rule(self) -> bool:
        """Return whether a rule asks, so that neither the mode nor a hook can allow the action."""
        return (rule := self.rule) is not None and rule.decision == "ask"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision of the settings alone about an action.

    Attributes:
        decision: The decision. None means that somebody would be asked.
        split: The parts of the action.
        question: Why somebody would be asked.
        suggestions: The rules that would allow the action.
    """

    decision: Decision | None
    split: SplitAction
    question: str = ""
    suggestions: tuple[str, ...] = ()

    @property
    def only_reads(self) -> bool:
        """Return whether the action is known to change nothing."""
        return all(class_of(part) in ("low", "outside") for part in self.split.parts)


@dataclass(frozen=True, slots=True)
class SettingsJudge:
    """The decisions of a policy, with the rules of the answers of a session.

    Attributes:
        policy: The rules, the mode and the folders of the gate.
        session_rules: Rules that a person has added in this session.
    """

    policy: GatePolicy
    session_rules: tuple[Rule, ...] = ()

    @property
    def rules(self) -> RuleSet:
        """Return the active rules."""
        settings = self.policy.rules
        if not self.policy.is_complete:
            # a rule that cannot be read might deny, so nothing is allowed by a rule
            settings = tuple(rule for rule in settings if rule.decision != "allow")
        disallowed = tuple(parse_rule(text, "deny", "disallowed_tools") for text in self.policy.disallowed_tools)
        return RuleSet((*disallowed, *settings, *self.session_rules), self.policy.protected)

    def begin(self, action: Action) -> GateCheck:
        """Return the check of an action, with what the rules say."""
        if not self.policy.is_complete:
            # a rule that cannot be read might deny this check, so the mode does not allow it
            action = replace(action, confinement=None)
        files = FileRules(self.policy.has_file_rules, lambda: self.confines_reading)
        split, rules = split_action(action, self.policy.protected, files), self.rules
        return GateCheck(action, split, [rules.judge(part) for part in split.parts])

    def decide(self, check: GateCheck) -> Decision | None:
        """Decide by the protected paths, the lists of tools and the rules. None if they do not decide."""
        if check.split.problem:
            return Decision("deny", "protected", check.split.problem)
        if denial := self._decide_by_tools(check):
            return denial
        rule = check.rule
        if rule is None or rule.decision == "ask":
            return None
        return Decision(rule.decision, "rule", rule.reason, str(rule.rule))

    def decide_by_mode(self, check: GateCheck) -> Decision | None:
        """Decide by the mode. None if it asks."""
        mode = self.mode
        verdicts, asks = MODE_TABLE[mode].verdicts, check.asks_by_rule or check.action.untrusted is not None
        for part, verdict in check.relevant_parts:
            if verdict and verdict.decision == "allow":
                continue
            word = verdicts[class_of(part)]
            if word == "deny":
                what = f"{class_of(part)}: {part.display}"
                return Decision("deny", "mode", f"the permission mode {mode} does not allow it ({what})")
            asks = asks or word == "ask"
        if asks:
            return None
        reason = f"the permission mode {mode} allows it"
        if not self.only_reads(check):
            return Decision("allow", "mode", reason)
        where = "in a sandbox in which it can only read" if self.confines_reading else "because it only reads"
        return Decision("allow", "mode", f"{reason}, {where}", only_reads=True)

    def only_reads(self, check: GateCheck) -> bool:
        """Return whether a command is allowed only because it reads, in a mode that does not allow other commands."""
        is_command = bool(check.action.command or check.action.argv) and check.action.confinement is None
        if not is_command or MODE_TABLE[self.mode].verdicts["command"] == "allow":
            return False
        return not any(verdict and verdict.decision == "allow" for _, verdict in check.relevant_parts)

    @property
    def confines_reading(self) -> bool:
        """Return whether commands that only read run in a sandbox: in modes that do not allow other commands."""
        return MODE_TABLE[self.mode].verdicts["command"] != "allow" and self.policy.can_confine()

    @property
    def mode(self) -> PermissionMode:
        """Return the mode that counts. If rules may be missing, no mode is more generous than `ask`."""
        mode = self.policy.mode
        return mode if self.policy.is_complete or mode in ("deny", "plan") else "ask"

    def question_reason(self, check: GateCheck) -> str:
        """Return why somebody is asked."""
        rule = check.rule
        if rule and rule.decision == "ask":
            return rule.reason
        if folder := check.action.untrusted:
            return f"you have not said that you trust {folder}, and this runs its code"
        if not self.policy.is_complete:
            return "the settings have mistakes, so that rules may be missing"
        opaque = next((part.opaque or part.unseen for part in check.split.parts if part.opaque or part.unseen), "")
        danger = next((part.danger for part in check.split.parts if part.danger), "")
        return opaque or danger or f"the permission mode {self.mode} asks"

    def suggestions(self, check: GateCheck) -> tuple[str, ...]:
        """Return the rules that would answer this question from now on."""
        if check.asks_by_rule or check.action.untrusted:
            # a rule that asks wins against any rule that allows, and a rule would be about every folder
            return ()
        parts = [part for part, verdict in check.relevant_parts if not (verdict and verdict.decision == "allow")]
        return suggest_rules(parts, self.policy.protected)

    def _decide_by_tools(self, check: GateCheck) -> Decision | None:
        tool = check.action.tool
        for verdict in check.verdicts:
            if verdict and verdict.decision == "deny" and verdict.rule.source == "disallowed_tools":
                text = str(verdict.rule)
                return Decision("deny", "tools", f"{tool} is not allowed: {text} is in disallowed_tools", text)
        if self.policy.allowed_tools is None or tool in CHECK_TOOLS:
            return None
        allowed = [parse_rule(text, "allow", "allowed_tools") for text in self.policy.allowed_tools]
        named = [rule for rule in allowed if tool_matches(rule.tool, tool)]
        if any(rule.pattern is None for rule in named) or (named and self._covers(named, check)):
            return None
        listed = ", ".join(self.policy.allowed_tools) or "no tool"
        return Decision("deny", "tools", f"{tool} is not allowed: allowed_tools has {listed}")

    def _covers(self, allowed: list[Rule], check: GateCheck) -> bool:
        """Return whether entries of `allowed_tools` with patterns match all parts of an action."""
        rules = RuleSet(protected=self.policy.protected)
        return all(
            any(rules.allows(rule, part) for rule in allowed if tool_matches(rule.tool, part.tool))
            for part, _ in check.relevant_parts
        )
