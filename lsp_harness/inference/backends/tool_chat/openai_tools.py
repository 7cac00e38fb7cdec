"""A conversation with tools as OpenAI's chat route takes it."""

import json
from typing import Any

from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.backends.tool_chat.tool_wire import ToolWire, is_strict, object_schema
from lsp_harness.inference.request import ChatMessage, ToolChat
from lsp_harness.inference.target import Provider

REASONING_TOKENS = 4096
"""Tokens that are added to the limit of a model that may reason. Only tokens that are used cost money."""


def tool_chat_fields(request: ToolChat, wire: ToolWire, provider: Provider) -> Json:
    """Return the messages, the tools, the answer schema and the limit of a request."""
    fields: Json = {"messages": [_message(message, wire) for message in request.messages]}
    has_schema = wire.answer_schema is not None
    if request.tools and (provider.joins_schema or not request.must_answer):
        fields["tools"] = [_tool(wire.name_of(tool.name), tool.description, tool.schema) for tool in request.tools]
        if request.must_answer:
            fields["tool_choice"] = "none"
    if has_schema and (provider.joins_schema or "tools" not in fields):
        shape = {"name": "answer", "schema": wire.answer_schema, "strict": is_strict(wire.answer_schema)}
        fields["response_format"] = {"type": "json_schema", "json_schema": shape}
    fields[provider.limit_field] = request.sampling.n_predict + (REASONING_TOKENS if provider.reasons else 0)
    return fields


def _tool(name: str, description: str, schema: Any) -> Json:
    function = {"name": name, "description": description, "parameters": object_schema(schema)}
    return {"type": "function", "function": function}


def _message(message: ChatMessage, wire: ToolWire) -> Json:
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
