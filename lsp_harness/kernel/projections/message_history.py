"""The messages of a session for a model, as its events say them.

Compaction only adds events. What they remove from the prompt stays in the log, and this module leaves it out:

* "drop_thinking": reasoning of old answers,
* "promote": the output of an old call, which an artifact has as a whole,
* "tombstone": the output of an old call, without a replacement,
* "summarize": old messages, in whose place a summary stands,
* "cut": old messages without a replacement.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.model_events import ModelCompleted, ToolCall
from lsp_harness.wire.event import Event

CODE_KINDS = frozenset({"fix", "edit", "docstring", "tests", "explain", "check"})
"""Kinds of requests that do not belong to a conversation: they have prompts of their own."""


def text_field(event: Event, key: str) -> str:
    """Return a field of an event that is a text. It is empty if the field is absent or no text."""
    value = event.data.get(key)
    return value if isinstance(value, str) else ""


MAX_MESSAGES = 8_192
"""Messages that are kept. With more, the older half is left out."""
RESULT_HOOKS = ("postToolUse", "postToolUseFailure")
"""The hooks that hear of the result of a call after it is in the log."""
Role = Literal["user", "assistant", "tool", "notification", "summary"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation.

    Attributes:
        seq: The number of its event.
        turn: The number of its turn.
        role: "user", "assistant", "tool" (the result of a call), "notification" (of a background task) or "summary".
        text: The text.
        thinking: The reasoning of the model.
        calls: The tools that the model calls.
        call_id: The call that a result is for.
        tool: The tool that a result is from.
        is_error: Whether the call failed.
        artifact_id: The artifact with the whole output.
    """

    seq: int
    turn: int
    role: Role
    text: str
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    is_error: bool = False
    artifact_id: str = ""


