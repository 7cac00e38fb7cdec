"""A tool of another program, as a model sees it, with the part of its JSON schema that is a schema.

A server can send any JSON. What the keywords of a schema cannot mean is left out, so that one bad tool does not stop
the prompts of the whole session.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.chat.mcp.server_connection import ServerConnection
from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
MAX_SCHEMA_CHARS = 20_000
"""A longer schema would fill the prompt. The arguments of its tool may be any object."""
MAX_DEPTH = 40
LEFT_OUT = object()
"""Stands for a value that a keyword cannot have."""


def read_schema(value: Any) -> Mapping[str, Any]:
    """Return the schema of the arguments of a tool, which is always one of an object."""
    try:
        schema = _read_schema(value, 0)
        is_short = len(json.dumps(schema)) <= MAX_SCHEMA_CHARS
    except (RecursionError, ValueError):
        return ANY_OBJECT
    return {**schema, "type": "object"} if schema.get("type", "object") == "object" and is_short else ANY_OBJECT


def _read_schema(value: Any, depth: int) -> dict[str, Any]:
    # `true` and `false` are schemas, too, and all that is no schema counts as `true`
    if not isinstance(value, Mapping) or depth > MAX_DEPTH:
        return {}
    schema = dict[str, Any]()
    for name, member in cast("Mapping[Any, Any]", value).items():
        read = READERS.get(str(name))
        kept = member if read is None else read(member, depth + 1)
        if kept is not LEFT_OUT:
            schema[str(name)] = kept
    return schema


def _read_named(value: Any, depth: int) -> Any:
    if not isinstance(value, Mapping):
        return LEFT_OUT
    return {str(name): _read_schema(item, depth) for name, item in cast("Mapping[Any, Any]", value).items()}


def _read_choices(value: Any, depth: int) -> Any:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [_read_schema(item, depth) for item in items] or LEFT_OUT


def _read_inner(value: Any, depth: int) -> Any:
    return _read_schema(value, depth) if isinstance(value, Mapping | bool) else LEFT_OUT


def _read_more(value: Any, depth: int) -> Any:
    return value if isinstance(value, bool) else _read_inner(value, depth)


def _read_names(value: Any, depth: int) -> Any:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)] or LEFT_OUT


def _read_type(value: Any, depth: int) -> Any:
    names = [name for name in (cast("list[Any]", value) if isinstance(value, list) else [value]) if _is_type(name)]
    return LEFT_OUT if not names else names if isinstance(value, list) else names[0]


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and value in TYPES


def _read_enum(value: Any, depth: int) -> Any:
    return cast("list[Any]", value) if isinstance(value, list) and value else LEFT_OUT


def _read_text(value: Any, depth: int) -> Any:
    return value if isinstance(value, str) else LEFT_OUT


def _read_number(value: Any, depth: int) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else LEFT_OUT


def _read_count(value: Any, depth: int) -> Any:
    return value if type(value) is int and value >= 0 else LEFT_OUT


READERS: Mapping[str, Callable[[Any, int], Any]] = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _read_named),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _read_choices),
    **dict.fromkeys(("items", "not", "if", "then", "else", "contains", "propertyNames"), _read_inner),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "additionalItems"), _read_more),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _read_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _read_count),
    **dict.fromkeys(("description", "title", "pattern", "format", "$ref", "$id", "$schema"), _read_text),
    "type": _read_type,
    "enum": _read_enum,
    "required": _read_names,
}
"""Keyword → the function that returns its value, or LEFT_OUT. Other keywords stay as they are."""


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
