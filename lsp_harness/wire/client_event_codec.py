"""The frames of client events: `parse_event` and `to_wire`.

A frame has the fields of its class, the type, and the fields that all events have. Keys are in snake_case. Frames of
older programs with keys in camelCase are read, too. Reading never fails: a frame that is not understood becomes an
`UnknownEvent`.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, cast, get_type_hints

from lsp_harness.text.json_reader import JsonReader, Read
from lsp_harness.wire import client_events as events

PUBLIC_CLASSES: list[type[events.ClientEvent]] = [getattr(events, name) for name in events.__all__]
EVENT_CLASSES: dict[str, type[events.ClientEvent]] = {cls.frame: cls for cls in PUBLIC_CLASSES if cls.frame}
"""Type of a frame → its class."""
TYPE_ALIASES = {"ready": "session_start"}
KEY_ALIASES = {"tool_name": "tool", "tool_input": "input", "is_error": "error"}
"""Key of an older program → the key of the field."""
ENVELOPE = {"session_id": "session_id", "seq": "seq", "turn": "turn", "prompt_id": "id"}
"""Field that all events have → its key on the wire."""
READER = JsonReader()
CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


def parse_event(frame: Any) -> events.ClientEvent:
    """Return the event of a frame. This function never raises an exception."""
    if not isinstance(frame, Mapping):
        return events.UnknownEvent(raw={"value": frame})
    raw = dict(cast("Mapping[str, Any]", frame))
    envelope = _read_envelope(raw)
    name = raw.get("type")
    name = _snake_case(name) if isinstance(name, str) else ""
    cls = EVENT_CLASSES.get(TYPE_ALIASES.get(name, name))
    try:
        values = _read_fields(cls, raw) if cls else None
    except (ValueError, OverflowError):
        values = None
    if cls is None or values is None:
        return events.UnknownEvent(raw=raw, **envelope)
    return cls(**values, **envelope)


def to_wire(event: events.ClientEvent) -> dict[str, Any]:
    """Return the frame of an event. A field without a value is left out."""
    if isinstance(event, events.UnknownEvent):
        return dict(event.raw)
    own = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in ENVELOPE}
    frame = {"type": event.frame, "session_id": event.session_id, "seq": event.seq, "turn": event.turn}
    if event.prompt_id is not None:
        frame["id"] = event.prompt_id
    details = own.pop("details", {})
    return {**details, **frame, **{key: _make_plain(value) for key, value in own.items() if value is not None}}


def _make_plain(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _read_envelope(raw: Mapping[str, Any]) -> dict[str, Any]:
    keys = {_snake_case(str(key)): value for key, value in raw.items()}
    values = {name: keys.get(key) for name, key in ENVELOPE.items()}
    kinds = {"session_id": str, "seq": int, "turn": int, "prompt_id": str}
    return {name: value for name, value in values.items() if type(value) is kinds[name]}


def _read_fields(cls: type[events.ClientEvent], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a class from a frame. Raise ValueError."""
    known = _field_readers(cls)
    values: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for key, value in raw.items():
        name = key if key in known else _snake_case(str(key))
        name = name if name in known else KEY_ALIASES.get(name, name)
        if name in known and name != "details":
            # null is a field without a value
            if value is not None and (name == key or name not in raw):
                values[name] = known[name](value)
        elif name not in ENVELOPE.values() and name != "type":
            details[key] = value
    if "details" in known:
        values["details"] = details
    if missing := _required_fields(cls) - values.keys():
        raise ValueError(f"the frame has no {', '.join(missing)}")
    return values


@cache
def _required_fields(cls: type[events.ClientEvent]) -> frozenset[str]:
    own = (field for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING)
    return frozenset(field.name for field in own)


@cache
def _field_readers(cls: type[events.ClientEvent]) -> dict[str, Read]:
    hints = get_type_hints(cls)
    return {field.name: READER.reader(hints[field.name]) for field in fields(cls) if field.name not in ENVELOPE}


def _snake_case(name: str) -> str:
    return CAMEL_HUMP.sub(lambda hump: f"_{hump[0].lower()}", name)
