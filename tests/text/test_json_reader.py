"""The reader of JSON by annotated types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from lsp_harness.text.json_reader import JsonReader


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    places: tuple[Place, ...] = field(default=(), metadata={"key": "at"})
    costs: Mapping[int, float] = field(default_factory=dict[int, float])
    reason: str | None = None
    value: Any = None


class LenientReader(JsonReader):
    def mismatch(self, value: Any, empty: Any) -> Any:
        return empty


def test_values_become_objects_of_their_types():
    data = {"at": [{"line": 3, "names": ["a"]}, {"line": 4}], "costs": {"1": 2, "x": 3}, "value": [1]}
    expected = Report((Place(3, ("a",)), Place(4)), {1: 2.0}, None, [1])
    assert JsonReader().read_fields(Report, data) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [(int, True), (int, 1.5), (str, 1), (bool, 1), (float, "1"), (float, False), (tuple[str, ...], ["a", 1])],
)
def test_a_strict_reader_refuses_values_of_another_type(kind: Any, value: Any):
    with pytest.raises(ValueError, match="has the wrong type"):
        JsonReader().reader(kind)(value)


def test_a_lenient_reader_takes_the_empty_value_instead():
    reader = LenientReader()
    assert reader.read_fields(Report, {"at": 3, "costs": [], "reason": None}) == Report()
    assert reader.reader(float)("1") == 0.0
    assert reader.read_fields(Report, "no object") == Report()
