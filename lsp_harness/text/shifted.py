"""Ascending numbers of which all from a place on are moved by as much, without touching them: what an edit does to line starts."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import overload


class ShiftedOffsets(Sequence[int]):
    """An immutable list; only `find` asks for an order. To move its end again from the same place on costs nothing, from another what is between them."""

    __slots__ = ("_by", "_from", "_values")

    def __init__(self, values: list[int], start: int | None = None, by: int = 0) -> None:
        """Those of `values` from the place `start` on are larger by `by` than they are kept. The list is not changed."""
        self._values, self._from, self._by = values, len(values) if start is None else start, by

    def moved(self, start: int, by: int) -> "ShiftedOffsets":
        """All from the place `start` on larger by `by`."""
        if start == self._from:
            return ShiftedOffsets(self._values, start, self._by + by)
        values = self._values.copy()
        if start > self._from:
            values[self._from : start] = [value + self._by for value in values[self._from : start]]
        else:
            values[start : self._from] = [value - self._by for value in values[start : self._from]]
        return ShiftedOffsets(values, start, self._by + by)

    def replaced(self, start: int, end: int, new: Sequence[int], by: int) -> "ShiftedOffsets":
        """With `new` for what is at the places from `start` up to `end`, and all behind that larger by `by`."""
        moved = self.moved(end, by)
        values = moved._values.copy()
        values[start:end] = new
        return ShiftedOffsets(values, start + len(new), moved._by)

    def find(self, value: int) -> int:
        """How many are not larger than `value`."""
        at, values = self._from, self._values
        if at < len(values) and values[at] + self._by <= value:
            return bisect_right(values, value - self._by, at)
        return bisect_right(values, value, 0, at)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        if isinstance(at, slice):
            first, last, step = at.indices(len(self._values))
            if step != 1:
                return [self[n] for n in range(first, last, step)]
            by, values = self._by, self._values
            return [
                *values[first : min(last, self._from)],
                *(value + by for value in values[max(first, self._from) : last]),
            ]
        value = self._values[at]
        return value + self._by if (at if at >= 0 else at + len(self._values)) >= self._from else value

    def __iter__(self) -> Iterator[int]:
        by = self._by
        return chain(self._values[: self._from], (value + by for value in self._values[self._from :]))
