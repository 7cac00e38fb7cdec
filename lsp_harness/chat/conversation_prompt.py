"""The prompt of a conversation: the system text with the tools, then the messages of the session.

The beginning never changes within a session, and messages are only appended. So the engine evaluates only what is new.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from lsp_harness.chat.tool import ToolResult
from lsp_harness.chat.tool_grammar import CALL_END, CALL_START
from lsp_harness.chat.tool_prompt import break_marks, format_result, render_result
from lsp_harness.events.model_events import ToolCall
from lsp_harness.inference.request import ChatMessage, PastCall
from lsp_harness.kernel.artifacts import STUB_CHARS
from lsp_harness.kernel.projections.message_history import Conversation, Message

SUMMARY_TITLE = "Summary of the conversation until here:"
FAILURE_CHARS = 240
"""Characters of the message of an old failure that stay in the prompt."""
REMOVED_BEGINNING = "[the beginning of the conversation was removed to save room]"
MISSING_RESULT = "Error: the call has no result"
REMOVED_OUTPUT = "[the output was removed to save room; call the tool again if you need it]"


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """The messages for a model.

    Attributes:
        messages: Pairs of role (`system`, `user` or `assistant`) and content, oldest first. Tools and calls are text.
        dialogue: The same conversation without the system text, with calls and results that are no text.
        tokens: The tokens of the whole prompt, or 0 before they are counted.
        sections: The tokens of each section.
    """

    messages: tuple[tuple[str, str], ...]
    tokens: int = 0
    sections: Mapping[str, int] | None = None
    dialogue: tuple[ChatMessage, ...] = ()

    @property
    def hash(self) -> str:
        """A hash by which two prompts are compared."""
        digest = blake2b(digest_size=16)
        for role, content in self.messages:
            digest.update(f"{role}\0{content}\0".encode("utf-8", "replace"))
        return digest.hexdigest()


NO_NAMES: Mapping[str, str] = {}


def build_messages(
    system: str, conversation: Conversation, names: Mapping[str, str] = NO_NAMES
) -> tuple[tuple[str, str], ...]:
    """Return the messages for a model. Neighbours of one role become one message, because some services demand it.

    Args:
        system: The system text. If it is empty, there is no such message.
        conversation: The messages of the session, after compaction.
        names: The name of a tool → the name that the model sees.
    """
    pairs = [("system", system)] if system else []
    if conversation.summary:
        pairs.append(("user", f"{SUMMARY_TITLE}\n{conversation.summary}"))
    pairs += [render_message(message, conversation, names) for message in conversation.messages]
    merged: list[tuple[str, str]] = []
    for role, content in pairs:
        if merged and merged[-1][0] == role:
            merged[-1] = (role, f"{merged[-1][1]}\n\n{content}")
        else:
            merged.append((role, content))
    return tuple(merged)


def build_dialogue(conversation: Conversation, names: Mapping[str, str] = NO_NAMES) -> tuple[ChatMessage, ...]:
    """Return the messages for a service that takes calls and results apart from the text.

    Such services demand that a user begins, that the results of all calls follow them at once, and that each result has
    a call. A result whose call is unknown becomes a text of the user. Reasoning is left out, because services only take
    their own form of it.

    Args:
        conversation: The messages of the session, after compaction.
        names: The name of a tool → the name that the model sees.
    """
    results = {message.call_id: message for message in conversation.messages if message.role == "tool"}
    known = {call.call_id for message in conversation.messages for call in message.calls}
    dialogue: list[ChatMessage] = []
    if conversation.summary:
        dialogue.append(ChatMessage("user", f"{SUMMARY_TITLE}\n{conversation.summary}"))
    for message in conversation.messages:
        if message.role == "assistant":
            calls = tuple(PastCall(call.call_id, names.get(call.tool, call.tool), call.input) for call in message.calls)
            if calls or message.text:
                dialogue.append(ChatMessage("assistant", message.text, calls))
            dialogue += [_render_native_result(call.id, results.get(call.id), conversation) for call in calls]
        elif message.role == "tool" and message.call_id in known:
            continue
        else:
            _add_user_text(dialogue, render_message(message, conversation, names)[1])
    if dialogue and dialogue[0].role != "user":
        dialogue.insert(0, ChatMessage("user", REMOVED_BEGINNING))
    return tuple(dialogue)


def _add_user_text(dialogue: list[ChatMessage], text: str) -> None:
    """Add a text of the user. Neighbours become one message."""
    if dialogue and dialogue[-1].role == "user":
        dialogue[-1] = ChatMessage("user", f"{dialogue[-1].text}\n\n{text}")
    else:
        dialogue.append(ChatMessage("user", text))


def _render_native_result(call_id: str, message: Message | None, conversation: Conversation) -> ChatMessage:
    if message is None:
        return ChatMessage("tool", MISSING_RESULT, call_id=call_id, is_error=True)
    text = format_result(ToolResult(render_output(message, conversation), message.is_error))
    return ChatMessage("tool", text, call_id=call_id, is_error=message.is_error)


def render_message(
    message: Message, conversation: Conversation, names: Mapping[str, str] = NO_NAMES
) -> tuple[str, str]:
    """Return the role and the content of one message, without what compaction removed."""
    match message.role:
        case "assistant":
            thinking = message.thinking if message.seq > conversation.thinking_until else ""
            parts = [f"<think>\n{thinking}\n</think>"] if thinking else []
            parts += [message.text] if message.text else []
            parts += [format_call(call, names) for call in message.calls]
            return "assistant", "\n".join(parts)
        case "tool":
            return "user", render_result(ToolResult(render_output(message, conversation), message.is_error))
        case _:
            return "user", break_marks(message.text)


def format_call(call: ToolCall, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return a call as the model wrote it."""
    body = json.dumps({"name": names.get(call.tool, call.tool), "arguments": dict(call.input)}, ensure_ascii=False)
    return f"{CALL_START}\n{body}\n{CALL_END}"


def render_output(message: Message, conversation: Conversation) -> str:
    """Return the output of a call, or what stands in its place."""
    if message.call_id in conversation.promoted:
        artifact_id = conversation.promoted[message.call_id]
        hint = f'call read_artifact with artifact_id "{artifact_id}" to read the rest' if artifact_id else "not kept"
        return f"{message.text[:STUB_CHARS]}\n[{len(message.text):,} characters; {hint}]"
    if message.seq <= conversation.tombstoned_until and is_shortened(message, conversation):
        # the reason of a failure stays: it may still be true
        kept = f"{message.text[:FAILURE_CHARS]}\n" if message.is_error else ""
        return f"{kept}{REMOVED_OUTPUT}"
    return message.text


def is_shortened(message: Message, conversation: Conversation) -> bool:
    """Return whether the output of a call gets shorter by removing it."""
    size = len(REMOVED_OUTPUT) + (FAILURE_CHARS if message.is_error else 0)
    return message.role == "tool" and message.call_id not in conversation.promoted and len(message.text) > size
