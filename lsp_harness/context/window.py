"""The lines right around a place: what fits a token share, whole lines only, and never more than `LINES` of them.

Lines are counted one by one, so that a keystroke costs the count of one line. The start of a prefix moves in blocks
of `BLOCK` lines: a window that moved with every new line would change the whole prompt with it. Only the cursor's own
line is ever cut, when it alone is more than its share. No window reaches over a line that is `hidden`.
"""

from collections.abc import Set as AbstractSet

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

BLOCK_LINES = 16
MAX_LINES = 80
"""No prompt has more lines of a file than this, the cursor's included."""
BELOW = 19
ABOVE = MAX_LINES - BELOW - 1
MAX_LINE_BYTES = 2048
"""Bytes of the cursor's own line that are kept on either side of it, and of any other: a minified file is one line."""


async def read_prefix(
    document: Document, offset: int, budget: int, count: TokenCounter, hidden: AbstractSet[int] = frozenset()
) -> tuple[int, str, int]:
    """Start offset, text and tokens of the near prefix that ends at `offset`."""
    line = document.line_of(offset)
    starts = document.starts
    if offset - starts[line] > MAX_LINE_BYTES:
        return await _line_end(document, offset, budget, count)
    first = max(0, line - max(0, min(budget, ABOVE)))
    walls = (n + 1 for n in range(first, line) if n in hidden or starts[n + 1] - starts[n] > MAX_LINE_BYTES)
    first = max(walls, default=first)
    texts = [decode(document.data[starts[n] : starts[n + 1]]) for n in range(first, line)]
    costs = await count([*texts, decode(document.data[starts[line] : offset])])
    if costs[-1] > budget:
        return await _line_end(document, offset, budget, count)
    total, top = costs[-1], line
    while top > first and total + costs[top - 1 - first] <= budget:
        top -= 1
        total += costs[top - first]
    aligned = -(-top // BLOCK_LINES) * BLOCK_LINES
    if 0 < top < aligned <= line:
        kept = sum(costs[aligned - first :])
        # a block edge that would throw half of it away is not worth it
        if kept * 2 >= total:
            top, total = aligned, kept
    return starts[top], decode(document.data[starts[top] : offset]), total


async def read_suffix(
    document: Document, offset: int, budget: int, count: TokenCounter, hidden: AbstractSet[int] = frozenset()
) -> tuple[int, str, int]:
    """End offset, text and tokens of the short suffix that begins at `offset`."""
    line = document.line_of(offset)
    most = 1 + max(0, min(budget, BELOW))
    most = min((most, *(n - line for n in hidden if n > line)))
    stops = list(document.starts[line + 1 : line + 1 + most])
    if len(stops) < most:
        stops.append(len(document.data))
    if stops[0] - offset > MAX_LINE_BYTES:
        return await _line_start(document, offset, stops[0], budget, count)
    pieces = list(zip([offset, *stops[:-1]], stops, strict=True))
    texts = [decode(document.data[a:b]) for a, b in pieces if b - a <= MAX_LINE_BYTES]
    costs = await count(texts)
    if costs[0] > budget:
        return await _line_start(document, offset, stops[0], budget, count)
    total, end = 0, offset
    for (a, b), cost in zip(pieces, costs, strict=False):
        if b - a > MAX_LINE_BYTES or total + cost > budget:
            break
        total, end = total + cost, b
    return end, decode(document.data[offset:end]), total


async def _line_end(document: Document, offset: int, budget: int, count: TokenCounter) -> tuple[int, str, int]:
    """As much of the cursor's line before it as fits."""
    begin = document.starts[document.line_of(offset)]
    size, cost = 0, 0
    low, high = 0, min(offset - begin, MAX_LINE_BYTES)
    while low <= high:
        half = (low + high) // 2
        start = _boundary(document.data, offset - half, offset)
        [tokens] = await count([decode(document.data[start:offset])])
        if tokens <= budget:
            size, cost, low = offset - start, tokens, half + 1
        else:
            high = half - 1
    return offset - size, decode(document.data[offset - size : offset]), cost


async def _line_start(
    document: Document, offset: int, stop: int, budget: int, count: TokenCounter
) -> tuple[int, str, int]:
    """As much of the rest of the cursor's line as fits."""
    end, cost = offset, 0
    low, high = 0, min(stop - offset, MAX_LINE_BYTES)
    while low <= high:
        half = (low + high) // 2
        # up to a character's start, and not between the two bytes of a terminator
        there = _boundary(document.data, offset + half, stop)
        there = stop if document.data[there - 1 : there + 1] == b"\r\n" and there > offset else there
        [tokens] = await count([decode(document.data[offset:there])])
        if tokens <= budget:
            end, cost, low = there, tokens, half + 1
        else:
            high = half - 1
    return end, decode(document.data[offset:end]), cost


def _boundary(data: bytes, at: int, limit: int) -> int:
    """The first start of a character from `at` on."""
    while at < limit and data[at] & 0xC0 == 0x80:
        at += 1
    return at
