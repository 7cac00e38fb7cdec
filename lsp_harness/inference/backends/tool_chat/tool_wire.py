"""The names and the answer schema of a conversation with tools, in a form that every service accepts."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.inference.request import ToolChat

MAX_NAME_CHARS = 64
FOREIGN_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
ANSWER_NAME = "give_answer"
"""The tool that stands for the answer, where a service only takes schemas of tools."""
WRAPPED_KEY = "answer"


class ToolWire:
    """Translates the names of tools to those of a service and back, and the answer schema to an object.

    Services only take names of letters, digits, `_` and `-`, and only schemas of objects.

    Attributes:
        answer_tool: A name that no tool has.
        answer_schema: The schema of the answer, always of an object; None if any text is an answer.
    """

    def __init__(self, request: ToolChat) -> None:
        self._names: dict[str, str] = {}
        for tool in request.tools:
            self._names[tool.name] = self._free_name(_clean_name(tool.name))
        self._tools = {sent: name for name, sent in self._names.items()}
        self.answer_tool = self._free_name(ANSWER_NAME)
        schema = request.answer_schema
        self._is_wrapped = schema is not None and schema.get("type") != "object"
        self.answer_schema = _wrap(schema) if schema is not None and self._is_wrapped else schema

    def name_of(self, tool: str) -> str:
        """Return the name that a service gets. A call of the past may name a tool that there is not."""
        return self._names.get(tool) or _clean_name(tool)

    def tool_of(self, name: str) -> str:
        """Return the tool that a service names."""
        return self._tools.get(name, name)

    @property
    def holds_text(self) -> bool:
        """True if the text of an answer is only complete after `unwrap`."""
        return self._is_wrapped

    def unwrap(self, text: str) -> str:
        """Return the answer that the schema of the request means."""
        if not self._is_wrapped:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return text
        is_wrapped = isinstance(value, dict) and WRAPPED_KEY in value
        return json.dumps(value[WRAPPED_KEY], ensure_ascii=False) if is_wrapped else text

    def _free_name(self, name: str) -> str:
        taken, number, free = set(self._names.values()), 2, name
        while free in taken:
            ending = f"_{number}"
            free, number = f"{name[: MAX_NAME_CHARS - len(ending)]}{ending}", number + 1
        return free


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input schema of a tool with the keywords that services demand."""
    return {"type": "object", "properties": dict[str, Any](), **schema}


def is_strict(schema: Any) -> bool:
    """Return whether OpenAI can force a schema: each object lists its members, and all of them are required."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in cast("list[Any]", schema))
    if not isinstance(schema, Mapping):
        return True
    rules = cast("Mapping[str, Any]", schema)
    if rules.get("type") == "object":
        members: Mapping[str, Any] = rules.get("properties") or {}
        if rules.get("additionalProperties") is not False or set(members) != set(rules.get("required") or ()):
            return False
        shared: Mapping[str, Any] = rules.get("$defs") or {}
        return all(is_strict(inner) for inner in (*members.values(), *shared.values()))
    return all(is_strict(inner) for key, inner in rules.items() if key not in ("enum", "const", "default"))


def _clean_name(name: str) -> str:
    return FOREIGN_CHARACTER.sub("_", name)[:MAX_NAME_CHARS] or "_"


def _wrap(schema: Mapping[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in schema.items() if key not in ("$defs", "definitions", "$schema")}
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    members = {"properties": {WRAPPED_KEY: inner}, "required": [WRAPPED_KEY]}
    return {"type": "object", **members, "additionalProperties": False, **shared}
