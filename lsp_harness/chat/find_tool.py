"""The tool that shows how to call the tools that are not described in the prompt of a small model."""

from collections.abc import Iterable, Mapping

from lsp_harness.chat.shown_tools import FIND_TOOL, RARE_TOOLS, show_tools
from lsp_harness.chat.tool import CallContext, Tool, ToolResult, ToolSignature
from lsp_harness.chat.tool_prompt import full_signature, short_signature
from lsp_harness.chat.tools.tool_input import Input, Schema, object_schema, read_text, text_schema
from lsp_harness.permission.action import Action

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
    schema: Schema = object_schema({}, {"words": text_schema("Name of a tool, or words of its description", 200)})

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
            lines = [full_signature(tool) for tool in best[:MAX_SHOWN_SCHEMAS]]
            return ToolResult("\n".join([*lines, *map(short_signature, best[MAX_SHOWN_SCHEMAS:])]))
        head = ["No tool fits these words. All tools:"] if words else []
        return ToolResult("\n".join([*head, *map(short_signature, self._tools)]))


def _count_hits(tool: ToolSignature, words: Iterable[str]) -> int:
    """Return how well some words fit a tool."""
    name, description = tool.name.casefold().replace("_", " "), tool.description.casefold()
    return sum(NAME_WEIGHT * (word in name) + (word in description) for word in words)
