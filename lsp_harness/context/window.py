"""The lines right around a place: what fits a token share, whole lines only.

Lines are counted one by one, so that a keystroke costs the count of one line. The start of a prefix moves in blocks
of `BLOCK` lines: a window that moved with every new line would change the whole prompt with it.
"""

from lsp_harness.context.fragment import Count
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

BLOCK = 16
WIDEST = 2048
"""Bytes of the cursor's own line that are kept on either side of it: a minified file is one line."""


async def before(document: Document, offset: int, budget: int, count: Count) -> tuple[int, str, int]:
    """Start offset, text and tokens of the near prefix that ends at `offset`."""
    line = document.line_of(offset)
    start = document.starts[line]
    if offset - start > WIDEST:
        text = decode(document.data[offset - WIDEST : offset])
        return offset - WIDEST, text, (await count([text]))[0]
    first = max(0, line - budget)
    texts = [
        decode(document.data[document.starts[n] : document.starts[n + 1]])[: WIDEST * 4] for n in range(first, line)
    ]
    here = decode(document.data[start:offset])
    costs = await count([*texts, here])
    total, top = costs[-1], line
    while top > first and total + costs[top - 1 - first] <= budget:
        top -= 1
        total += costs[top - first]
    aligned = -(-top // BLOCK) * BLOCK
    if 0 < top < aligned <= line:
        kept = sum(costs[aligned - first :])
        # a block edge that would throw half of the budget away is not worth it
        if kept >= budget // 2:
            top, total = aligned, kept
    return document.starts[top], decode(document.data[document.starts[top] : offset]), total


async def after(document: Document, offset: int, budget: int, count: Count) -> tuple[int, str, int]:
    """End offset, text and tokens of the short suffix that begins at `offset`."""
    line = document.line_of(offset)
    last = min(len(document.starts) - 1, line + budget)
    ends = (
        [*document.starts[line + 1 : last + 1], len(document.data)]
        if last == len(document.starts) - 1
        else document.starts[line + 1 : last + 1]
    )
    if ends and ends[0] - offset > WIDEST:
        text = decode(document.data[offset : offset + WIDEST])
        return offset + WIDEST, text, (await count([text]))[0]
    starts = [offset, *ends[:-1]]
    texts = [decode(document.data[a:b])[: WIDEST * 4] for a, b in zip(starts, ends, strict=True)]
    costs = await count(texts)
    total = end = 0
    for text, cost, stop in zip(texts, costs, ends, strict=True):
        if total + cost > budget and end:
            break
        total, end = total + cost, stop
        if not text.strip() and total > budget:
            break
    end = end or offset
    return end, decode(document.data[offset:end]), total
