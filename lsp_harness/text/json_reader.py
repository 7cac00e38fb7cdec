"""The reader of JSON by annotated types: the way from its values to texts, numbers, tuples and frozen dataclasses."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType
from typing import Any, cast, get_args, get_origin, get_type_hints

Read = Callable[[Any], Any]
"""A function that makes a value of one type out of any JSON value."""


class JsonReader:
    """A strict reader: a value of another type raises ValueError.

    A subclass decides otherwise by `scalar` and `mismatch`.
    """

    def __init__(self) -> None:
        self._readers: dict[Any, Read] = {}
        self._field_readers: dict[type[Any], tuple[Read, ...]] = {}

    def reader(self, kind: Any) -> Read:
        """Return the function that reads values of a type."""
        read = self._readers.get(kind)
        if read is None:
            read = self._readers[kind] = self._make(kind)
        return read

    def read_fields(self, cls: type[Any], value: Any) -> Any:
        """Return an object of a dataclass. A key that is absent gets the default of its field."""
        source = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else self.mismatch(value, {}))
        readers = self._field_readers.get(cls)
        if readers is None:
            hints = get_type_hints(cls)
            made = (self._field_reader(item, self.reader(hints[item.name])) for item in fields(cls))
            readers = self._field_readers[cls] = tuple(made)
        return cls(*(read(source) for read in readers))

    def scalar(self, kind: Any) -> Read:
        """Return the reader of a type without parts. The type Any has all values."""
        if kind is Any:
            return lambda value: value
        if kind is float:
            return lambda value: float(value) if type(value) in (int, float) else self.mismatch(value, 0.0)
        return lambda value: value if type(value) is kind else self.mismatch(value, None)

    def mismatch(self, value: Any, empty: Any) -> Any:
        """Return the value that stands for one of another type. `empty` is the empty value of the wanted type."""
        raise ValueError(f"{value!r} has the wrong type")

    def _make(self, kind: Any) -> Read:
        origin, arguments = get_origin(kind), get_args(kind)
        if NoneType in arguments:
            read = self.reader(next(argument for argument in arguments if argument is not NoneType))
            return lambda value: None if value is None else read(value)
        if origin is tuple:
            item = self.reader(arguments[0])
            return lambda value: tuple(map(item, self._list(value)))
        if origin in (dict, Mapping):
            return self._mapping_reader(*arguments)
        if is_dataclass(kind):
            return lambda value: self.read_fields(cast("type[Any]", kind), value)
        return self.scalar(kind)

    def _list(self, value: Any) -> "list[Any]":
        return cast("list[Any]", value) if isinstance(value, list | tuple) else self.mismatch(value, [])

    def _mapping_reader(self, key_type: Any, value_type: Any) -> Read:
        read = self.reader(value_type)

        def read_mapping(value: Any) -> dict[Any, Any]:
            items = cast("dict[str, Any]", value if isinstance(value, dict) else self.mismatch(value, {})).items()
            if key_type is int:
                # the keys of an object are texts, also those that are numbers in the program
                return {int(key): read(item) for key, item in items if is_integer(key)}
            return {key: read(item) for key, item in items}

        return read_mapping

    @staticmethod
    def _field_reader(item: "Field[Any]", read: Read) -> Read:
        key = key_of(item)
        if item.default is not MISSING:
            default = item.default
            return lambda data: read(data[key]) if key in data else default
        if item.default_factory is not MISSING:
            make = item.default_factory
            return lambda data: read(data[key]) if key in data else make()
        return lambda data: read(data.get(key))


def key_of(item: "Field[Any]") -> str:
    """Return the key of a field of a dataclass in JSON: its name, if its metadata has no `key`."""
    return item.metadata.get("key", item.name)


def is_integer(key: str) -> bool:
    """Return whether a key is a whole number in ASCII digits."""
    digits = key.removeprefix("-")
    return digits.isascii() and digits.isdigit()
