"""Which of the regions the parser gave up on are new, when a text with edits applied is compared to the text before.

Regions are followed through the edits and compared by what they cover. Nothing here knows trees.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lsp_harness.text.edit import Edit, between, shared


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
    places, missing = [p for p in moved if not p.token], [p for p in moved if p.token]
    grown = _inked(data, [r for r in new if not r.token]) > _inked(data, places)
    found: list[int] = []
    for index, region in enumerate(new):
        near = any(_touches(data, region, place) for place in places)
        if not region.token:
            if not near or (grown and _outside(data, region, places)):
                found.append(index)
        elif not near:
            # A region excuses all that is missing in it, a missing token one missing token.
            twin = next((place for place in missing if _touches(data, region, place)), None)
            if twin:
                missing.remove(twin)
            else:
                found.append(index)
    return found


def refined(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """The same edits without the lines and ends they leave as they are, in order."""
    found: list[Edit] = []
    for start, end, new in sorted(edits):
        for edit in between(data[start:end], new):
            old = data[start + edit.start : start + edit.end]
            head, tail = shared(old, edit.new)
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


def _touches(data: bytes, a: Region, b: Region) -> bool:
    """The two overlap, or there is only blank between them."""
    return not data[min(a.end, b.end) : max(a.start, b.start)].strip()


def _inked(data: bytes, regions: Sequence[Region]) -> int:
    """How many bytes the regions cover, blank not counted."""
    return sum(len(b"".join(data[region.start : region.end].split())) for region in regions)


def _outside(data: bytes, region: Region, places: Sequence[Region]) -> int:
    """How much of a region, blank not counted, is in none of the places."""
    left: list[Region] = []
    at = region.start
    for place in sorted(places):
        if place.start < region.end and place.end > at:
            left.append(Region(at, place.start))
            at = place.end
    return _inked(data, [*left, Region(at, region.end)])
