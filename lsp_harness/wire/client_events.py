"""The events of a session as its clients see them: one frozen class for each type of frame.

A client distinguishes them by `isinstance`. `client_event_codec` converts frames.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

__all__ = [
    "ArtifactEvent",
    "CandidateEvent",
    "CheckpointEvent",
    "ClientEvent",
    "CompactionEvent",
    "CostUpdate",
    "EditEvent",
    "ErrorEvent",
    "HookDecision",
    "PermissionRequest",
    "QueueEvent",
    "SessionChange",
    "SessionStart",
    "StateChange",
    "StepStart",
    "TaskEvent",
    "TextDelta",
    "ThinkingDelta",
    "ToolEnd",
    "ToolOutputDelta",
    "ToolStart",
    "TurnComplete",
    "TurnStart",
    "TurnStop",
    "UnknownEvent",
    "UserMessage",
    "VerifyEvent",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEvent:
    """The fields that all events have.

    Attributes:
        session_id: The id of the session.
        seq: The number of the event in the log of the session. It is None for an event that is not in the log, such
            as a piece of text.
        turn: The number of the turn, or None if the event belongs to no turn.
        prompt_id: The id of the prompt that the event answers, or None. Its key on the wire is `id`.
        frame: The type of the frames of a class.
    """

    frame: ClassVar[str] = ""
    session_id: str = ""
    seq: int | None = None
    turn: int | None = None
    prompt_id: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta(ClientEvent):
    """A piece of the answer, as the model writes it."""

    frame: ClassVar[str] = "text"
    content: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(ClientEvent):
    """A piece of the reasoning of the model, if the model reports its reasoning apart."""

    frame: ClassVar[str] = "thinking"
    content: str


@dataclass(frozen=True, slots=True)
class ToolOutputDelta(ClientEvent):
    """A piece of the output of a running tool."""

    frame: ClassVar[str] = "tool_output"
    call_id: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolStart(ClientEvent):
    """The beginning of a tool call. `call_id` pairs it with its end."""

    frame: ClassVar[str] = "tool_start"
    tool: str
    call_id: str = ""
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ToolEnd(ClientEvent):
    """The end of a tool call.

    Attributes:
        tool: The name of the tool.
        call_id: The id of the call.
        output: The output, or the reason of a failure.
        error: Whether the call failed or was denied.
        artifact_id: The artifact with the whole output, if it is large.
        findings: What the checks report about files that the tool changed.
        reason: Why it failed: "error", "denied", "not_allowed", "invalid_input", "cancelled" or another word.
    """

    frame: ClassVar[str] = "tool_end"
    tool: str
    call_id: str = ""
    output: str = ""
    error: bool = False
    artifact_id: str = ""
    findings: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ErrorEvent(ClientEvent):
    """An error. If it is `recoverable`, the turn goes on."""

    frame: ClassVar[str] = "error"
    message: str
    code: str = ""
    recoverable: bool = True


@dataclass(frozen=True, slots=True)
class CostUpdate(ClientEvent):
    """The tokens of one model call. `cached_tokens` of the `input_tokens` were not evaluated again."""

    frame: ClassVar[str] = "cost_update"
    input_tokens: int
    output_tokens: int
    cost: float = 0.0
    model: str = ""
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TurnStart(ClientEvent):
    """The beginning of a turn. `turn_number` counts the turns of the session from 0."""

    frame: ClassVar[str] = "turn_start"
    turn_number: int


@dataclass(frozen=True, slots=True)
class TurnStop(ClientEvent):
    """The last event of a turn.

    Attributes:
        turn_number: The number of the turn.
        reason: "completed", "max_turns", "error", "interrupted", "budget_exceeded", "cancelled" or "denied".
        detail: The reason in more detail, such as the message of an error.
        text: The whole answer.
        structured_output: The value of the answer, if the prompt had a JSON schema.
    """

    frame: ClassVar[str] = "turn_stop"
    turn_number: int
    reason: str
    detail: str = ""
    text: str = ""
    structured_output: Any = None


@dataclass(frozen=True, slots=True)
class TurnComplete(ClientEvent):
    """The end of a turn of a subagent. `agent` is the id of its session, and `preset` its kind.

    No `CostUpdate` has its tokens.
    """

    frame: ClassVar[str] = "turn_complete"
    reason: str
    agent: str = ""
    text: str = ""
    preset: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class HookDecision(ClientEvent):
    """A decision about an action.

    Attributes:
        event: "permission" for a decision of the permission gate, else the event of a hook, such as "preToolUse".
        tool: The tool.
        decision: "allow", "deny" or "ask", or empty if a hook has no opinion.
        reason: Why, in one sentence.
        by: Who decided: "rule", "hook", "callback", "mode", "person" or "nobody"; for a hook, its name.
        rule: The rule that decided.
        call_id: The id of the tool call.
        context: The text that a hook adds for the model.
        error: Why a hook failed.
    """

    frame: ClassVar[str] = "hook_decision"
    event: str
    tool: str = ""
    decision: str = ""
    reason: str = ""
    by: str = ""
    rule: str = ""
    call_id: str = ""
    context: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class SessionStart(ClientEvent):
    """The beginning of a session, or of the work of a process on it.

    Attributes:
        model: The model that answers, after the settings were applied.
        permission_mode: The permission mode.
        driver: The name of the driver of its turns, "chat" or "code".
        cwd: The working folder.
        resumed_events: The number of events that were read from the log of a resumed session.
        version: The version of lsp-harness.
    """

    frame: ClassVar[str] = "session_start"
    model: str = ""
    permission_mode: str = ""
    driver: str = ""
    cwd: str = ""
    resumed_events: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage(ClientEvent):
    """A text that begins a turn or steers it.

    Attributes:
        text: The text.
        kind: "message", "command", "steer", "follow_up", "auto" or another word.
        task_id: The task whose end is the reason, if the kind is "auto".
    """

    frame: ClassVar[str] = "user_message"
    text: str
    kind: str = "message"
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class PermissionRequest(ClientEvent):
    """A question whether an action is allowed.

    Attributes:
        request_id: The id by which the question is answered.
        tool: The tool.
        input: Its input.
        reason: Why it is asked.
        call_id: The id of the tool call.
        paths: The files that the action touches.
        suggestions: Rules that would answer the question from now on.
        mode: The permission mode.
        risk: How dangerous the action is.
        text: The whole question for a person, which is the same in every surface.
    """

    frame: ClassVar[str] = "permission_request"
    request_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""
    call_id: str = ""
    paths: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    mode: str = ""
    risk: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class StateChange(ClientEvent):
    """The event that a turn of the driver "code" enters or leaves a state.

    Attributes:
        state: The name of the state.
        round: The number of the round of candidates, from 0.
        reason: Why the turn failed, or what it does in the state.
        status: "entered" or "exited".
        ms: The time that the turn spent in the state, when it leaves it.
        outcome: What was found or decided in the state, when the turn leaves it.
    """

    frame: ClassVar[str] = "state"
    state: str
    round: int | None = None
    reason: str | None = None
    status: str = "entered"
    ms: int = 0
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class StepStart(ClientEvent):
    """The beginning of a step of a turn: one model call with the tools that it requests."""

    frame: ClassVar[str] = "step"
    number: int


@dataclass(frozen=True, slots=True)
class CandidateEvent(ClientEvent):
    """The event that a candidate was generated, rejected or selected, as `status` says.

    Attributes:
        status: What happened to it, in one word.
        candidate: The number of the candidate in its turn, from 1.
        reason: Why it was rejected.
        text: The new text of its edits.
        kind: How it was made.
        passed: The number of candidates that passed, if one of them was selected.
        evaluated: The prompt tokens that were evaluated for it.
        reused: The prompt tokens that had been evaluated before.
        generated: The tokens of the answer.
    """

    frame: ClassVar[str] = "candidate"
    status: str
    candidate: int = 0
    reason: str = ""
    text: str = ""
    kind: str = ""
    passed: int = 0
    evaluated: int = 0
    reused: int = 0
    generated: int = 0


@dataclass(frozen=True, slots=True)
class VerifyEvent(ClientEvent):
    """The progress of the checks.

    Attributes:
        status: "started", "passed", "failed", "skipped" or "completed".
        check: The name of the check, if it is about one.
        passed: Whether nothing failed, or None if that is not known. It does not say that the text is verified.
        lines: The findings of a failed check.
        candidate: The number of the candidate, or None if the text is already in the editor.
        checks: The names of the checks that begin. If they are completed, each check with a mark for its outcome, and
            why it was skipped or which tests ran.
        standing: If the checks are completed, "verified", "form" (no test decided the behaviour), "incomplete" (only
            the syntax was looked at), "unresolved" (what was to be repaired is still wrong), "failed" or "unchecked".
        words: The verdict as people read it.
        reason: Why the check was skipped, or another remark.
    """

    frame: ClassVar[str] = "verify"
    status: str
    check: str = ""
    passed: bool | None = None
    lines: tuple[str, ...] = ()
    candidate: int | None = None
    checks: tuple[str, ...] = ()
    standing: str = ""
    words: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EditEvent(ClientEvent):
    """The event that an edit was proposed, applied, rejected, reverted or became stale, as `status` says.

    Attributes:
        status: What happened to it, in one word.
        proposal: The id of the proposal.
        diff: The proposed edit as a diff.
        summary: The edit in one line.
        hash: The hash of the text with the edit.
        reason: Why it was rejected.
        checkpoint: The checkpoint that was restored.
        paths: The files of a proposed edit, or those that have their earlier text again.
    """

    frame: ClassVar[str] = "edit"
    status: str
    proposal: str = ""
    diff: str = ""
    summary: str = ""
    hash: str = ""
    reason: str = ""
    checkpoint: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskEvent(ClientEvent):
    """The event that a task started, completed, failed or was cancelled, as `status` says.

    Attributes:
        status: What happened to it, in one word.
        task_id: The id of the task.
        kind: "shell", "tests", "subagent" or another word, when it starts.
        summary: One line about the task or its result.
        execution: "inline", "background" or "auto", when it starts.
        exit_code: The exit status of a command.
        artifact_id: The artifact with the whole output, if it is large.
    """

    frame: ClassVar[str] = "task"
    status: str
    task_id: str
    kind: str = ""
    summary: str = ""
    execution: str = ""
    exit_code: int | None = None
    artifact_id: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactEvent(ClientEvent):
    """The event that a large output is in a file. `path` is relative to the folder of the session."""

    frame: ClassVar[str] = "artifact"
    artifact_id: str
    path: str
    kind: str = ""
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointEvent(ClientEvent):
    """The event that the texts of files can be restored by the id of the checkpoint.

    `paths` are the files whose texts are known, or empty if it is the whole folder.
    """

    frame: ClassVar[str] = "checkpoint"
    checkpoint_id: str
    kind: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompactionEvent(ClientEvent):
    """The event that a tier made the prompt smaller, from `before` to `after` tokens."""

    frame: ClassVar[str] = "compaction"
    tier: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class QueueEvent(ClientEvent):
    """The event that a queued text was added, edited, removed or taken, as `status` says."""

    frame: ClassVar[str] = "queue"
    status: str
    item_id: str
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class SessionChange(ClientEvent):
    """The event that a session was resumed, forked, closed or repaired, or that its model was changed.

    Attributes:
        status: "resumed", "forked", "closed", "repaired" or "model_changed".
        details: The other fields of the frame, such as the parent of a fork.
    """

    frame: ClassVar[str] = "session"
    status: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class UnknownEvent(ClientEvent):
    """A frame of a type that this version does not know, or one that is not complete. `raw` is the whole frame."""

    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
