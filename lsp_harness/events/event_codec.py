"""The two forms of an event, which its class says: its data in the log, and the frame that clients receive.

In the log, a field without a value (None) is left out. Decoding never fails: a field that is absent or has another type
gets its default or an empty value, so that the log of an older or newer version can be read.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, cast

from lsp_harness.events import code_events, event_type, model_events, plan_events, session_events, tool_events
from lsp_harness.events.event_frames import Frame
from lsp_harness.events.event_type import UNSAVED, SessionEvent, UnknownEvent, type_of
from lsp_harness.text.json_reader import JsonReader, Read, key_of
from lsp_harness.wire.event import Event

EVENT_MODULES = (code_events, model_events, plan_events, session_events, tool_events)
"""The modules with events. Their import registers the classes."""
EVENT_CLASSES = event_type.EVENT_CLASSES
FRAMES = event_type.FRAMES

Data = Mapping[str, Any]


def encode_event(event: SessionEvent) -> tuple[str, dict[str, Any]]:
    """Return the type of an event in the log and its data."""
    data = _encode_value(event.data) if isinstance(event, UnknownEvent) else _encode_fields(event)
    return type_of(event), data


def decode_event(type: str, data: Data) -> SessionEvent:
    """Return the event of a type and its data in the log."""
    cls = EVENT_CLASSES.get(type)
    return READER.read_fields(cls, data) if cls else UnknownEvent(type, data)


def encode_frame(event: Event, request_id: str | None = None) -> Frame | None:
    """Return the frame of an event, or None if clients get none.

    Args:
        event: The event, or one that is not in the log (without `seq`).
        request_id: The id that the client gave the request of the turn.
    """
    encoder = FRAMES.get(event.type)
    if encoder is None:
        return None
    frame = encoder(event.data, event)
    frame |= {"session_id": event.session_id, "seq": event.seq, "turn": event.turn}
    return frame | ({"id": request_id} if request_id is not None else {})


def _encode_fields(value: Any) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    for key, name in _field_keys(cast("type[Any]", type(value))):
        item = getattr(value, name)
        if item is not None:
            encoded[key] = item if isinstance(item, str | int) else _encode_value(item)
    return encoded


@cache
def _field_keys(cls: type[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key_of(field), field.name) for field in fields(cls))


def _encode_value(value: Any) -> Any:
    if isinstance(value, str | int | float | NoneType):
        return value
    if isinstance(value, Mapping):
        return {str(key): _encode_value(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_encode_value(item) for item in cast("list[Any]", value)]
    return _encode_fields(value)


@cache
def list_unsaved_keys(type: str) -> frozenset[str]:
    """Return the keys of a type of events that only listeners get, and the log does not."""
    cls = EVENT_CLASSES.get(type)
    return frozenset(key_of(field) for field in fields(cls) if UNSAVED in field.metadata) if cls else frozenset()


class EventReader(JsonReader):
    """A reader of events that never fails. A value of another type becomes an empty one."""

    def scalar(self, kind: Any) -> Read:
        """Return the reader of a type without parts. Whatever is to be a text becomes one."""
        if kind is str:
            return lambda value: "" if value is None else str(value)
        if kind is float:
            return lambda value: float(value) if isinstance(value, int | float) else 0.0
        if kind is bool:
            return lambda value: value is True
        if kind is int:
            return lambda value: value if isinstance(value, int) else 0
        return lambda value: value

    def mismatch(self, value: Any, empty: Any) -> Any:
        """Return the empty value."""
        return empty


READER = EventReader()
