"""The policy of a gate, and how it is made from the settings.

A rule that is not valid never permits more: one that allows is dropped, and one that asks or denies concerns every use
of its tool.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_harness.config.load import Problem, find_user_config_file
from lsp_harness.config.permission_schema import HookSetting, RuleSetting
from lsp_harness.config.schema import Config, tables
from lsp_harness.permission.action import Action
from lsp_harness.permission.action_parts import split_action
from lsp_harness.permission.hooks import Hook
from lsp_harness.permission.protected_paths import ProtectedPaths, own_folders
from lsp_harness.permission.rules import (
    RULE_DECISIONS,
    Rule,
    RuleDecision,
    RuleSet,
    combine,
    parse_rule,
    tool_matches,
)
from lsp_harness.permission.tool_callback import DEFAULT_TIMEOUT_S
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode

READING_TOOLS = frozenset({"read", "grep", "glob"})
FILE_TOOLS = frozenset({"edit", "write", "create", *READING_TOOLS})
"""Tools whose patterns are about files and not about commands."""


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """The permissions of a gate.

    Attributes:
        mode: The permission mode.
        allowed_tools: The only tools that may be used. None is all, and an empty list is none.
        disallowed_tools: Tools that may not be used. They win against `allowed_tools`.
        rules: The rules of the settings.
        protected: The folders that may be changed, and those that may not.
        callback_timeout_s: How long the callback of a program may take.
        settings_file: The file for rules of answers that count from now on. None keeps them for the session.
        is_complete: Whether all settings could be read. Otherwise no rule of the settings allows anything.
        can_confine: Returns whether commands that only read can run in a sandbox, in which they change nothing.
    """

    mode: PermissionMode = "ask"
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    protected: ProtectedPaths = field(default_factory=ProtectedPaths)
    callback_timeout_s: float = DEFAULT_TIMEOUT_S
    settings_file: Path | None = None
    is_complete: bool = True
    can_confine: Callable[[], bool] = bool

    @property
    def tells_files_apart(self) -> bool:
        """Return whether a tool that may read the workspace may perhaps not read each of its files."""
        lists = (*self.disallowed_tools, *(self.allowed_tools or ()))
        restricting = (rule for rule in self.rules if rule.decision != "allow")
        return any("(" in text for text in lists) or any(rule.pattern is not None for rule in restricting)

    @property
    def has_file_rules(self) -> bool:
        """Return whether a rule that asks or denies is about some files, so that the files of commands matter."""
        rules = [rule for rule in self.rules if rule.decision != "allow"]
        rules += [parse_rule(text, "deny") for text in self.disallowed_tools]
        return any(
            any(tool_matches(rule.tool, tool) for tool in ("read", "edit", "write")) and rule.tool != "*"
            for rule in rules
        )


def make_policy(
    config: Config, roots: Sequence[Path], default_mode: PermissionMode = "ask"
) -> tuple[GatePolicy, list[Problem]]:
    """Return the policy of the settings for these workspace folders, and the mistakes in the rules.

    Args:
        config: The settings.
        roots: The folders that a session may change.
        default_mode: The mode of the surface, if the settings have none.
    """
    settings, problems = config.permissions, list[Problem]()
    rules = list[Rule]()
    for decision in RULE_DECISIONS:
        for text in getattr(settings, decision):
            rules += _read_text(text, decision, problems)
    for setting in settings.rules:
        rules += _read_setting(setting, problems)
    mode = settings.mode if settings.mode in PERMISSION_MODES else default_mode
    policy = GatePolicy(
        mode=mode,
        rules=tuple(rules),
        protected=ProtectedPaths(tuple(map(Path, roots)), own_folders()),
        callback_timeout_s=settings.callback_timeout_s,
        settings_file=find_user_config_file(),
        is_complete=not config.missing_rules,
    )
    return policy, problems


def make_hooks(config: Config) -> tuple[list[Hook], list[Problem]]:
    """Return the hooks of the settings, and the mistakes in them. A hook that is not valid denies if it can."""
    hooks, problems = list[Hook](), list[Problem]()
    for event in tables()["hooks"]:
        settings: tuple[HookSetting, ...] = getattr(config.hooks, event)
        for setting in settings:
            hook = Hook(event, setting.matcher, setting.command, setting.url, timeout_s=setting.timeout_s)
            if problem := _hook_problem(setting):
                problems.append(Problem(f"hooks.{event}: {problem}", setting.file, setting.line))
                function = _refuse(f"hooks.{event}: {problem}")
                hook = Hook(event, setting.matcher, function=function)
            hooks.append(hook)
    return hooks, problems


def _hook_problem(setting: HookSetting) -> str:
    if bool(setting.command) == bool(setting.url):
        return "a hook needs either a command or a url"
    if setting.url and not setting.url.startswith(("http://", "https://")):
        return f"the url must begin with http:// or https://, not {setting.url!r}"
    return "" if 0 < setting.timeout_s < float("inf") else f"timeout_s must be more than 0, not {setting.timeout_s}"


def _refuse(reason: str):
    def invalid_hook(payload: object) -> dict[str, str]:
        return {"decision": "deny", "reason": reason}

    return invalid_hook


def parse_tools(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return a list of tools after a check of each entry.

    Raises:
        ValueError: An entry is no tool or pattern. The message says why.
    """
    if texts is None:
        return None
    for text in texts:
        parse_rule(text, "allow")
    return tuple(texts)


