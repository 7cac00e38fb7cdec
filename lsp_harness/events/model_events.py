"""The events of calls to a model, and of the work that keeps its prompt small."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsp_harness.events.event_frames import frame_of_usage, make_frame_form
from lsp_harness.events.event_type import SessionEvent, event_type


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model requests. `call_id` pairs it with its result."""

    call_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens of one model call.

    Attributes:
        input_tokens: The tokens of the prompt.
        output_tokens: The tokens of the answer.
        cached_tokens: The tokens of the prompt that were not evaluated again.
        is_estimated: Whether the provider reported no counts.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    is_estimated: bool = False


@event_type("model.started", frame=None)  # the start of a call says nothing that its end does not say
@dataclass(frozen=True, slots=True)
class ModelStarted(SessionEvent):
    """The event that a prompt was sent to a model.

    Attributes:
        model: The model.
        prompt_tokens: The tokens of the prompt, counted by the tokenizer of the model.
        sections: The tokens of each section of the prompt, by its name.
        context: The size of the model's context in tokens, or 0 if it is unknown.
        prompt_hash: A hash of the prompt, by which two prompts are compared.
    """

    model: str
    prompt_tokens: int = 0
    sections: Mapping[str, int] = field(default_factory=dict[str, int])
    context: int = 0
    prompt_hash: str = ""


@event_type("model.completed", frame_of_usage)
@dataclass(frozen=True, slots=True)
class ModelCompleted(SessionEvent):
    """The event that a model answered.

    Attributes:
        model: The model.
        text: The text of the answer.
        tool_calls: The tools that the model calls.
        usage: The tokens that the call used.
        stop: Why the answer ended, as the engine reports it.
        ms: How long the call took.
        thinking: The reasoning of the model, if it reports it apart.
    """

    model: str
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    stop: str = ""
    ms: int = 0
    thinking: str = ""


@event_type("model.failed", make_frame_form("error", "message", "code", "recoverable=will_retry"))
@dataclass(frozen=True, slots=True)
class ModelFailed(SessionEvent):
    """The event that a model call failed. If `will_retry`, it is repeated."""

    model: str
    message: str
    code: str = ""
    will_retry: bool = False


@event_type("model.cancelled", frame=None)  # `turn.stopped` says that the turn was stopped
@dataclass(frozen=True, slots=True)
class ModelCancelled(SessionEvent):
    """The event that a model call was stopped. `text` is what the model had written."""

    model: str
    text: str = ""


@event_type("compaction.started", frame=None)  # `compaction.completed` has the result
@dataclass(frozen=True, slots=True)
class CompactionStarted(SessionEvent):
    """The event that the prompt has `tokens` tokens of a `budget`, and is made smaller."""

    tokens: int
    budget: int


@event_type("compaction.tool_promoted", frame=None)  # `compaction.completed` has the result
@dataclass(frozen=True, slots=True)
class ToolOutputPromoted(SessionEvent):
    """The event that the output of a tool call moved from the prompt to an artifact. `artifact_id` may be empty."""

    call_id: str
    artifact_id: str = ""


@event_type("compaction.summary", frame=None)  # `compaction.completed` has the result
@dataclass(frozen=True, slots=True)
class CompactionSummary(SessionEvent):
    """The event that a structured summary replaces the messages up to and including the event `until_seq`."""

    until_seq: int
    text: str


@event_type("compaction.summary.failed", frame=None)  # `compaction.completed` has the result
@dataclass(frozen=True, slots=True)
class CompactionSummaryFailed(SessionEvent):
    """The event that a summary saves no tokens.

    The messages stay. They are cut off only if the prompt does not fit.
    """

    reason: str


@event_type("compaction.completed", make_frame_form("compaction", "tier", "before", "after"))
@dataclass(frozen=True, slots=True)
class CompactionCompleted(SessionEvent):
    """The event that the prompt is smaller now.

    Attributes:
        tier: The name of the tier, such as "promote" or "summarize".
        before: The tokens of the prompt before it.
        after: The tokens after it.
        until_seq: The tier applies to the events up to and including this one.
    """

    tier: str
    before: int
    after: int
    until_seq: int = -1
