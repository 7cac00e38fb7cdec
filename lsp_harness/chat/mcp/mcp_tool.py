"""A tool of another program, as a model sees it."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.chat.mcp.server_connection import ServerConnection
from lsp_harness.chat.mcp.tool_schema import read_schema
from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

MAX_RESULT_CHARS = 16_000_000
MAX_DESCRIPTION_CHARS = 4_000
"""A longer description would fill the prompt."""
MAX_NAME_CHARS = 64
FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")


class McpTool:
    """A tool of a server. Its name has the form `mcp__server__tool`."""

    def __init__(self, connection: ServerConnection, listed: "Tool") -> None:
        self._connection = connection
        self._listed_name = listed.name
        self.server = connection.spec.name
        self.name = tool_name(self.server, listed.name)
        self.description = (listed.description or listed.title or listed.name)[:MAX_DESCRIPTION_CHARS]
        self.schema: Mapping[str, Any] = read_schema(listed.input_schema)

    def action(self, input: Mapping[str, Any]) -> Action:
        # what a server says about the effects of its tools cannot be trusted
        return Action(self.name, "network" if self._connection.spec.url else "execute", input)

    async def run(self, input: Mapping[str, Any], context: CallContext) -> ToolResult:
        return convert_result(await self._connection.call(self._listed_name, input, context.report))


def tool_name(server: str, tool: str) -> str:
    """Return the name of a tool of a server, of characters that all providers allow."""
    return f"mcp__{server}__{FORBIDDEN.sub('_', tool)}"[:MAX_NAME_CHARS]


def convert_result(result: "CallToolResult") -> ToolResult:
    """Return the result of a call with all texts in it, without secrets. Images and sounds are named only."""
    parts = [redact(part) for block in result.content if (part := _describe_block(block))]
    data: Any = _redact_data(result.structured_content)
    if not parts and data is not None:
        parts = [json.dumps(data, ensure_ascii=False)]
    text = "\n".join(parts)
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[the result has {len(text):,} characters; the rest was dropped]"
    is_error = bool(result.is_error)
    return ToolResult(text or ("the tool failed" if is_error else "the tool returned nothing"), is_error, data=data)


def _redact_data(data: Any) -> Any:
    if data is None:
        return None
    text = json.dumps(data, ensure_ascii=False)
    redacted = redact(text)
    if redacted == text:
        return data
    try:
        return json.loads(redacted)
    except ValueError:
        # the secret went beyond its text, as a key with line ends may
        return None


def _describe_block(block: Any) -> str:
    match block.type:
        case "text":
            return cast("str", block.text)
        case "image" | "audio":
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4:,} bytes, not shown]"
        case "resource_link":
            return f"[resource {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"[resource {block.resource.uri}, not a text]"
        case _:
            return f"[{block.type}, not shown]"
