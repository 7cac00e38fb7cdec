"""The registry of event classes: the name of a type in the log → its class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

T = TypeVar("T")

_classes: dict[str, type[Any]] = {}
_names: dict[type[Any], str] = {}

UNSAVED = "unsaved"
"""The mark of a field, in its metadata, that only listeners get: the log has no place for secrets."""
EVENT_CLASSES: Mapping[str, type[Any]] = MappingProxyType(_classes)
"""Type in the log → class, in the order of registration."""


def event_type(name: str) -> Callable[[type[T]], type[T]]:
    """Register a frozen dataclass as the event with this type in the log. Each name has exactly one class."""

    def register(cls: type[T]) -> type[T]:
        assert name not in _classes, f"{name} has two classes"
        _classes[name] = cls
        _names[cls] = name
        return cls

    return register


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a type that this version does not know, such as an event of another version."""

    type: str
    data: Mapping[str, Any]


def type_of(event: object) -> str:
    """Return the type of an event in the log."""
    return event.type if isinstance(event, UnknownEvent) else _names[type(event)]
