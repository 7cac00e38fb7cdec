"""Which of the regions the parser gave up on are new, when a text with edits applied is compared to the text before.

Regions are followed through the edits and compared by what they cover. Nothing here knows trees.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from lsp_harness.text.edit import Edit, common_prefix_and_suffix, line_edits

BLANK = re.compile(rb"\s*")


class Region(NamedTuple):
    """What the parser gave up on (ERROR) or, of zero width, imagined (MISSING). `token` is the missing one."""

    start: int
    end: int
    token: str = ""


def guilty(old: Sequence[Region], new: Sequence[Region], edits: Sequence[Edit], data: bytes) -> list[int]:
    """Indices of those of `new`, regions of the text `data`, that are not what has become of an old one.

    What an edit wrote is never excused by an error that stood where it now is. An old region may move, shrink or fall
    apart. One that has grown counts as new, unless the regions altogether have not.
    """
    moved = [place for region in old if (place := _moved(region, edits))]
    places, missing = _Places([p for p in moved if not p.token]), _Places([p for p in moved if p.token])
    grown = _inked(data, [r for r in new if not r.token]) > _inked(data, places.regions)
    found: list[int] = []
    for index, region in enumerate(new):
        near = next(places.touching(data, region), None) is not None
        if not region.token:
            if not near or (grown and _outside(data, region, places)):
                found.append(index)
        elif not near:
            # A region excuses all that is missing in it, a missing token one missing token.
            twin = next(missing.touching(data, region), None)
            if twin is not None:
                missing.used.add(twin)
            else:
                found.append(index)
    return found


class _Places:
    """Regions in the order of their starts, found by where they are: a text may have thousands of errors. `used`: those that are left out."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = sorted(regions)
        self.used: set[int] = set()
        self._ends = list(accumulate((region.end for region in self.regions), max))
        """The largest end of each region and all before it."""

    def touching(self, data: bytes, region: Region) -> Iterator[int]:
        """Numbers of those that overlap a region, or have only blank between them and it."""
        first, last = region.start, BLANK.match(data, region.end).end()  # type: ignore[union-attr]
        while first and data[first - 1 : first].isspace():
            first -= 1
        return (n for n in self.within(first, last) if n not in self.used)

    def within(self, first: int, last: int) -> Iterator[int]:
        """Numbers of those that begin at `last` or before and end at `first` or behind."""
        for n in range(bisect_left(self._ends, first), len(self.regions)):
            if self.regions[n].start > last:
                break
            if self.regions[n].end >= first:
                yield n


def refined(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """The same edits without the lines and ends they leave as they are, in order."""
    found: list[Edit] = []
    for start, end, new in sorted(edits):
        for edit in line_edits(data[start:end], new):
            old = data[start + edit.start : start + edit.end]
            head, tail = common_prefix_and_suffix(old, edit.new)
            text = edit.new[head : len(edit.new) - tail]
            found.append(Edit(start + edit.start + head, start + edit.end - tail, text))
    return found


def _moved(region: Region, edits: Sequence[Edit]) -> Region | None:
    """Where a region is after the edits; None if its text was replaced."""
    start, end, token = region
    if any(e.start <= start and end <= e.end and start < end for e in edits):
        return None
    # What is inserted at the ends of a region is not in it; what is inserted where something is missing may come
    # before or after it.
    left, right = _at(start, edits, after=not token), _at(end, edits, after=bool(token))
    return Region(min(left, right), max(left, right), token)


def _at(offset: int, edits: Sequence[Edit], *, after: bool) -> int:
    """An offset through the edits; inside of one it is the end (`after`) or the start of what was written."""
    shift = 0
    for start, end, new in edits:
        if offset < start or (offset == start and not after):
            break
        if offset < end:
            return start + shift + (len(new) if after else 0)
        shift += len(new) - (end - start)
    return offset + shift


def _inked(data: bytes, regions: Sequence[Region]) -> int:
    """How many bytes the regions cover, blank not counted."""
    return sum(len(b"".join(data[region.start : region.end].split())) for region in regions)


def _outside(data: bytes, region: Region, places: _Places) -> int:
    """How much of a region, blank not counted, is in none of the places."""
    left: list[Region] = []
    at = region.start
    for place in (places.regions[n] for n in places.within(region.start, region.end)):
        if place.start < region.end and place.end > at:
            left.append(Region(at, place.start))
            at = place.end
    return _inked(data, [*left, Region(at, region.end)])
