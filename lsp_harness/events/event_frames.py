"""The frames of events: what the clients of a session receive, one JSON object for each event.

The class of an event says in `event_type` which frame its events have. The SDK reads frames, `lsp-harness session` and
`lsp-harness run --output-format stream-json` write them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.text.diff_reading import read_diff
from lsp_harness.wire.event import Event
from lsp_harness.wire.verdict_words import ReportedResult, describe_standing, explain_check, find_standing

Data = Mapping[str, Any]
Frame = dict[str, Any]
Encoder = Callable[[Data, Event], Frame]
"""A function that makes the frame of an event of its data. It also gets the whole event."""


@dataclass(frozen=True, slots=True)
class FrameForm:
    """A frame with the fields of its event.

    Attributes:
        type: The type of the frame.
        names: The fields. A name `a=b` sends the field `b` as `a`. If there are none, all fields of the event are sent.
        fixed: The fields that are the same in all frames of this event, before the others.
    """

    type: str
    names: tuple[str, ...]
    fixed: Data

    def encoder(self, keys: Iterable[str]) -> Encoder:
        """Return the encoder of an event that has these keys in the log."""
        pairs = [name.split("=", 1) if "=" in name else (name, name) for name in self.names or keys]

        def encode(data: Data, event: Event) -> Frame:
            return {"type": self.type, **self.fixed, **{key: data.get(source) for key, source in pairs}}

        return encode


def make_frame_form(type: str, *names: str, **fixed: Any) -> FrameForm:
    """Return the form of a frame. Without names, it has all fields of its event, in their order."""
    return FrameForm(type, names, fixed)


FRAME_ONLY: dict[str, Encoder] = {
    "text.delta": make_frame_form("text", "content").encoder(()),
    "thinking.delta": make_frame_form("thinking", "content").encoder(()),
    "tool.output.delta": make_frame_form("tool_output", "call_id", "content").encoder(()),
}
"""Type of an event that is sent and never written to a log → its encoder."""


def frame_of_usage(data: Data, event: Event) -> Frame:
    """Return the frame of a model call that is complete: its tokens."""
    return {"type": "cost_update", **_count_tokens(data), "cost": 0.0, "model": data.get("model", "")}


def frame_of_agent(data: Data, event: Event) -> Frame:
    """Return the client frame for the end of a subagent."""
    fields = {"reason": data.get("reason"), "agent": data.get("session_id"), "text": data.get("text")}
    return {"type": "turn_complete", **fields, "preset": data.get("preset"), **_count_tokens(data)}


def frame_of_tool_result(data: Data, event: Event) -> Frame:
    """Return the frame of a tool call that succeeded."""
    fields = {key: data.get(key) for key in ("tool", "call_id", "output", "artifact_id", "findings")}
    return {"type": "tool_end", **fields, "error": False}


def frame_of_tool_failure(data: Data, event: Event) -> Frame:
    """Return the frame of a tool call that failed."""
    fields = {key: data.get(key) for key in ("tool", "call_id", "output", "artifact_id", "reason")}
    return {"type": "tool_end", **fields, "findings": [], "error": True}


def frame_of_check(data: Data, event: Event) -> Frame:
    """Return the frame of one check that has a result."""
    report = _as_mapping(data.get("report"))
    names = {"status": report.get("status"), "check": report.get("check"), "lines": report.get("said", [])}
    # a check that was skipped says nothing
    passed = {"passed": True, "failed": False}.get(str(report.get("status")))
    reason = report.get("reason") or ""
    return {"type": "verify", **names, "passed": passed, "reason": reason, "candidate": data.get("candidate")}


def frame_of_verdict(data: Data, event: Event) -> Frame:
    """Return the frame of a verdict: all checks of a text ran."""
    reports = [_as_mapping(report) for report in _as_sequence(data.get("outcomes"))]
    lines = [line for report in reports for line in _as_sequence(report.get("said"))]
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


def frame_of_proposal(data: Data, event: Event) -> Frame:
    """Return the frame of an offered edit, whose proposal is named by the id of the event."""
    fields = {key: data.get(key) for key in ("diff", "summary", "hash")}
    paths = dict.fromkeys(part.path for part in read_diff(str(data.get("diff") or "")))
    return {"type": "edit", "status": "proposed", "proposal": event.id, **fields, "paths": [*paths]}


def _as_mapping(value: Any) -> Data:
    return cast("Data", value) if isinstance(value, Mapping) else dict[str, Any]()


def _as_sequence(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _count_tokens(data: Data) -> dict[str, Any]:
    usage = _as_mapping(data.get("usage"))
    return {key: usage.get(key, 0) for key in ("input_tokens", "output_tokens", "cached_tokens")}
