"""The tools and their results as a model reads them, in the form that Qwen2.5 was trained on, or in a shorter one.

Descriptions and results come from files and from other programs. They cannot forge the marks of a conversation: a mark
in them is broken by a space.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from lsp_harness.chat.tool import ToolResult, ToolSignature
from lsp_harness.files.secrets import redact

MAX_DESCRIPTION_CHARS = 400
"""Characters of the description of a tool. Those of other programs may be pages long."""
MAX_ARGUMENT_DESCRIPTION_CHARS = 160
MAX_LINE_DESCRIPTION_CHARS = 200
"""Characters of the description of a tool in its short form."""
UNUSED_KEYWORDS = frozenset({"$schema", "$id", "$comment", "title", "examples", "deprecated", "readOnly", "writeOnly"})
"""Keywords of JSON schemas that only cost tokens."""
SHORT_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "array": "list"}
"""Type in a JSON schema → its word in the short form."""
MARK = re.compile(r"<(?=/?(?:tool_call|tool_response|tools)>|\|[\w ]{1,40}\|>)")
HEAD = """# Tools

You may call functions to do the task. Their signatures are within <tools></tools>:
<tools>
"""
TAIL = """
</tools>

To call a function, answer with a JSON object with its name and arguments within <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""


def render_tools(tools: Iterable[ToolSignature]) -> str:
    """Return the description of the tools for the system prompt. It is empty if there are none."""
    lines = "\n".join(map(format_full_signature, tools))
    return f"{HEAD}{lines}{TAIL}" if lines else ""


def render_short(tools: Iterable[ToolSignature]) -> str:
    """Return the description of the tools with one line for each. It needs a fifth of the tokens of `render_tools`."""
    lines = "\n".join(map(format_short_signature, tools))
    return f"{HEAD}{break_marks(lines)}{TAIL}" if lines else ""


def format_short_signature(tool: ToolSignature) -> str:
    """Return a tool as a line such as `read(path, first_line?: int): Read a file.`"""
    properties = cast("Mapping[str, Mapping[str, Any]]", tool.schema.get("properties") or {})
    required = cast("list[str]", tool.schema.get("required") or [])
    arguments = [f"{name}{'' if name in required else '?'}{_short_type(form)}" for name, form in properties.items()]
    return f"{tool.name}({', '.join(arguments)}): {_shorten(tool.description, MAX_LINE_DESCRIPTION_CHARS)}"


def format_full_signature(tool: ToolSignature) -> str:
    """Return a tool as the JSON object in which Qwen2.5 has learned to read it."""
    return break_marks(json.dumps(_describe_signature(tool), ensure_ascii=False))


def _short_type(form: Mapping[str, Any]) -> str:
    """Return the type of an argument after a colon. A text, which most arguments are, has none."""
    if choices := cast("list[Any]", form.get("enum") or []):
        return ": " + "|".join(str(choice) for choice in choices)
    kind = form.get("type")
    return "" if kind in ("string", None) else f": {SHORT_TYPES.get(str(kind), str(kind))}"


def describe_tools(tools: Iterable[ToolSignature]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the name, the description and the schema of each tool, for services that take them apart."""
    signatures = [json.loads(break_marks(json.dumps(_describe_signature(tool))))["function"] for tool in tools]
    return [(signature["name"], signature["description"], signature["parameters"]) for signature in signatures]


def render_result(result: ToolResult) -> str:
    """Return the result of a tool call as the content of a message of the user."""
    return f"<tool_response>\n{format_result(result)}\n</tool_response>"


def format_result(result: ToolResult) -> str:
    """Return the result of a tool call, without secrets and marks."""
    prefix = "Error: " if result.is_error and not result.text.startswith("Error") else ""
    return f"{prefix}{break_marks(redact(result.text))}"


def break_marks(text: str) -> str:
    """Return a text in which a mark of a conversation, such as `<|im_end|>`, has a space after its `<`."""
    return MARK.sub("< ", text)


def _describe_signature(tool: ToolSignature) -> dict[str, Any]:
    description = _shorten(tool.description, MAX_DESCRIPTION_CHARS)
    function = {"name": tool.name, "description": description, "parameters": _compact_schema(tool.schema)}
    return {"type": "function", "function": function}


def _compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what a model does not need."""
    compact: dict[str, Any] = {}
    for key, value in schema.items():
        if key in UNUSED_KEYWORDS or (key == "additionalProperties" and value is False):
            continue
        if key == "description":
            compact[key] = _shorten(str(value), MAX_ARGUMENT_DESCRIPTION_CHARS)
        elif key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
            named = cast("Mapping[str, Any]", value)
            compact[key] = {name: _compact_value(inner) for name, inner in named.items()}
        else:
            compact[key] = _compact_value(value)
    return compact


def _compact_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _compact_schema(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return [_compact_value(item) for item in cast("list[Any]", value)]
    return value


def _shorten(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
