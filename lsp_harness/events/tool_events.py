"""The events of side effects: tool calls, permissions, hooks, tasks, artifacts and checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsp_harness.events.event_frames import frame_of_tool_failure, frame_of_tool_result, make_frame_form
from lsp_harness.events.event_type import UNSAVED, SessionEvent, event_type


@event_type("tool.started", make_frame_form("tool_start", "tool", "call_id", "input"))
@dataclass(frozen=True, slots=True)
class ToolStarted(SessionEvent):
    """The event that a tool begins to run."""

    call_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@event_type("tool.completed", frame_of_tool_result)
@dataclass(frozen=True, slots=True)
class ToolCompleted(SessionEvent):
    """The event that a tool call succeeded.

    Attributes:
        call_id: The id of the call.
        tool: The name of the tool.
        output: The output, or the stub of an artifact.
        artifact_id: The artifact with the whole output, if it is large.
        findings: What the checks report about the files that the tool changed.
        ms: How long the tool ran.
    """

    call_id: str
    tool: str
    output: str = ""
    artifact_id: str = ""
    findings: tuple[str, ...] = ()
    ms: int = 0


@event_type("tool.failed", frame_of_tool_failure)
@dataclass(frozen=True, slots=True)
class ToolFailed(SessionEvent):
    """The event that a tool call failed.

    Attributes:
        call_id: The id of the call.
        tool: The name of the tool.
        reason: "error", "denied", "not_allowed", "invalid_input", "unknown_tool", "repeated", "cancelled" or
            "process_exited".
        output: The message for the model and the user.
        artifact_id: The file with the whole message, if it is large.
    """

    call_id: str
    tool: str
    reason: str
    output: str = ""
    artifact_id: str = ""


@event_type(
    "permission.requested",
    make_frame_form(
        "permission_request",
        "request_id",
        "tool",
        "input",
        "reason",
        "call_id",
        "paths",
        "suggestions",
        "risk",
        "mode",
        "text",
    ),
)
@dataclass(frozen=True, slots=True)
class PermissionRequested(SessionEvent):
    """The event that a person or a program is asked whether an action is allowed.

    Attributes:
        request_id: The id of the question, by which it is answered.
        tool: The tool.
        input: The input of the tool.
        reason: Why it is asked.
        call_id: The id of the tool call.
        paths: The files that the action touches.
        suggestions: Rules that would answer this question from now on.
        risk: "low", "medium" or "high".
        mode: The permission mode.
        agent_id: The id of the foreign agent that asks. Empty if it is a tool of our own.
        text: The whole question for a person. The log never has it, because secrets stay in it: who decides must see
            what would run.
    """

    request_id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""
    call_id: str = ""
    paths: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    risk: str = ""
    mode: str = ""
    agent_id: str = ""
    text: str = field(default="", metadata={UNSAVED: True})


@event_type(
    "permission.decided",
    make_frame_form("hook_decision", "tool", "decision", "reason", "by", "rule", "call_id", event="permission"),
)
@dataclass(frozen=True, slots=True)
class PermissionDecided(SessionEvent):
    """The event that an action is allowed or denied.

    Attributes:
        tool: The tool.
        action: One line about the action.
        decision: "allow" or "deny".
        by: Who decided, such as "rule", "hook", "callback", "mode", "person" or "nobody".
        reason: Why, in one sentence.
        rule: The rule that decided.
        call_id: The id of the tool call.
        request_id: The id of the question, if somebody was asked.
        updated_input: The input that replaces that of the action.
        agent_id: The id of the foreign agent that asks. Empty if it is a tool of our own.
    """

    tool: str
    action: str
    decision: str
    by: str
    reason: str = ""
    rule: str = ""
    call_id: str = ""
    request_id: str = ""
    updated_input: Mapping[str, Any] | None = None
    agent_id: str = ""


@event_type(
    "hook.decision",
    make_frame_form("hook_decision", "event", "tool", "decision", "reason", "by=hook", "context", "error", "call_id"),
)
@dataclass(frozen=True, slots=True)
class HookDecision(SessionEvent):
    """The event that a hook ran.

    Attributes:
        event: The event that it is for, such as "preToolUse".
        hook: The command, the address or the name of the function.
        decision: "allow", "deny", "ask" or empty if it has no opinion.
        reason: The reason of the hook.
        tool: The tool, if the event is about one.
        context: The text that the hook adds for the model.
        error: Why the hook failed, or empty.
        call_id: The call of a tool that it is about, or empty.
    """

    event: str
    hook: str
    decision: str = ""
    reason: str = ""
    tool: str = ""
    context: str = ""
    error: str = ""
    call_id: str = ""


@event_type("task.started", make_frame_form("task", "task_id", "kind", "summary=title", "execution", status="started"))
@dataclass(frozen=True, slots=True)
class TaskStarted(SessionEvent):
    """The event that a long piece of work begins.

    Attributes:
        task_id: The id of the task.
        kind: "shell", "tests", "subagent", "index", "download" or another word.
        title: One line for a person.
        execution: "inline", "background" or "auto".
        call_id: The tool call that started it.
        session_id: The session of a subagent.
    """

    task_id: str
    kind: str
    title: str = ""
    execution: str = "inline"
    call_id: str = ""
    session_id: str = ""


@event_type(
    "task.completed", make_frame_form("task", "task_id", "summary", "exit_code", "artifact_id", status="completed")
)
@dataclass(frozen=True, slots=True)
class TaskCompleted(SessionEvent):
    """The event that a task ended by itself.

    Attributes:
        task_id: The id of the task.
        summary: One line about the result.
        exit_code: The exit status of a command.
        artifact_id: The artifact with the whole output, if it is large.
        is_background: Whether nobody waited for it any more, so that the session is told.
    """

    task_id: str
    summary: str = ""
    exit_code: int | None = None
    artifact_id: str = ""
    is_background: bool = False


@event_type("task.failed", make_frame_form("task", "task_id", "summary=reason", status="failed"))
@dataclass(frozen=True, slots=True)
class TaskFailed(SessionEvent):
    """The event that a task could not do its work."""

    task_id: str
    reason: str = ""
    is_background: bool = False


@event_type("task.cancelled", make_frame_form("task", "task_id", "summary=reason", status="cancelled"))
@dataclass(frozen=True, slots=True)
class TaskCancelled(SessionEvent):
    """The event that a task was ended early. `reason` is "cancelled", "timeout" or "process_exited"."""

    task_id: str
    reason: str = "cancelled"
    is_background: bool = False


@event_type("artifact.created", make_frame_form("artifact", "artifact_id", "path", "kind", "bytes", "sha256"))
@dataclass(frozen=True, slots=True)
class ArtifactCreated(SessionEvent):
    """The event that a large output is in a file.

    Attributes:
        artifact_id: The id, a ULID, which is also the name of the file.
        path: The path of the file in the folder of the session.
        kind: What it contains, such as "tool_output".
        bytes: The size of the file.
        sha256: The hash of its content, in hexadecimal.
        call_id: The tool call that produced it.
    """

    artifact_id: str
    path: str
    kind: str = ""
    bytes: int = 0
    sha256: str = ""
    call_id: str = ""


@event_type("checkpoint.created", make_frame_form("checkpoint"))
@dataclass(frozen=True, slots=True)
class CheckpointCreated(SessionEvent):
    """The event that the texts of files can be restored.

    Attributes:
        checkpoint_id: The id of the checkpoint.
        kind: "git" or "copies": how the texts are stored.
        paths: The files whose texts are known, or empty if it is the whole folder.
    """

    checkpoint_id: str
    kind: str
    paths: tuple[str, ...] = ()


@event_type("skill.loaded", make_frame_form("skill", "name", "path"))
@dataclass(frozen=True, slots=True)
class SkillLoaded(SessionEvent):
    """The event that the instructions of a skill were given to the model. `path` is its file."""

    name: str
    path: str
    chars: int = 0
