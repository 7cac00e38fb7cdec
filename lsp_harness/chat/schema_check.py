"""The check of a tool's input against its JSON schema, with a sentence for the model about what is wrong."""

import json
from collections.abc import Mapping, Sequence
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


def find_mismatch(schema: Any, value: Any, place: str = "the answer") -> str:
    """Return where and why a value does not fit a JSON schema, or an empty text.

    The keywords are those that the grammar of answers can express, without references. What it does not know fits.

    Args:
        schema: The schema.
        value: The value, as JSON has it.
        place: The name of the value for the message.
    """
    if schema is False:
        return f"{place} is not allowed"
    if not isinstance(schema, Mapping):
        return ""
    rules = cast("Mapping[str, Any]", schema)
    if wanted := _value_problem(rules, value):
        return f"{place} must be {wanted}, not {json.dumps(value)[:80]}"
    if "const" in rules and value != rules["const"]:
        return f"{place} must be {json.dumps(rules['const'])}"
    for keyword in ("anyOf", "oneOf"):
        branches = cast("list[Any]", rules.get(keyword) or [])
        if branches and all(find_mismatch(branch, value, place) for branch in branches):
            return f"{place} fits none of the alternatives"
    for branch in cast("list[Any]", rules.get("allOf") or []):
        if problem := find_mismatch(branch, value, place):
            return problem
    if isinstance(value, dict):
        return _find_member_mismatch(rules, cast("dict[str, Any]", value), place)
    if isinstance(value, list):
        return _find_item_mismatch(rules, cast("list[Any]", value), place)
    return _find_limit(rules, value, place)


def _find_member_mismatch(rules: Mapping[str, Any], value: Mapping[str, Any], place: str) -> str:
    properties = cast("Mapping[str, Any]", rules.get("properties") or {})
    for name in cast("list[str]", rules.get("required") or []):
        if name not in value:
            return f"{place} has no {name!r}"
    others = rules.get("additionalProperties", True)
    for name, member in value.items():
        if problem := find_mismatch(properties.get(name, others), member, f"{place}.{name}"):
            return problem
    return ""


def _find_item_mismatch(rules: Mapping[str, Any], value: Sequence[Any], place: str) -> str:
    if not rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", len(value)):
        return f"{place} has {len(value)} items, which are too few or too many"
    first = cast("list[Any]", rules.get("prefixItems") or [])
    for number, item in enumerate(value):
        schema = first[number] if number < len(first) else rules.get("items", True)
        if problem := find_mismatch(schema, item, f"{place}[{number}]"):
            return problem
    return ""


def _find_limit(rules: Mapping[str, Any], value: Any, place: str) -> str:
    if isinstance(value, str):
        fits = rules.get("minLength", 0) <= len(value) <= rules.get("maxLength", len(value))
        return "" if fits else f"{place} is too short or too long"
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_low = value < rules.get("minimum", value) or value <= rules.get("exclusiveMinimum", value - 1)
        is_high = value > rules.get("maximum", value) or value >= rules.get("exclusiveMaximum", value + 1)
        return f"{place} is {value}, which is out of range" if is_low or is_high else ""
    return ""
