"""A comparison of error regions before and after edits, to find those that are new.

An error region is text that the parser could not read. Regions are mapped through the edits and compared by the text
that they cover. This module does not use syntax trees.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from lsp_harness.text.edit import Edit, common_prefix_and_suffix, line_edits

BLANK = re.compile(rb"\s*")


class Region(NamedTuple):
    """The bytes of an ERROR node, or the empty range of a MISSING node.

    `token` is the missing token, empty for an ERROR node.
    """

    start: int
    end: int
    token: str = ""


def find_new_regions(old: Sequence[Region], new: Sequence[Region], edits: Sequence[Edit], data: bytes) -> list[int]:
    """Return the indices in `new` of the error regions that no old region explains.

    An old region may move, shrink or be split. A region that has grown is new, unless all regions together cover no
    more text than before. Text that an edit has written is never explained by an error that was at the same offset
    before.

    Args:
        old: The error regions before the edits.
        new: The error regions after the edits.
        edits: The edits, with offsets of the text before.
        data: The text after the edits.
    """
    mapped = [place for region in old if (place := _map_region(region, edits))]
    errors = _RegionIndex([region for region in mapped if not region.token])
    missing = _RegionIndex([region for region in mapped if region.token])
    has_grown = _covered_bytes(data, [r for r in new if not r.token]) > _covered_bytes(data, errors.regions)
    indices: list[int] = []
    for index, region in enumerate(new):
        touches_old = next(errors.find_touching(data, region), None) is not None
        if not region.token:
            if not touches_old or (has_grown and _bytes_outside(data, region, errors)):
                indices.append(index)
        elif not touches_old:
            # An old ERROR region explains all missing tokens that touch it. An old missing token explains only one.
            twin = next(missing.find_touching(data, region), None)
            if twin is not None:
                missing.used.add(twin)
            else:
                indices.append(index)
    return indices


class _RegionIndex:
    """Regions sorted by start, with a quick search by offset: a text may have thousands of errors."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = sorted(regions)
        self.used: set[int] = set()
        """Indices of regions that `find_touching` leaves out."""
        self._max_ends = list(accumulate((region.end for region in self.regions), max))
        """For each region, the largest end among it and all regions before it."""

    def find_touching(self, data: bytes, region: Region) -> Iterator[int]:
        """Yield the indices of the unused regions that overlap a region or are separated from it by blanks only."""
        first, last = region.start, BLANK.match(data, region.end).end()  # type: ignore[union-attr]
        while first and data[first - 1 : first].isspace():
            first -= 1
        return (n for n in self.find_between(first, last) if n not in self.used)

    def find_between(self, first: int, last: int) -> Iterator[int]:
        """Yield the indices of the regions that start at or before `last` and end at or after `first`."""
        for n in range(bisect_left(self._max_ends, first), len(self.regions)):
            if self.regions[n].start > last:
                break
            if self.regions[n].end >= first:
                yield n


def minimize_edits(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Return equivalent edits in order, without the lines and the line parts that they leave unchanged."""
    minimal: list[Edit] = []
    for start, end, new in sorted(edits):
        for edit in line_edits(data[start:end], new):
            old = data[start + edit.start : start + edit.end]
            head, tail = common_prefix_and_suffix(old, edit.new)
            text = edit.new[head : len(edit.new) - tail]
            minimal.append(Edit(start + edit.start + head, start + edit.end - tail, text))
    return minimal


def _map_region(region: Region, edits: Sequence[Edit]) -> Region | None:
    """Return a region's place after the edits, or None if its text was replaced."""
    start, end, token = region
    if any(e.start <= start and end <= e.end and start < end for e in edits):
        return None
    # Text inserted at the ends of an ERROR region is outside of it. Text inserted at a missing token may be on either
    # side of it.
    left, right = _map_offset(start, edits, after=not token), _map_offset(end, edits, after=bool(token))
    return Region(min(left, right), max(left, right), token)


def _map_offset(offset: int, edits: Sequence[Edit], *, after: bool) -> int:
    """Map an offset through the edits.

    An offset inside of an edit becomes the end (`after`) or the start of its new text.
    """
    shift = 0
    for start, end, new in edits:
        if offset < start or (offset == start and not after):
            break
        if offset < end:
            return start + shift + (len(new) if after else 0)
        shift += len(new) - (end - start)
    return offset + shift


def _covered_bytes(data: bytes, regions: Sequence[Region]) -> int:
    """Return the number of non-blank bytes in the regions."""
    return sum(len(b"".join(data[region.start : region.end].split())) for region in regions)


def _bytes_outside(data: bytes, region: Region, index: _RegionIndex) -> int:
    """Return the number of non-blank bytes of a region that are in no region of the index."""
    uncovered: list[Region] = []
    offset = region.start
    for old in (index.regions[n] for n in index.find_between(region.start, region.end)):
        if old.start < region.end and old.end > offset:
            uncovered.append(Region(offset, old.start))
            offset = old.end
    return _covered_bytes(data, [*uncovered, Region(offset, region.end)])