def _read_text(text: str, decision: RuleDecision, problems: list[Problem]) -> list[Rule]:
    try:
        return [parse_rule(text, decision, "settings")]
    except ValueError as error:
        problems.append(Problem(f"permissions.{decision}: {error}"))
        if decision == "allow":
            return []
        tool = text.split("(")[0].strip()
        is_name = bool(tool) and not any(sign.isspace() or sign == ")" for sign in tool)
        return [Rule(decision, tool if is_name else "*", None, f"the rule {text!r} is not valid", "settings")]


def _read_setting(setting: RuleSetting, problems: list[Problem]) -> list[Rule]:
    decision = setting.decision if setting.decision in RULE_DECISIONS else "deny"
    rule = Rule(decision, setting.tool or "*", setting.pattern or None, setting.justification, "settings")
    problem = _setting_problem(setting, rule)
    if not problem:
        return [rule]
    shown = f"{setting.tool}({setting.pattern})" if setting.pattern else setting.tool or "without a tool"
    problems.append(Problem(f"the rule {shown}: {problem}", setting.file, setting.line))
    if setting.decision == "allow":
        return []
    return [replace(rule, pattern=None, justification=f"the rule {shown} is not valid: {problem}")]


def _setting_problem(setting: RuleSetting, rule: Rule) -> str:
    if setting.decision not in RULE_DECISIONS:
        return f"the decision must be {', '.join(RULE_DECISIONS)}, not {setting.decision!r}"
    if not setting.tool:
        return "it names no tool"
    try:
        parse_rule(str(rule), rule.decision)
    except ValueError as error:
        return str(error)
    for example in setting.match:
        if not example_matches(rule, example):
            return f"it must match {example!r} and does not"
    for example in setting.not_match:
        if example_matches(rule, example):
            return f"it must not match {example!r} and does"
    return ""


def example_matches(rule: Rule, example: str) -> bool:
    """Return whether a rule matches a command or a file. A rule that restricts must match for certain."""
    protected = ProtectedPaths((Path("/workspace"),))
    tool = rule.tool
    if tool.casefold() in FILE_TOOLS:
        kind = "read" if tool.casefold() in READING_TOOLS else "edit"
        action = Action(tool, kind, paths=(Path("/workspace") / Path(example).expanduser(),))
    elif tool.casefold() == "bash" or "*" in tool:
        action = Action("bash" if "*" in tool else tool, "execute", command=example)
    else:
        action = Action(tool, "network", {"text": example})
    rules = RuleSet((rule,), protected)
    verdict = combine(rules.judge(part) for part in split_action(action, protected).parts if not part.is_wrapper)
    if rule.decision == "ask":
        return verdict is not None and "may concern" not in verdict.reason
    return verdict is not None and verdict.decision == rule.decision
