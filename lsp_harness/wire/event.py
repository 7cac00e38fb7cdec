"""The envelope every event travels in, and its one-line JSON form.

`seq` counts from 0 within a session without gaps; it is where a reader resumes.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, cast

EVENT_VERSION = 1
REQUIRED_FIELDS: dict[str, type] = {"id": str, "seq": int, "ts": str, "session_id": str, "type": str, "data": dict}
"""What every event has, and of which type it is."""


@dataclass(frozen=True, slots=True)
class Event:
    """`cause` is the id of the event this one answers to; `ts` is UTC, ISO 8601."""

    id: str
    seq: int
    ts: str
    session_id: str
    turn: int | None
    step: str | None
    cause: str | None
    type: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    v: int = EVENT_VERSION


def encode(event: Event) -> str:
    """One line, without its newline."""
    body = asdict(event)
    return json.dumps({"v": body.pop("v"), **body}, ensure_ascii=False, separators=(",", ":"))


def decode(line: str) -> Event:
    """The inverse of `encode`; unknown keys are dropped, so that a newer writer can be read. Raises ValueError."""
    found: Any = json.loads(line)
    body = cast("dict[str, Any]", found) if isinstance(found, dict) else dict[str, Any]()
    if any(not isinstance(body.get(key), kind) for key, kind in REQUIRED_FIELDS.items()):
        raise ValueError("it is no event")
    values: dict[str, Any] = {key: body.get(key) for key in Event.__dataclass_fields__}
    return Event(**values)
