"""A tool with any schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.permission.action import Action


@dataclass
class ScriptedTool:
    """A tool that answers with its input."""

    name: str
    schema: Mapping[str, Any]
    description: str = "A tool."

    def action(self, input: Mapping[str, Any]) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Mapping[str, Any], context: CallContext) -> ToolResult:
        return ToolResult(str(input))
