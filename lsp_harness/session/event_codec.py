"""The form of the events in the log: one encoder for all types, and the decoder.

Decoding never fails. A field that is absent or has another type gets an empty value, so that the log of an older or
newer version can be read.
"""

from collections.abc import Mapping
from typing import Any, assert_never, cast

from lsp_harness.session.turn_events import (
    CandidateGenerated,
    CandidateRejected,
    CheckReport,
    ChecksCompleted,
    ChoiceFailed,
    ChoiceMade,
    ContextBuilt,
    EditApplied,
    EditProposed,
    EditStale,
    IndexUpdated,
    InvocationReceived,
    OutputRead,
    StateEntered,
    TurnEvent,
    UnknownEvent,
)

Data = Mapping[str, Any]


def encode_event(event: TurnEvent) -> tuple[str, dict[str, Any]]:
    """Return the type of an event in the log and its data."""
    match event:
        case InvocationReceived(kind, text, path, source):
            return "invocation.received", {"kind": kind, "text": text, **_present(source=source), "path": path}
        case StateEntered(state, round, reason):
            return "state.entered", {"state": state, **_present(round=round, reason=reason)}
        case OutputRead(tool, summary):
            return "output.read", {"tool": tool, "summary": summary}
        case ContextBuilt(sections, prompt, answer, context, candidates):
            data = {"sections": dict(sections), "prompt": prompt, "answer": answer, "context": context}
            return "context.built", data | {"candidates": list(candidates)}
        case CandidateGenerated(candidate, kind, temperature, seed, text, evaluated, reused, generated):
            data = {"candidate": candidate, "kind": kind, "temperature": temperature, "seed": seed, "text": text}
            return "candidate.generated", data | {"evaluated": evaluated, "reused": reused, "generated": generated}
        case CandidateRejected(candidate, reason):
            return "candidate.rejected", {"candidate": candidate, "reason": reason}
        case ChecksCompleted(hash, passed, outcomes, candidate):
            data = {"hash": hash, "passed": passed, "outcomes": [_encode_report(report) for report in outcomes]}
            return "verify.completed", _present(candidate=candidate) | data
        case EditProposed(hash, diff, summary):
            return "edit.proposed", {"hash": hash, "diff": diff, "summary": summary}
        case EditApplied(proposal):
            return "edit.applied", {"proposal": proposal}
        case EditStale(hash):
            return "edit.stale", {"hash": hash}
        case ChoiceMade(candidate, costs, agreed):
            data = {"candidate": candidate, "costs": {str(number): cost for number, cost in costs.items()}}
            return "choice.made", data | {"agreed": agreed}
        case ChoiceFailed(reason):
            return "choice.failed", {"reason": reason}
        case IndexUpdated(folder, paths, files, ms):
            return "index.updated", {"folder": folder, "paths": paths, "files": files, "ms": ms}
        case UnknownEvent(type, data):
            return type, dict(data)
        case _:
            assert_never(event)


def decode_event(type: str, data: Data) -> TurnEvent:
    """Return the event of a type and its data in the log."""
    text, number = _Fields(data).text, _Fields(data).number
    match type:
        case "invocation.received":
            source = text("source") if "source" in data else None
            return InvocationReceived(text("kind"), text("text"), text("path"), source)
        case "state.entered":
            return StateEntered(
                text("state"),
                number("round") if "round" in data else None,
                text("reason") if "reason" in data else None,
            )
        case "output.read":
            return OutputRead(text("tool"), text("summary"))
        case "context.built":
            sections = {name: _integer(tokens) for name, tokens in _mapping(data.get("sections")).items()}
            candidates = tuple(_integer(number) for number in _sequence(data.get("candidates")))
            return ContextBuilt(sections, number("prompt"), number("answer"), number("context"), candidates)
        case "candidate.generated":
            return CandidateGenerated(
                *(number("candidate"), text("kind"), _float(data.get("temperature")), number("seed"), text("text")),
                *(number("evaluated"), number("reused"), number("generated")),
            )
        case "candidate.rejected":
            return CandidateRejected(number("candidate"), text("reason"))
        case "verify.completed":
            reports = tuple(_decode_report(_mapping(report)) for report in _sequence(data.get("outcomes")))
            candidate = number("candidate") if "candidate" in data else None
            return ChecksCompleted(text("hash"), data.get("passed") is True, reports, candidate)
        case "edit.proposed":
            return EditProposed(text("hash"), text("diff"), text("summary"))
        case "edit.applied":
            return EditApplied(text("proposal"))
        case "edit.stale":
            return EditStale(text("hash"))
        case "choice.made":
            costs = {int(key): _float(cost) for key, cost in _mapping(data.get("costs")).items() if key.isdecimal()}
            return ChoiceMade(number("candidate"), costs, data.get("agreed") is True)
        case "choice.failed":
            return ChoiceFailed(text("reason"))
        case "index.updated":
            return IndexUpdated(text("folder"), number("paths"), number("files"), number("ms"))
        case _:
            return UnknownEvent(type, data)


def _encode_report(report: CheckReport) -> dict[str, Any]:
    data = {"check": report.check, "status": report.status, "reason": report.reason, "ms": report.ms}
    return data | {"said": list(report.lines)}


def _decode_report(data: Data) -> CheckReport:
    text = _Fields(data).text
    lines = tuple(str(line) for line in _sequence(data.get("said")))
    return CheckReport(text("check"), text("status"), text("reason"), _float(data.get("ms")), lines)


class _Fields:
    """Reads the fields of an event. A field that is absent or wrong is empty."""

    def __init__(self, data: Data) -> None:
        self._data = data

    def text(self, name: str) -> str:
        value = self._data.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> int:
        return _integer(self._data.get(name))


def _present(**fields: object) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _float(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _sequence(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
