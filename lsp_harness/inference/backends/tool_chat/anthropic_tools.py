"""A conversation with tools as Anthropic's Messages API takes it.

The tools and the system text, and then everything up to the last message, are marked for the prompt cache: the next
step of a turn sends them again.
"""

from typing import Any

from lsp_harness.inference.backends.backend import Json
from lsp_harness.inference.backends.tool_chat.tool_wire import ToolWire, object_schema
from lsp_harness.inference.request import ChatMessage, ToolChat

CACHED: Json = {"cache_control": {"type": "ephemeral"}}


def tool_chat_fields(request: ToolChat, wire: ToolWire) -> Json:
    """Return the system text, the messages and the tools of a request. An answer schema is the input of one tool."""
    fields: Json = {"messages": _messages([message for message in request.messages if message.role != "system"], wire)}
    if system := "\n\n".join(message.text for message in request.messages if message.role == "system"):
        fields["system"] = [_text(system) | CACHED]
    tools = [_tool(wire.name_of(tool.name), tool.description, tool.schema) for tool in request.tools]
    if wire.answer_schema is not None:
        tools.append(_tool(wire.answer_tool, "Give the answer, as the last step.", wire.answer_schema))
        is_only = request.must_answer or not request.tools
        fields["tool_choice"] = {"type": "tool", "name": wire.answer_tool} if is_only else {"type": "any"}
    if tools:
        fields["tools"] = tools
    return fields


def _tool(name: str, description: str, schema: Any) -> Json:
    return {"name": name, "description": description, "input_schema": object_schema(schema)}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _messages(messages: list[ChatMessage], wire: ToolWire) -> list[Json]:
    """Return the messages, in which results belong to the user. Neighbours of one role become one message."""
    merged: list[Json] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message, wire)
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:
            merged.append({"role": role, "content": blocks})
    if merged:
        merged[-1]["content"][-1] |= CACHED
    return merged


def _blocks(message: ChatMessage, wire: ToolWire) -> list[Json]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result | {"is_error": True} if message.is_error else result]
    # the API refuses a block without a text
    blocks = [_text(message.text)] if message.text.strip() else []
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": wire.name_of(call.tool), "input": dict(call.input)}
        for call in message.calls
    ]
