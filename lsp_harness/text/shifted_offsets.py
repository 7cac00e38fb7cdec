"""Ascending numbers, of which a whole tail can be moved in constant time.

An edit moves all later line starts in this way.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import overload


class ShiftedOffsets(Sequence[int]):
    """An immutable list of numbers. Only `count_up_to` needs them in ascending order.

    To move the tail again from the same index is free. To move it from another index costs as much as there is between
    the two.
    """

    __slots__ = ("_by", "_from", "_values")

    def __init__(self, values: list[int], start: int | None = None, by: int = 0) -> None:
        """Keep a list of numbers. `by` is added to each number from index `start` on when it is read.

        The list is not copied or changed.
        """
        self._values, self._from, self._by = values, len(values) if start is None else start, by

    def shift_from(self, start: int, by: int) -> "ShiftedOffsets":
        """Return the numbers with all from index `start` on larger by `by`."""
        if start == self._from:
            return ShiftedOffsets(self._values, start, self._by + by)
        values = self._values.copy()
        if start > self._from:
            values[self._from : start] = [value + self._by for value in values[self._from : start]]
        else:
            values[start : self._from] = [value - self._by for value in values[start : self._from]]
        return ShiftedOffsets(values, start, self._by + by)

    def replace_range(self, start: int, end: int, new: Sequence[int], by: int) -> "ShiftedOffsets":
        """Return the numbers with `new` at the indices from `start` up to `end`, and all later ones larger by `by`."""
        shifted = self.shift_from(end, by)
        values = shifted._values.copy()
        values[start:end] = new
        return ShiftedOffsets(values, start + len(new), shifted._by)

    def count_up_to(self, value: int) -> int:
        """Return how many numbers are not larger than `value`."""
        start, values = self._from, self._values
        if start < len(values) and values[start] + self._by <= value:
            return bisect_right(values, value - self._by, start)
        return bisect_right(values, value, 0, start)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            first, last, step = index.indices(len(self._values))
            if step != 1:
                return [self[n] for n in range(first, last, step)]
            by, values = self._by, self._values
            return [
                *values[first : min(last, self._from)],
                *(value + by for value in values[max(first, self._from) : last]),
            ]
        value = self._values[index]
        return value + self._by if (index if index >= 0 else index + len(self._values)) >= self._from else value

    def __iter__(self) -> Iterator[int]:
        by = self._by
        return chain(self._values[: self._from], (value + by for value in self._values[self._from :]))
