"""Conversations with tools as Anthropic and OpenAI take them: names, answer schemas, and calls in pieces.

For Anthropic, the tools and the system text, and then everything up to the last message, are marked for the prompt
cache: the next step of a turn sends them again.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.request import ChatMessage, ToolChat, WrittenCall
from lsp_harness.inference.target import Provider

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


@dataclass(slots=True)
class _Pieces:
    id: str
    name: str = ""
    arguments: str = ""


class CallAssembly:
    """Puts the calls of one answer together.

    Pieces belong together by their index. Some services send none, or the same one for each call; then a new id begins
    a new call.
    """

    def __init__(self, wire: ToolWire) -> None:
        self.wire = wire
        self._calls: list[_Pieces] = []
        self._by_index: dict[int, _Pieces] = {}

    def add(self, index: int | None, id: str, name: str, arguments: Any) -> None:
        """Add a piece of a call. Each part may be empty."""
        pieces = self._find(index, id, name)
        pieces.id = pieces.id or id
        pieces.name = pieces.name or name
        pieces.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""

    @property
    def calls(self) -> tuple[WrittenCall, ...]:
        """The calls of tools, in their order."""
        named = ((self.wire.tool_of(pieces.name), pieces) for pieces in self._calls)
        answer = self.wire.answer_tool
        return tuple(WrittenCall(tool, pieces.arguments) for tool, pieces in named if pieces.name != answer)

    @property
    def answer(self) -> str:
        """The text that the call of the answer tool stands for, or an empty text."""
        texts = (pieces.arguments for pieces in self._calls if pieces.name == self.wire.answer_tool)
        return self.wire.unwrap(next(texts, ""))

    def _find(self, index: int | None, id: str, name: str) -> _Pieces:
        known = self._by_index.get(index) if index is not None else self._calls[-1] if self._calls else None
        is_other = bool(known and name and (known.id != id if known.id and id else index is None))
        if known is None or is_other:
            known = _Pieces(id)
            self._calls.append(known)
        if index is not None:
            self._by_index[index] = known
        return known


CACHED: Json = {"cache_control": {"type": "ephemeral"}}


def anthropic_chat_fields(request: ToolChat, wire: ToolWire) -> Json:
    """Return the system text, the messages and the tools of a request. An answer schema is the input of one tool."""
    fields: Json = {
        "messages": _anthropic_messages([message for message in request.messages if message.role != "system"], wire)
    }
    if system := "\n\n".join(message.text for message in request.messages if message.role == "system"):
        fields["system"] = [_anthropic_text(system) | CACHED]
    tools = [_anthropic_tool(wire.name_of(tool.name), tool.description, tool.schema) for tool in request.tools]
    if wire.answer_schema is not None:
        tools.append(_anthropic_tool(wire.answer_tool, "Give the answer, as the last step.", wire.answer_schema))
        is_only = request.must_answer or not request.tools
        fields["tool_choice"] = {"type": "tool", "name": wire.answer_tool} if is_only else {"type": "any"}
    if tools:
        fields["tools"] = tools
    return fields


def _anthropic_tool(name: str, description: str, schema: Any) -> Json:
    return {"name": name, "description": description, "input_schema": object_schema(schema)}


def _anthropic_text(text: str) -> Json:
    return {"type": "text", "text": text}


def _anthropic_messages(messages: list[ChatMessage], wire: ToolWire) -> list[Json]:
    """Return the messages, in which results belong to the user. Neighbours of one role become one message."""
    merged: list[Json] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _anthropic_blocks(message, wire)
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    if merged:
        merged[-1]["content"][-1] |= CACHED
    return merged


def _anthropic_blocks(message: ChatMessage, wire: ToolWire) -> list[Json]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result | {"is_error": True} if message.is_error else result]
    # the API refuses a block without a text
    blocks = [_anthropic_text(message.text)] if message.text.strip() else []
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": wire.name_of(call.tool), "input": dict(call.input)}
        for call in message.calls
    ]


REASONING_TOKENS = 4096
"""Tokens that are added to the limit of a model that may reason. Only tokens that are used cost money."""


def openai_chat_fields(request: ToolChat, wire: ToolWire, provider: Provider) -> Json:
    """Return the messages, the tools, the answer schema and the limit of a request."""
    fields: Json = {"messages": [_openai_message(message, wire) for message in request.messages]}
    has_schema = wire.answer_schema is not None
    if request.tools and (provider.joins_schema or not request.must_answer):
        fields["tools"] = [
            _openai_tool(wire.name_of(tool.name), tool.description, tool.schema) for tool in request.tools
        ]
        if request.must_answer:
            fields["tool_choice"] = "none"
    if has_schema and (provider.joins_schema or "tools" not in fields):
        shape = {"name": "answer", "schema": wire.answer_schema, "strict": is_strict(wire.answer_schema)}
        fields["response_format"] = {"type": "json_schema", "json_schema": shape}
    fields[provider.limit_field] = request.sampling.n_predict + (REASONING_TOKENS if provider.reasons else 0)
    return fields


def _openai_tool(name: str, description: str, schema: Any) -> Json:
    function = {"name": name, "description": description, "parameters": object_schema(schema)}
    return {"type": "function", "function": function}


def _openai_message(message: ChatMessage, wire: ToolWire) -> Json:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": wire.name_of(call.tool),
                "arguments": json.dumps(dict(call.input), ensure_ascii=False),
            },
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
