"""The form in which a session sends its events to other programs: one JSON object for each line.

Every type of event either has a frame in `FRAMES` or is named in `IGNORED_TYPES`. A test compares both with the events.
The SDK reads these frames, `lsp-harness session` and `lsp-harness run --output-format stream-json` write them.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from lsp_harness.wire.event import Event
from lsp_harness.wire.verdict_words import ReportedResult, describe_standing, explain_check, find_standing

WIRE_VERSION = 1
"""The major version of this protocol. A client refuses a server with a larger one."""

Data = Mapping[str, Any]
Frame = dict[str, Any]
Encoder = Callable[[Data, Event], Frame]


def encode_frame(event: Event, request_id: str | None = None) -> Frame | None:
    """Return the frame of an event, or None if other programs get none.

    Args:
        event: The event, or a frame that is not in the log (without `seq`).
        request_id: The id that the client gave the request of the turn.
    """
    encoder = FRAMES.get(event.type)
    if encoder is None:
        return None
    frame = encoder(event.data, event)
    frame |= {"session_id": event.session_id, "seq": event.seq, "turn": event.turn}
    return frame | ({"id": request_id} if request_id is not None else {})


def _fields(type: str, *names: str, **fixed: Any) -> Encoder:
    """Return an encoder that copies fields of an event. A name `a=b` copies the field `b` as `a`."""
    pairs = [name.split("=", 1) if "=" in name else (name, name) for name in names]

    def encode(data: Data, event: Event) -> Frame:
        return {"type": type, **fixed, **{key: data.get(source) for key, source in pairs}}

    return encode


def _mapping(value: Any) -> Data:
    return cast("Data", value) if isinstance(value, Mapping) else dict[str, Any]()


def _sequence(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _count_tokens(data: Data) -> dict[str, Any]:
    usage = _mapping(data.get("usage"))
    return {key: usage.get(key, 0) for key in ("input_tokens", "output_tokens", "cached_tokens")}


def _cost_update(data: Data, event: Event) -> Frame:
    return {"type": "cost_update", **_count_tokens(data), "cost": 0.0, "model": data.get("model", "")}


def _agent_finished(data: Data, event: Event) -> Frame:
    fields = {"reason": data.get("reason"), "agent": data.get("session_id"), "text": data.get("text")}
    return {"type": "turn_complete", **fields, "preset": data.get("preset"), **_count_tokens(data)}


def _tool_completed(data: Data, event: Event) -> Frame:
    fields = {key: data.get(key) for key in ("tool", "call_id", "output", "artifact_id", "findings")}
    return {"type": "tool_end", **fields, "error": False}


def _tool_failed(data: Data, event: Event) -> Frame:
    fields = {key: data.get(key) for key in ("tool", "call_id", "output", "artifact_id", "reason")}
    return {"type": "tool_end", **fields, "findings": [], "error": True}


def _check_lines(data: Data, event: Event) -> Frame:
    report = _mapping(data.get("report"))
    names = {"status": report.get("status"), "check": report.get("check"), "lines": report.get("said", [])}
    # a check that was skipped says nothing
    passed = {"passed": True, "failed": False}.get(str(report.get("status")))
    reason = report.get("reason") or ""
    return {"type": "verify", **names, "passed": passed, "reason": reason, "candidate": data.get("candidate")}


def _checks_completed(data: Data, event: Event) -> Frame:
    reports = [_mapping(report) for report in _sequence(data.get("outcomes"))]
    lines = [line for report in reports for line in _sequence(report.get("said"))]
    # the log of an older version has no words
    results = [ReportedResult.from_data(report) for report in reports]
    return {
        "type": "verify",
        "status": "completed",
        "check": "",
        "checks": [explain_check(result, result.check) for result in results],
        "passed": data.get("passed"),
        "standing": data.get("standing") or find_standing(results),
        "words": data.get("words") or describe_standing(results),
        "lines": lines,
        "candidate": data.get("candidate"),
    }


def _permission_decided(data: Data, event: Event) -> Frame:
    fields = {key: data.get(key) for key in ("tool", "decision", "reason", "by", "rule", "call_id")}
    return {"type": "hook_decision", "event": "permission", **fields}


FRAMES: dict[str, Encoder] = {
    "session.started": _fields("session_start", "model", "permission_mode", "driver", "cwd=root"),
    "session.resumed": _fields("session", "events", "model", status="resumed"),
    "session.forked": _fields("session", "parent", "at_seq", status="forked"),
    "model.changed": _fields("session", "model", "previous", status="model_changed"),
    "session.closed": _fields("session", "reason", status="closed"),
    "log.repaired": _fields("session", "torn_bytes", status="repaired"),
    "invocation.received": _fields("user_message", "text", "kind"),
    "invocation.auto": _fields("user_message", "text", "task_id", kind="auto"),
    "turn.started": _fields("turn_start", "turn_number=number"),
    "turn.stopped": _fields("turn_stop", "turn_number=number", "reason", "detail", "text", "structured_output"),
    "step.started": _fields("step", "number"),
    "agent.finished": _agent_finished,
    "text.delta": _fields("text", "content"),
    "thinking.delta": _fields("thinking", "content"),
    "tool.output.delta": _fields("tool_output", "call_id", "content"),
    "model.completed": _cost_update,
    "model.failed": _fields("error", "message", "code", "recoverable=will_retry"),
    "tool.started": _fields("tool_start", "tool", "call_id", "input"),
    "tool.completed": _tool_completed,
    "tool.failed": _tool_failed,
    "permission.requested": _fields(
        *("permission_request", "request_id", "tool", "input", "reason", "call_id", "paths", "suggestions", "risk"),
        *("mode", "text"),
    ),
    "permission.decided": _permission_decided,
    "hook.decision": _fields(
        "hook_decision", "event", "tool", "decision", "reason", "by=hook", "context", "error", "call_id"
    ),
    "task.started": _fields("task", "task_id", "kind", "summary=title", "execution", status="started"),
    "task.completed": _fields("task", "task_id", "summary", "exit_code", "artifact_id", status="completed"),
    "task.failed": _fields("task", "task_id", "summary=reason", status="failed"),
    "task.cancelled": _fields("task", "task_id", "summary=reason", status="cancelled"),
    "artifact.created": _fields("artifact", "artifact_id", "path", "kind", "bytes", "sha256"),
    "checkpoint.created": _fields("checkpoint", "checkpoint_id", "kind", "paths"),
    "compaction.completed": _fields("compaction", "tier", "before", "after"),
    "skill.loaded": _fields("skill", "name", "path"),
    "queue.added": _fields("queue", "item_id", "kind", "text", status="added"),
    "queue.edited": _fields("queue", "item_id", "text", status="edited"),
    "queue.removed": _fields("queue", "item_id", status="removed"),
    "queue.taken": _fields("queue", "item_id", "text", status="taken"),
    "state.entered": _fields("state", "state", "round", "reason", status="entered"),
    "state.exited": _fields("state", "state", "ms", "outcome", status="exited"),
    "candidate.generated": _fields("candidate", "candidate", "kind", "text", status="generated"),
    "candidate.rejected": _fields("candidate", "candidate", "reason", status="rejected"),
    "candidate.selected": _fields("candidate", "candidate", "passed", status="selected"),
    "verify.started": _fields("verify", "checks", "candidate", status="started"),
    "verify.step": _check_lines,
    "verify.completed": _checks_completed,
    "edit.proposed": lambda data, event: {
        "type": "edit",
        "status": "proposed",
        "proposal": event.id,
        **{key: data.get(key) for key in ("diff", "summary", "hash")},
    },
    "edit.applied": _fields("edit", "proposal", status="applied"),
    "edit.rejected": _fields("edit", "proposal", "reason", status="rejected"),
    "edit.reverted": _fields("edit", "checkpoint", "paths", status="reverted"),
    "edit.stale": _fields("edit", "hash", status="stale"),
    "error": _fields("error", "message", "code", "recoverable=is_recoverable"),
}
"""Type of an event, or of a frame that is not in the log → its encoder."""

IGNORED_TYPES = frozenset(
    {
        # the start of a call says nothing that its end does not say
        *("model.started", "model.cancelled"),
        # `compaction.completed` has the result
        *("compaction.started", "compaction.summary", "compaction.summary.failed", "compaction.tool_promoted"),
        # the states say the same in words
        *("intent.chosen", "place.chosen", "plan.proposed", "plan.skipped", "plan.item.decided", "plan.item.completed"),
        # details of edits, which the verdict document shows
        *("output.read", "context.built", "choice.made", "choice.failed"),
        # the index belongs to no turn
        "index.updated",
    }
)
"""Types of events without a frame, with the reason."""
