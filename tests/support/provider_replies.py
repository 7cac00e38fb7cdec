"""Streamed replies of services with tool calls, in the formats of OpenAI and of Anthropic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.support.server import FakeServer, Reply

MODEL = "some-model"
Format = Literal["openai", "anthropic"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic")
PATHS: Mapping[Format, str] = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
Call = tuple[str, Sequence[str]]
"""The name of a tool, and the pieces of its arguments."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An answer: the pieces of its text, its calls, and why it ended (by default, what fits)."""

    text: Sequence[str] = ()
    calls: Sequence[Call] = ()
    stop: str = ""
    thinking: str = ""


def make_openai_events(said: ScriptedAnswer) -> list[Any]:
    """Return the events of an answer. The pieces of several calls take turns."""

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    events = [chunk({"role": "assistant", "content": None, "reasoning_content": said.thinking or None})]
    events += [chunk({"content": piece}) for piece in said.text]
    for index, (name, _) in enumerate(said.calls):
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        events.append(chunk({"tool_calls": [head | {"function": {"name": name, "arguments": ""}}]}))
    for step in range(max((len(pieces) for _, pieces in said.calls), default=0)):
        for index, (_, pieces) in enumerate(said.calls):
            if step < len(pieces):
                events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": pieces[step]}}]}))
    events.append(chunk({}, said.stop or ("tool_calls" if said.calls else "stop")))
    details = {"prompt_tokens_details": {"cached_tokens": 30}}
    events.append({"choices": [], "usage": {"prompt_tokens": 37, "completion_tokens": 4, **details}})
    return [*events, "[DONE]"]


def make_anthropic_events(said: ScriptedAnswer) -> list[Any]:
    """Return the events of an answer, with one block for its text and one for each call."""
    counts = {"input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 30}
    events: list[Any] = [{"type": "message_start", "message": {"usage": counts}}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], str, str, Sequence[str]]] = []
    if said.thinking:
        blocks.append(({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", [said.thinking]))
    if said.text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", said.text))
    for number, (name, pieces) in enumerate(said.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        blocks.append((block, "input_json_delta", "partial_json", pieces))
    for index, (block, kind, key, pieces) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        head = {"type": "content_block_delta", "index": index}
        events += [head | {"delta": {"type": kind, key: piece}} for piece in pieces]
        events.append({"type": "content_block_stop", "index": index})
    reason = said.stop or ("tool_use" if said.calls else "end_turn")
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}})
    return [*events, {"type": "message_stop"}]


EVENTS: Mapping[Format, Callable[[ScriptedAnswer], list[Any]]] = {
    "openai": make_openai_events,
    "anthropic": make_anthropic_events,
}


def serve_answers(form: Format, *replies: ScriptedAnswer | Reply) -> FakeServer:
    """Return a server that gives these replies, in their order."""
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": MODEL, "owned_by": "somebody"}]})
    answers = [reply if isinstance(reply, Reply) else Reply(EVENTS[form](reply)) for reply in replies]
    server.on["POST", PATHS[form]] = answers
    return server
