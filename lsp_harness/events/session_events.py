"""The events of a session and its turns: how they begin and end, and what the user sends in between."""

from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.events.event_frames import frame_of_agent, make_frame_form
from lsp_harness.events.event_type import SessionEvent, event_type
from lsp_harness.events.model_events import TokenUsage

StopReason = Literal["completed", "max_turns", "error", "interrupted", "budget_exceeded", "cancelled", "denied"]
"""Why a turn ended."""
QueueKind = Literal["steer", "follow_up"]


@event_type("session.started", make_frame_form("session_start", "model", "permission_mode", "driver", "cwd=root"))
@dataclass(frozen=True, slots=True)
class SessionStarted(SessionEvent):
    """The event that a session begins.

    Attributes:
        root: The workspace folder.
        driver: The name of the driver of its turns, such as "chat" or "code".
        model: The model that answers, after the settings were applied.
        permission_mode: The permission mode.
        version: The version of lsp-harness.
        parent: The id of the session that started this one as a subagent.
        source: The surface, such as "lsp", "cli" or "sdk".
    """

    root: str = ""
    driver: str = ""
    model: str = ""
    permission_mode: str = ""
    version: str = ""
    parent: str | None = None
    source: str = ""


@event_type("session.resumed", make_frame_form("session", "events", "model", status="resumed"))
@dataclass(frozen=True, slots=True)
class SessionResumed(SessionEvent):
    """The event that a process continues a session that has `events` events."""

    events: int
    model: str = ""
    source: str = ""


@event_type("session.forked", make_frame_form("session", status="forked"))
@dataclass(frozen=True, slots=True)
class SessionForked(SessionEvent):
    """The first event of a session that continues another one after its event number `at_seq`."""

    parent: str
    at_seq: int


@event_type("session.closed", make_frame_form("session", status="closed"))
@dataclass(frozen=True, slots=True)
class SessionClosed(SessionEvent):
    """The event that a process has ended its work on a session."""

    reason: str = ""


@event_type("log.repaired", make_frame_form("session", status="repaired"))
@dataclass(frozen=True, slots=True)
class LogRepaired(SessionEvent):
    """The event that a last line of `torn_bytes` bytes was incomplete. Readers leave it out."""

    torn_bytes: int


@event_type("invocation.received", make_frame_form("user_message", "text", "kind"))
@dataclass(frozen=True, slots=True)
class InvocationReceived(SessionEvent):
    """The event that a user or a program requested something.

    Attributes:
        kind: The kind of the request: "message", "command", "steer", "follow_up", "auto", or the kind of a turn that
            changes code: "fix", "prepare", "edit", "docstring", "tests", "explain" or "check".
        text: The request in words.
        path: The path of the document in its workspace.
        source: The tool that reported the finding, for a fix; else the surface.
        request_id: The id that the client gave the request.
        item_id: The id of the queued text that the request takes out of the queue.
    """

    kind: str
    text: str
    path: str = ""
    source: str | None = None
    request_id: str | None = None
    item_id: str | None = None


@event_type("invocation.auto", make_frame_form("user_message", "text", "task_id", kind="auto"))
@dataclass(frozen=True, slots=True)
class AutoInvocation(SessionEvent):
    """The event that a turn begins without the user, because the task `task_id` ended while the session was idle."""

    task_id: str
    text: str


@event_type("turn.started", make_frame_form("turn_start", "turn_number=number"))
@dataclass(frozen=True, slots=True)
class TurnStarted(SessionEvent):
    """The event that a turn begins. `number` counts the turns of the session from 0."""

    number: int
    driver: str = ""
    request_id: str | None = None


@event_type(
    "turn.stopped", make_frame_form("turn_stop", "turn_number=number", "reason", "detail", "text", "structured_output")
)
@dataclass(frozen=True, slots=True)
class TurnStopped(SessionEvent):
    """The last event of a turn.

    Attributes:
        number: The number of the turn.
        reason: Why it ended.
        detail: The reason as the driver names it, such as "no_tool_calls", or the message of an error.
        text: The answer of the turn.
        request_id: The id that the client gave the request.
    """

    number: int
    reason: str
    detail: str = ""
    text: str = ""
    request_id: str | None = None


@event_type("step.started", make_frame_form("step", "number"))
@dataclass(frozen=True, slots=True)
class StepStarted(SessionEvent):
    """The event that a step of a turn begins: one call of the model with the tools that it requests."""

    step_id: str
    number: int


@event_type("queue.added", make_frame_form("queue", status="added"))
@dataclass(frozen=True, slots=True)
class QueueAdded(SessionEvent):
    """The event that the user sent a text for later.

    Attributes:
        item_id: The id by which the text is changed and taken.
        kind: "steer" for the next step of the running turn, "follow_up" for the next turn.
        text: The text.
    """

    item_id: str
    kind: str
    text: str


@event_type("queue.edited", make_frame_form("queue", status="edited"))
@dataclass(frozen=True, slots=True)
class QueueEdited(SessionEvent):
    """The event that a queued text was replaced."""

    item_id: str
    text: str


@event_type("queue.removed", make_frame_form("queue", status="removed"))
@dataclass(frozen=True, slots=True)
class QueueRemoved(SessionEvent):
    """The event that a queued text was withdrawn."""

    item_id: str


@event_type("queue.taken", make_frame_form("queue", status="taken"))
@dataclass(frozen=True, slots=True)
class QueueTaken(SessionEvent):
    """The event that a queued text takes effect: it becomes a message of the turn."""

    item_id: str
    text: str


@event_type("agent.finished", frame_of_agent)
@dataclass(frozen=True, slots=True)
class AgentFinished(SessionEvent):
    """The event that a turn of a subagent ended, in the log of its parent.

    Attributes:
        session_id: The session of the subagent, which has its whole log.
        reason: The reason of the last `turn.stopped` there.
        text: The answer, shortened.
        preset: The name of the preset.
        is_background: Whether no tool call waits for the answer, so that the session is told.
        usage: The tokens of all model calls of the subagent. They count for the session.
    """

    session_id: str
    reason: str
    text: str = ""
    preset: str = ""
    is_background: bool = False
    usage: TokenUsage = field(default_factory=TokenUsage)


@event_type("model.changed", make_frame_form("session", status="model_changed"))
@dataclass(frozen=True, slots=True)
class ModelChanged(SessionEvent):
    """The event that another model answers from the next model call on."""

    model: str
    previous: str = ""


@event_type("error", make_frame_form("error", "message", "code", "recoverable=is_recoverable"))
@dataclass(frozen=True, slots=True)
class ErrorOccurred(SessionEvent):
    """The event that something failed. If `is_recoverable`, the turn goes on."""

    message: str
    code: str = ""
    is_recoverable: bool = True


@event_type("index.updated", frame=None)  # the index belongs to no turn
@dataclass(frozen=True, slots=True)
class IndexUpdated(SessionEvent):
    """The event that the index of a folder is up to date again. This event belongs to no turn.

    Attributes:
        folder: The name of the folder.
        paths: The number of paths that were read again or removed.
        files: The number of files in the index.
        ms: How long the update took.
    """

    folder: str
    paths: int
    files: int
    ms: int
