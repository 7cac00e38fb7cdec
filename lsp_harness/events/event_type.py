"""The base of all events, and the registry of their classes.

A time, a turn and a number are not part of an event: the log adds these in the envelope (`wire.event`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, TypeVar

from lsp_harness.events.event_frames import FRAME_ONLY, Encoder, FrameForm
from lsp_harness.text.json_reader import key_of

UNSAVED = "unsaved"
"""The mark of a field, in its metadata, that only listeners get: the log has no place for secrets."""


class SessionEvent:
    """An event of a session: a frozen dataclass, whose fields are the data of the event in the log."""

    __slots__ = ()


T = TypeVar("T", bound=SessionEvent)

_classes: dict[str, type[Any]] = {}
_names: dict[type[Any], str] = {}
_frames: dict[str, Encoder] = dict(FRAME_ONLY)

EVENT_CLASSES: Mapping[str, type[Any]] = MappingProxyType(_classes)
"""Type in the log → class. `event_codec` gives it complete: its import registers all classes."""
FRAMES: Mapping[str, Encoder] = MappingProxyType(_frames)
"""Type of an event → the encoder of its frame. A type without one is not sent to clients."""


def event_type(name: str, frame: FrameForm | Encoder | None) -> Callable[[type[T]], type[T]]:
    """Register a frozen dataclass as the event with this type in the log. Each name has exactly one class.

    Args:
        name: The name of the type in the log.
        frame: What clients receive of such an event, or None if they need not hear of it.
    """

    def register(cls: type[T]) -> type[T]:
        assert name not in _classes, f"{name} has two classes"
        _classes[name] = cls
        _names[cls] = name
        if frame is not None:
            own = [key_of(field) for field in fields(_classes[name])]
            _frames[name] = frame.encoder(own) if isinstance(frame, FrameForm) else frame
        return cls

    return register


@dataclass(frozen=True, slots=True)
class UnknownEvent(SessionEvent):
    """An event of a type that this version does not know, such as an event of another version."""

    type: str
    data: Mapping[str, Any]


def type_of(event: SessionEvent) -> str:
    """Return the type of an event in the log."""
    return event.type if isinstance(event, UnknownEvent) else _names[type(event)]
