"""The lines around a cursor: whole lines that fit a token budget, and never more than `MAX_LINES` of them.

Each line is counted by itself, so that a key press costs the count of one line. The start of the prefix moves in blocks
of `BLOCK_LINES` lines: if it moved with every new line, the whole prompt would change. Only the line of the cursor is
ever cut, if it alone exceeds the budget. A window never reaches over a hidden line (a line with a secret).
"""

from collections.abc import Set as AbstractSet

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

BLOCK_LINES = 16
MAX_LINES = 80
"""Most lines of a file in a prompt, with the line of the cursor."""
MAX_LINES_BELOW = 19
MAX_LINES_ABOVE = MAX_LINES - MAX_LINES_BELOW - 1
MAX_LINE_BYTES = 2048
"""Most bytes of a line, on either side of the cursor: a minified file is a single line."""


async def read_prefix(
    document: Document, offset: int, budget: int, count: TokenCounter, hidden: AbstractSet[int] = frozenset()
) -> tuple[int, str, int]:
    """Return the text before the cursor that fits the budget.

    Args:
        document: The document.
        offset: The cursor, in bytes.
        budget: The most tokens of the text.
        count: The tokenizer of the model.
        hidden: The lines that the text must not contain, counted from 0.

    Returns:
        The byte offset at which the text starts, the text, and its tokens.
    """
    line = document.line_of(offset)
    starts = document.line_starts
    if offset - starts[line] > MAX_LINE_BYTES:
        return await _cut_line_before(document, offset, budget, count)
    first = max(0, line - max(0, min(budget, MAX_LINES_ABOVE)))
    starts_after_barrier = (
        n + 1 for n in range(first, line) if n in hidden or starts[n + 1] - starts[n] > MAX_LINE_BYTES
    )
    first = max(starts_after_barrier, default=first)
    texts = [decode(document.data[starts[n] : starts[n + 1]]) for n in range(first, line)]
    costs = await count([*texts, decode(document.data[starts[line] : offset])])
    if costs[-1] > budget:
        return await _cut_line_before(document, offset, budget, count)
    tokens, top = costs[-1], line
    while top > first and tokens + costs[top - 1 - first] <= budget:
        top -= 1
        tokens += costs[top - first]
    block_start = -(-top // BLOCK_LINES) * BLOCK_LINES
    if 0 < top < block_start <= line:
        block_tokens = sum(costs[block_start - first :])
        # the prefix does not start at a block if that would drop more than half of it
        if block_tokens * 2 >= tokens:
            top, tokens = block_start, block_tokens
    return starts[top], decode(document.data[starts[top] : offset]), tokens


async def read_suffix(
    document: Document, offset: int, budget: int, count: TokenCounter, hidden: AbstractSet[int] = frozenset()
) -> tuple[int, str, int]:
    """Return the text after the cursor that fits the budget.

    Args:
        document: The document.
        offset: The cursor, in bytes.
        budget: The most tokens of the text.
        count: The tokenizer of the model.
        hidden: The lines that the text must not contain, counted from 0.

    Returns:
        The byte offset at which the text ends, the text, and its tokens.
    """
    line = document.line_of(offset)
    max_lines = 1 + max(0, min(budget, MAX_LINES_BELOW))
    max_lines = min((max_lines, *(n - line for n in hidden if n > line)))
    line_ends = list(document.line_starts[line + 1 : line + 1 + max_lines])
    if len(line_ends) < max_lines:
        line_ends.append(len(document.data))
    if line_ends[0] - offset > MAX_LINE_BYTES:
        return await _cut_line_after(document, offset, line_ends[0], budget, count)
    ranges = list(zip([offset, *line_ends[:-1]], line_ends, strict=True))
    texts = [decode(document.data[start:stop]) for start, stop in ranges if stop - start <= MAX_LINE_BYTES]
    costs = await count(texts)
    if costs[0] > budget:
        return await _cut_line_after(document, offset, line_ends[0], budget, count)
    tokens, end = 0, offset
    for (start, stop), cost in zip(ranges, costs, strict=False):
        if stop - start > MAX_LINE_BYTES or tokens + cost > budget:
            break
        tokens, end = tokens + cost, stop
    return end, decode(document.data[offset:end]), tokens


async def _cut_line_before(document: Document, offset: int, budget: int, count: TokenCounter) -> tuple[int, str, int]:
    """Return as much of the cursor's line before the cursor as fits, by binary search for its size."""
    line_start = document.line_starts[document.line_of(offset)]
    size, tokens = 0, 0
    low, high = 0, min(offset - line_start, MAX_LINE_BYTES)
    while low <= high:
        middle = (low + high) // 2
        start = _next_character(document.data, offset - middle, offset)
        [cost] = await count([decode(document.data[start:offset])])
        if cost <= budget:
            size, tokens, low = offset - start, cost, middle + 1
        else:
            high = middle - 1
    return offset - size, decode(document.data[offset - size : offset]), tokens


async def _cut_line_after(
    document: Document, offset: int, line_end: int, budget: int, count: TokenCounter
) -> tuple[int, str, int]:
    """Return as much of the cursor's line after the cursor as fits, by binary search for its size."""
    end, tokens = offset, 0
    low, high = 0, min(line_end - offset, MAX_LINE_BYTES)
    while low <= high:
        middle = (low + high) // 2
        stop = _next_character(document.data, offset + middle, line_end)
        # a cut between the two bytes of a line end would leave a lone carriage return
        stop = line_end if document.data[stop - 1 : stop + 1] == b"\r\n" and stop > offset else stop
        [cost] = await count([decode(document.data[offset:stop])])
        if cost <= budget:
            end, tokens, low = stop, cost, middle + 1
        else:
            high = middle - 1
    return end, decode(document.data[offset:end]), tokens


def _next_character(data: bytes, offset: int, limit: int) -> int:
    """Return the offset at or after `offset` at which a UTF-8 character starts, at most `limit`."""
    while offset < limit and data[offset] & 0xC0 == 0x80:
        offset += 1
    return offset