@dataclass(slots=True)
class Conversation:
    """The messages of a session, and what compaction removed from the prompt.

    Attributes:
        messages: All messages that a prompt may still contain, in their order.
        thinking_until: Reasoning up to this event is left out.
        promoted: The id of each call whose output is replaced by an artifact → the id of the artifact.
        tombstoned_until: Outputs up to this event are left out.
        summary: The text in place of the messages that were summarized, or empty.
        cut_until: Messages up to this event are left out.
        code_turns: The numbers of running turns that do not belong to the conversation.
        revision: The number of events that may have changed the conversation. The same revision gives the same prompt.
    """

    messages: list[Message] = field(default_factory=list[Message])
    thinking_until: int = -1
    promoted: dict[str, str] = field(default_factory=dict[str, str])
    tombstoned_until: int = -1
    summary: str = ""
    cut_until: int = -1
    code_turns: set[int] = field(default_factory=set[int])
    revision: int = 0

    def apply(self, event: Event) -> None:
        """Add one event of the session to the messages."""
        if handle := HANDLERS.get(event.type):
            self.revision += 1
            handle(self, event)

    def add(self, message: Message) -> None:
        """Add a message, unless its turn does not belong to the conversation."""
        if message.turn in self.code_turns:
            return
        self.messages.append(message)
        if len(self.messages) > MAX_MESSAGES:
            # no window holds so many; a chat is summarized long before
            self.cut(self.messages[len(self.messages) // 2].seq)

    def cut(self, until_seq: int) -> None:
        """Leave out the messages up to and including an event."""
        self.cut_until = max(self.cut_until, until_seq)
        self.messages = [message for message in self.messages if message.seq > self.cut_until]
        kept_calls = {message.call_id for message in self.messages}
        self.promoted = {id: artifact for id, artifact in self.promoted.items() if id in kept_calls}


def project_conversation(events: Iterable[Event]) -> Conversation:
    """Return the conversation of all events, which are in the order of their numbers."""
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return conversation


Handler = Callable[[Conversation, Event], None]


def _add(conversation: Conversation, event: Event, role: Role, text: str, **more: Any) -> None:
    seq = event.seq if event.seq is not None else -1
    turn = event.turn if event.turn is not None else -1
    conversation.add(Message(seq, turn, role, text, **more))


def _on_invocation(conversation: Conversation, event: Event) -> None:
    if text_field(event, "kind") not in CODE_KINDS:
        _add(conversation, event, "user", text_field(event, "text"))
    elif event.turn is not None:
        conversation.code_turns.add(event.turn)


def _on_turn_stopped(conversation: Conversation, event: Event) -> None:
    if event.turn is not None:
        conversation.code_turns.discard(event.turn)


def _on_auto_invocation(conversation: Conversation, event: Event) -> None:
    _add(conversation, event, "user", text_field(event, "text"))


def _on_queue_taken(conversation: Conversation, event: Event) -> None:
    _add(conversation, event, "user", text_field(event, "text"))


def _on_model_completed(conversation: Conversation, event: Event) -> None:
    answer = decode_event(event.type, event.data)
    if isinstance(answer, ModelCompleted):
        _add(conversation, event, "assistant", answer.text, thinking=answer.thinking, calls=answer.tool_calls)


def _on_tool_completed(conversation: Conversation, event: Event) -> None:
    _add_result(conversation, event, is_error=False)


def _on_tool_failed(conversation: Conversation, event: Event) -> None:
    _add_result(conversation, event, is_error=True)


def _add_result(conversation: Conversation, event: Event, *, is_error: bool) -> None:
    text = text_field(event, "output") or (f"failed: {text_field(event, 'reason')}" if is_error else "(no output)")
    details = {"call_id": text_field(event, "call_id"), "tool": text_field(event, "tool")}
    artifact = text_field(event, "artifact_id")
    _add(conversation, event, "tool", text, is_error=is_error, artifact_id=artifact, **details)


def _on_hook(conversation: Conversation, event: Event) -> None:
    """Add the text of a hook to the result of the call that it heard of. The result has those of earlier hooks."""
    call_id, context = text_field(event, "call_id"), text_field(event, "context")
    if not (call_id and context and text_field(event, "event") in RESULT_HOOKS):
        return
    for place in reversed(range(len(conversation.messages))):
        message = conversation.messages[place]
        if message.role == "tool" and message.call_id == call_id:
            conversation.messages[place] = replace(message, text=f"{message.text}\n{context}")
            return


def _on_task_ended(conversation: Conversation, event: Event) -> None:
    if event.data.get("is_background") is True:
        _add(conversation, event, "notification", describe_task_end(event))


def _on_agent_finished(conversation: Conversation, event: Event) -> None:
    if event.data.get("is_background") is not True:
        # the result of the tool call has the answer
        return
    name = text_field(event, "preset") or "subagent"
    _add(conversation, event, "notification", f"[{name} {text_field(event, 'reason')}] {text_field(event, 'text')}")


def describe_task_end(event: Event) -> str:
    """Return the message that tells the model how a background task ended."""
    status = event.type.removeprefix("task.")
    detail = text_field(event, "summary") or text_field(event, "reason")
    return f"[background task {text_field(event, 'task_id')} {status}]{': ' + detail if detail else ''}"


def _on_tool_promoted(conversation: Conversation, event: Event) -> None:
    conversation.promoted[text_field(event, "call_id")] = text_field(event, "artifact_id")


def _on_summary(conversation: Conversation, event: Event) -> None:
    conversation.summary = text_field(event, "text")
    conversation.cut(_last_number(event))


def _on_compaction_completed(conversation: Conversation, event: Event) -> None:
    match text_field(event, "tier"):
        case "drop_thinking":
            conversation.thinking_until = max(conversation.thinking_until, _last_number(event))
        case "tombstone":
            conversation.tombstoned_until = max(conversation.tombstoned_until, _last_number(event))
        case "cut":
            conversation.cut(_last_number(event))
        case _:
            pass


def _last_number(event: Event) -> int:
    value = event.data.get("until_seq")
    return value if isinstance(value, int) else -1


HANDLERS: dict[str, Handler] = {
    "invocation.received": _on_invocation,
    "invocation.auto": _on_auto_invocation,
    "turn.stopped": _on_turn_stopped,
    "queue.taken": _on_queue_taken,
    "model.completed": _on_model_completed,
    "tool.completed": _on_tool_completed,
    "tool.failed": _on_tool_failed,
    "hook.decision": _on_hook,
    "task.completed": _on_task_ended,
    "task.failed": _on_task_ended,
    "task.cancelled": _on_task_ended,
    "agent.finished": _on_agent_finished,
    "compaction.tool_promoted": _on_tool_promoted,
    "compaction.summary": _on_summary,
    "compaction.completed": _on_compaction_completed,
}
"""Type of an event → the function that adds its message."""
