"""The envelope of all events, and its form as one line of JSON.

`seq` counts the events of a session from 0 without gaps. A reader continues after the last `seq` that it has read. A
frame, such as a piece of text, has no `seq` and is never written.
"""

import json
from dataclasses import dataclass, field
from typing import Any, cast

EVENT_VERSION = 1
REQUIRED_FIELDS: dict[str, type] = {"id": str, "seq": int, "ts": str, "session_id": str, "type": str, "data": dict}
"""Required field of an event → its type."""
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `cause` is the id of the event that it answers; `ts` is the time in UTC, ISO 8601."""

    id: str
    seq: int | None
    ts: str
    session_id: str
    turn: int | None
    step: str | None
    cause: str | None
    type: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    v: int = EVENT_VERSION


def encode(event: Event) -> str:
    """Return an event as one line of JSON without a newline."""
    return ENCODER.encode(
        {
            "v": event.v,
            "id": event.id,
            "seq": event.seq,
            "ts": event.ts,
            "session_id": event.session_id,
            "turn": event.turn,
            "step": event.step,
            "cause": event.cause,
            "type": event.type,
            "data": event.data,
        }
    )


def decode(line: str) -> Event:
    """Return the event of a line.

    Unknown keys are ignored, so that events of a newer version can be read. Raise ValueError.
    """
    value: Any = json.loads(line)
    body = cast("dict[str, Any]", value) if isinstance(value, dict) else dict[str, Any]()
    get = body.get
    if not _has_required_fields(body) or not isinstance(get("turn"), int | None):
        raise ValueError("this line is not an event")
    return Event(
        body["id"],
        body["seq"],
        body["ts"],
        body["session_id"],
        get("turn"),
        get("step"),
        get("cause"),
        body["type"],
        body["data"],
        cast("int", get("v")),
    )


def _has_required_fields(body: dict[str, Any]) -> bool:
    # a loop is twice as fast as `all`, and a log may have a million lines
    for key, kind in REQUIRED_FIELDS.items():  # noqa: SIM110
        if not isinstance(body.get(key), kind):
            return False
    return True
