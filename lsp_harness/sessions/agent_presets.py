"""The presets of subagents: the system text, the tools and the limit of steps of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.chat.tools.command_tools import BashTool, CancelTaskTool, ReadTaskTool, WaitTaskTool
from lsp_harness.permission.rules import parse_rule, tool_matches

READING_TOOLS = ("read", "glob", "grep", "find_symbol", "symbol_overview", "find_references", "read_artifact")
EDITING_TOOLS = ("edit", "create", "replace_symbol_body", "insert_before_symbol", "insert_after_symbol")
COMMAND_TOOLS = tuple(tool.name for tool in (BashTool, ReadTaskTool, WaitTaskTool, CancelTaskTool))


@dataclass(frozen=True, slots=True)
class AgentPreset:
    """A kind of subagent.

    Attributes:
        name: The name, by which the model chooses it.
        purpose: One sentence for the model.
        system: The system text. `{folder}` is the name of the working folder.
        tools: The tools that it may call. Only with "agent" among them it may start subagents of its own.
        max_steps: The most model calls.
    """

    name: str
    purpose: str
    system: str
    tools: tuple[str, ...]
    max_steps: int


PRESETS = {
    preset.name: preset
    for preset in (
        AgentPreset(
            "explore",
            "finds things in the files and changes nothing",
            "You find things in the folder {folder} for another assistant. Use the tools to look, change nothing, and "
            "answer with the files, lines and names that were asked for. Paths are relative to the folder.",
            READING_TOOLS,
            12,
        ),
        AgentPreset(
            "edit",
            "changes files and runs commands",
            "You do one task in the folder {folder} for another assistant. Do only what is asked, and answer in a few "
            "sentences with what you changed and what is left. Paths are relative to the folder.",
            (*READING_TOOLS, *EDITING_TOOLS, *COMMAND_TOOLS),
            20,
        ),
    )
}
"""Name → preset. The first one is the default."""


def narrow_tools(tools: Iterable[str], allowed: Sequence[str] | None) -> tuple[str, ...]:
    """Return the list of tools of a subagent, which never allows more than that of its parent.

    Args:
        tools: The tools of the preset.
        allowed: The entries of the list of the parent, such as `bash(git *)`. None allows all tools.
    """
    if allowed is None:
        return tuple(tools)
    narrowed: list[str] = []
    for tool in tools:
        for text in allowed:
            rule = parse_rule(text, "allow")
            if tool_matches(rule.tool, tool):
                narrowed.append(tool if rule.pattern is None else f"{tool}({rule.pattern})")
    return tuple(dict.fromkeys(narrowed))
