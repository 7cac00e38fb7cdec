"""The edits that a project defines with `[[actions]]` in its settings: whether they are valid, and their prompts."""

import re
from collections.abc import Mapping
from dataclasses import replace

from lsp_harness.config.action_schema import ActionSetting
from lsp_harness.config.load import Problem
from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.kernel.results import Proposal
from lsp_harness.languages.language_table import find_language
from lsp_harness.verify.checks import CHECKS

PLACEHOLDERS = ("selection", "symbol", "diagnostics", "file", "language")
CONTEXT_BUDGETS: Mapping[str, str] = {
    "related": "related_budget",
    "docs": "docs_budget",
    "examples": "few_shot_budget",
    "session": "session_budget",
}
"""Part of the context → the setting with its tokens."""
BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}|[{}]")
NAME = re.compile(r"[a-z][a-z0-9-]*")


def read_actions(config: Config) -> tuple[dict[str, ActionSetting], list[Problem]]:
    """Return the valid actions by their names, and what is wrong with the others."""
    actions: dict[str, ActionSetting] = {}
    problems: list[Problem] = []
    for setting in config.actions.custom:
        if mistake := _find_mistake(setting):
            shown = f"the action {setting.name!r}" if setting.name else "an action"
            problems.append(Problem(f"{shown} is not offered: {mistake}", setting.file, setting.line))
        elif setting.name in actions:
            message = f"the action {setting.name!r} is defined twice; the first definition counts"
            problems.append(Problem(message, setting.file, setting.line))
        else:
            actions[setting.name] = replace(setting, title=setting.title or setting.name)
    return actions, problems


def find_action(config: Config, name: str) -> ActionSetting:
    """Return the action with a name. Raise UsageError if there is none, with the reason if its definition is wrong."""
    actions, problems = read_actions(config)
    if name in actions:
        return actions[name]
    reason = next((problem.message for problem in problems if f"the action {name!r}" in problem.message), "")
    known = f"the actions are {', '.join(actions)}" if actions else "no [[actions]] are defined in lsp-harness.toml"
    raise UsageError(reason or f"there is no action {name!r}; {known}")


def fits_language(action: ActionSetting, language_id: str) -> bool:
    """Return whether an action is for files of a language."""
    return not action.languages or language_id in {find_language(name).id for name in action.languages}


def format_prompt(action: ActionSetting, values: Mapping[str, str]) -> str:
    """Return the instruction of an action, with a value for each placeholder."""
    return BRACES.sub(lambda match: values[match[1]] if match[1] else match[0][0], action.prompt).strip()


def adapt_settings(action: ActionSetting, config: Config) -> Config:
    """Return the settings for an action: with its parts of the context, and with its checks turned on."""
    context, verification = config.context, config.verification
    for part, budget in CONTEXT_BUDGETS.items():
        if action.context and part not in action.context:
            context = replace(context, **{budget: 0})
    for check in CHECKS:
        if check.name in action.checks and check.setting:
            verification = replace(verification, **{check.setting: True})
    return replace(config, context=context, verification=verification)


def require_checks(action: ActionSetting, proposal: Proposal) -> None:
    """Raise NoAnswer if one of the checks that an action names did not run."""
    outcomes = {outcome.check: outcome for outcome in proposal.verdict.outcomes}
    for name in action.checks:
        outcome = outcomes.get(name)
        if outcome is None or outcome.status != "passed":
            reason = outcome.reason if outcome else "it is not for edits of this kind"
            raise NoAnswer(
                f"the action {action.name!r} needs the check {name}, which did not run: {reason}; nothing was changed"
            )


def _find_mistake(action: ActionSetting) -> str:
    """Return what is wrong with a definition, and what to do about it. Empty if nothing is."""
    if not NAME.fullmatch(action.name):
        return "its name must be of small letters, digits and -, and begin with a letter"
    if not action.prompt.strip():
        return "it has no prompt"
    for match in BRACES.finditer(action.prompt):
        if match[1] and match[1] not in PLACEHOLDERS:
            return f"its prompt has the unknown placeholder {match[0]}; the placeholders are {', '.join(PLACEHOLDERS)}"
        if match[0] in ("{", "}"):
            return f"its prompt has a single {match[0]}; write {match[0] * 2} for a brace"
    known = (
        ("part of the context", action.context, list(CONTEXT_BUDGETS)),
        ("check", action.checks, [check.name for check in CHECKS if not check.is_about_finding]),
    )
    for noun, names, allowed in known:
        for name in names:
            if name not in allowed:
                return f"{name!r} is no {noun}; choose from {', '.join(allowed)}"
    return next((f"{name!r} is no language" for name in action.languages if not find_language(name).id), "")
