"""`lsp-harness gate`: the decisions of the permission gate, without running anything."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.composition import find_project_root
from lsp_harness.cli.console import JsonOption, print_json, say, warn
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config.load import Problem
from lsp_harness.errors import UsageError
from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.permission.action_parts import ActionPart
from lsp_harness.permission.gate_policy import READING_TOOLS, make_policy
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.permission.settings_judge import Explanation
from lsp_harness.wire.permission_mode import PermissionMode

ASKS_EXIT_CODE = 3
app = cyclopts.App(name="gate", help="Show what the permission gate decides about a command or a file.")

Mode = Annotated[
    PermissionMode | None,
    Parameter(help="The permission mode. The default is that of the settings, or else `ask`."),
]
ToolName = Annotated[str, Parameter(help="The tool, such as `edit` or `mcp__server__tool`. The default is `bash`.")]
FilePath = Annotated[Path | None, Parameter(help="The file that the tool reads or changes.")]
Kind = Annotated[
    Literal["read", "edit", "network", "agent"] | None,
    Parameter(help="What the tool does. By default the name of the tool says it."),
]


@app.command
def check(
    *command: str,
    mode: Mode = None,
    tool: ToolName = "bash",
    path: FilePath = None,
    kind: Kind = None,
    json: JsonOption = False,
) -> int:
    """Show the decision about a command or a file, who decided, and the rule.

    Nothing runs, no hook is called and nobody is asked. The exit status is 0 for an allowed action, 1 for a denied one
    and 3 for one that would be asked. Write `--` before the command.
    """
    gate = _make_gate(mode)
    found = gate.explain(_make_action(command, tool, path, kind))
    decision = found.decision
    if json:
        print_json(_as_json(found, gate.mode))
    else:
        _show(found)
    return ASKS_EXIT_CODE if decision is None else 0 if decision.is_allowed else 1


def _make_gate(mode: PermissionMode | None) -> PermissionGate:
    folder = find_project_root(Path.cwd() / "file")
    policy, problems = make_policy(read_settings(folder), [folder])
    for problem in problems:
        warn(describe_problem(problem))
    gate = PermissionGate(replace(policy, can_confine=_can_confine))
    if mode:
        gate.set_mode(mode)
    return gate


def _can_confine() -> bool:
    """Return whether commands that only read run in a sandbox."""
    # most questions need no sandbox, and the import takes long
    from lsp_harness.sessions.reading_commands import ReadingCommands

    return ReadingCommands.can_confine()


def describe_problem(problem: Problem) -> str:
    """Return a mistake in the settings with its place."""
    return f"{problem.file.name}:{problem.line + 1}: {problem.message}" if problem.file else problem.message


def _make_action(command: tuple[str, ...], tool: str, path: Path | None, kind: ActionKind | None) -> Action:
    if tool.casefold() == "bash":
        if not command:
            raise UsageError("the command is missing; write it after `--`, as in: lsp-harness gate check -- git push")
        text = command[0] if len(command) == 1 else shlex.join(command)
        return Action(tool, "execute", {"command": text}, command=text)
    if command:
        raise UsageError(f"the tool {tool} takes no command; write --path FILE")
    if path is None and kind in ("read", "edit"):
        raise UsageError(f"the tool {tool} needs a file; write --path FILE")
    if kind is None:
        kind = "read" if tool.casefold() in READING_TOOLS else "edit" if path else "network"
    return Action(tool, kind, {"path": str(path)} if path else {}, paths=(Path.cwd() / path,) if path else ())


def _as_json(found: Explanation, mode: PermissionMode) -> dict[str, object]:
    decision = found.decision
    return {
        "decision": decision.verdict if decision else "ask",
        "by": decision.by if decision else "person",
        "reason": decision.reason if decision else found.question,
        "rule": decision.rule if decision else "",
        "mode": mode,
        "risk": found.split.risk,
        "suggestions": list(found.suggestions),
        "parts": [_part_json(part) for part in found.split.parts],
    }


def _part_json(part: ActionPart) -> dict[str, object]:
    return {
        "text": part.display,
        "kind": part.kind,
        "risk": part.risk,
        "opaque": part.opaque,
        "is_wrapper": part.is_wrapper,
    }


def _show(found: Explanation) -> None:
    decision = found.decision
    if decision is None:
        say(f"ask: {found.question}")
        if found.suggestions:
            say(f"these rules would allow it: {', '.join(found.suggestions)}")
    else:
        rule = f" ({decision.rule})" if decision.rule and decision.rule not in decision.reason else ""
        say(f"{decision.verdict} by {decision.by}: {decision.reason}{rule}")
    for part in found.split.parts:
        say(f"  {_describe(part)}")


def _describe(part: ActionPart) -> str:
    words = [part.kind, "wrapper" if part.is_wrapper else f"risk {part.risk}"]
    if part.opaque:
        words.append(f"cannot be seen: {part.opaque}")
    return f"{part.display}  [{', '.join(words)}]"
