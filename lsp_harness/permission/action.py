"""An action that the permission gate decides about, and its decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lsp_harness.process.sandbox.sandbox import Confinement

ActionKind = Literal["read", "edit", "execute", "network", "agent"]
"""The effect of an action: read files, change files, run a program, call another machine, or start a subagent."""
Verdict = Literal["allow", "deny"]
Authority = Literal["protected", "tools", "rule", "hook", "callback", "mode", "person", "nobody"]
"""The authority that decided. `tools` are the lists of tools; `nobody` means that nobody could be asked."""
LINT_TOOL = "lint"
"""The tool of the linter that checks edits."""
SUITE_TOOL = "tests"
"""The tool of the tests that check edits, which run in a sandbox."""
CHECK_TOOLS = frozenset({LINT_TOOL, SUITE_TOOL})
"""The tools of checks. No model calls them, so `allowed_tools` need not name them."""


@dataclass(frozen=True, slots=True)
class Action:
    """A side effect, before it happens.

    Attributes:
        tool: The name of the tool, such as "bash", "edit" or "mcp__server__tool".
        kind: What the action does.
        input: The input of the tool.
        paths: The files that it reads or changes, absolute.
        command: The shell command, if it runs one.
        argv: The program and its arguments, if it runs one without a shell.
        call_id: The id of the tool call.
        session_id: The id of the session.
        agent_id: The id of the foreign agent that asks for the action, or an empty text.
        confinement: The sandbox of a check of ours on a folder that the user trusts. No tool of a model has one.
        untrusted: The folder whose code or tools a check of ours runs, if it is not trusted. No mode allows that.
        findings: What the checks find wrong with an edit, for the person who decides.
    """

    tool: str
    kind: ActionKind
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    paths: tuple[Path, ...] = ()
    command: str = ""
    argv: tuple[str, ...] = ()
    call_id: str = ""
    session_id: str = ""
    agent_id: str = ""
    confinement: Confinement | None = None
    untrusted: Path | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about an action.

    Attributes:
        verdict: Whether the action may happen.
        by: Who decided: a rule, a mode, a person or a hook.
        reason: Why, in one sentence. A denied model reads it.
        rule: The rule that decided, as it stands in the settings.
        updated_input: The input that a hook or a callback put in place of that of the action.
        context: What hooks add for the model.
        only_reads: Whether it is allowed because it only reads, so that it runs where it can do nothing else.
    """

    verdict: Verdict
    by: Authority
    reason: str = ""
    rule: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""
    only_reads: bool = False

    @property
    def is_allowed(self) -> bool:
        """Return whether the action may happen."""
        return self.verdict == "allow"
