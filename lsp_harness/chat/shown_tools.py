"""The tools as a model sees them, with short names, and the tool that shows how to call those not described.

A small model invents names that look like `mcp__server__tool`. So it sees `tool`, and the log has the whole name.

All tools with their JSON schemas are 2,200 tokens, which a CPU evaluates in half a minute. If they need more than a
share of the window, the model sees one line for each tool, and the rarely used ones only by name, in the description of
`find_tool`. It may call them all the same: the grammar of calls always has all tools.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsp_harness.chat.tool import CallContext, Tool, ToolResult, ToolSignature
from lsp_harness.chat.tool_prompt import format_full_signature, format_short_signature, render_short, render_tools
from lsp_harness.chat.tools.tool_input import Input, Schema, make_text_schema, object_schema, read_text
from lsp_harness.permission.action import Action

FOREIGN_PREFIX = "mcp__"
TOOLS_SHARE = 1 / 8
"""The share of the window that the tools with their JSON schemas may need."""
RARE_TOOLS = frozenset(
    {
        "symbol_overview",
        "find_references",
        "insert_before_symbol",
        "insert_after_symbol",
        "read_task",
        "wait_task",
        "cancel_task",
        "read_artifact",
        "agent",
    }
)
"""Tools that `find_tool` finds. Results name those of tasks and artifacts when they are of use."""
FIND_TOOL = "find_tool"


@dataclass(frozen=True, slots=True)
class ShownTool:
    """The part of a tool that a model sees."""

    name: str
    description: str
    schema: Mapping[str, Any]


def shorten_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each tool → the name that the model sees."""
    short = {name: name.split("__", 2)[2] if _is_foreign(name) else name for name in names}
    counts = Counter(short.values())
    return {name: shown if counts[shown] == 1 else name for name, shown in short.items()}


def show_tools(tools: Mapping[str, Tool]) -> dict[str, ShownTool]:
    """Return the tools that a model sees, by the names that it sees."""
    shown = shorten_names(tools)
    return {shown[name]: ShownTool(shown[name], tool.description, tool.schema) for name, tool in tools.items()}


def render_views(system: str, tools: Iterable[ToolSignature]) -> tuple[str, ...]:
    """Return a system text with the tools: with their whole description, and with the short one if there are tools."""
    listed = list(tools)
    can_find = any(tool.name == FIND_TOOL for tool in listed)
    whole = render_tools(tool for tool in listed if tool.name != FIND_TOOL)
    short = render_short(tool for tool in listed if not (can_find and tool.name in RARE_TOOLS))
    return tuple("\n\n".join(part for part in (system, view) if part) for view in dict.fromkeys((whole, short)))


def _is_foreign(name: str) -> bool:
    return name.startswith(FOREIGN_PREFIX) and name.count("__") >= 2 and bool(name.split("__", 2)[2])


MAX_SHOWN_SCHEMAS = 4
"""Most tools whose JSON schema is part of an answer. Others have one line."""
NAME_WEIGHT = 3
"""Hits in a description that count as much as one in a name."""


class FindTool:
    """Returns the signatures of the tools that fit some words, or one line for each tool.

    Args:
        tools: The other tools of the session by their names.
    """

    name = FIND_TOOL
    schema: Schema = object_schema({}, {"words": make_text_schema("Name of a tool, or words of its description", 200)})

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = list(show_tools(tools).values())
        rare = ", ".join(tool.name for tool in self._tools if tool.name in RARE_TOOLS)
        self.description = f"Show the arguments of another tool: {rare}."

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        words = read_text(input, "words", "").casefold().replace("_", " ").split()
        hits = [_count_hits(tool, words) for tool in self._tools]
        best = [tool for tool, count in zip(self._tools, hits, strict=True) if count and count == max(hits)]
        if best:
            lines = [format_full_signature(tool) for tool in best[:MAX_SHOWN_SCHEMAS]]
            return ToolResult("\n".join([*lines, *map(format_short_signature, best[MAX_SHOWN_SCHEMAS:])]))
        head = ["No tool fits these words. All tools:"] if words else []
        return ToolResult("\n".join([*head, *map(format_short_signature, self._tools)]))


def _count_hits(tool: ToolSignature, words: Iterable[str]) -> int:
    """Return how well some words fit a tool."""
    name, description = tool.name.casefold().replace("_", " "), tool.description.casefold()
    return sum(NAME_WEIGHT * (word in name) + (word in description) for word in words)
