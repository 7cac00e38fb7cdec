"""The check of a tool's input against its JSON schema, with a sentence for the model about what is wrong."""

import json
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.chat.tool import Tool

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
NAMES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def find_input_problem(tool: Tool, input: Mapping[str, Any]) -> str:
    """Return why an input does not fit the schema of a tool, or an empty text.

    Only the members and their types are compared. The tool checks the rest itself.
    """
    schema = tool.schema
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    for name in cast("list[str]", schema.get("required") or []):
        if name not in input:
            return f"{tool.name} needs {name!r}; its inputs are {', '.join(properties) or 'none'}"
    for name, value in input.items():
        if name not in properties:
            if properties and not schema.get("additionalProperties"):
                return f"{tool.name} has no input {name!r}; its inputs are {', '.join(properties)}"
            continue
        if problem := _value_problem(properties[name], value):
            return f"the input {name!r} of {tool.name} must be {problem}, not {json.dumps(value, default=str)[:80]}"
    return ""


def _value_problem(schema: Mapping[str, Any], value: Any) -> str:
    """Return what a value should be, or an empty text if it fits."""
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"one of {', '.join(json.dumps(choice) for choice in cast('list[Any]', choices))}"
    kind = schema.get("type")
    kinds = cast("list[str]", kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else [])
    known = [name for name in kinds if name in TYPES]
    if not known or any(_is_of_type(value, name) for name in known):
        return ""
    return " or ".join(NAMES[name] for name in known)


def _is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])
