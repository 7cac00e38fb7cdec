"""A file cut into what is found as one: each function whole, of a class what is around its methods, and the rest by lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration

LINES = 80
"""A longer chunk is cut, at an empty line where there is one in its last third."""
INNER = frozenset({"function", "method", "constructor", "macro"})
OUTER = TYPE_KINDS | {"module", "namespace"}
SHOWN = INNER | OUTER
INK = re.compile(rb"\S")
OVERLOAD = b"overload"
"""In the decorator of a signature that says nothing the function itself does not."""
LEADS = (b"#", b"//", b"/*", b"*", b"--", b"@", b"[", b"///")
"""What a line may begin with that belongs to what is declared below it: comments and attributes."""


class Chunk(NamedTuple):
    """Bytes of a file; `symbol` is the place of the declaration it shows, -1 for what is in none."""

    symbol: int
    start: int
    end: int


def chunks(data: bytes, declarations: Sequence[Declaration] = ()) -> list[Chunk]:
    """In the order of the text, whole lines, without those that are blank; the others are all of the text."""
    found: list[Chunk] = []
    outer: list[tuple[int, int]] = []
    at = 0

    def until(stop: int) -> None:
        """What is before `stop` and in no function belongs to what is around it."""
        nonlocal at
        while outer and outer[-1][1] <= stop:
            n, end = outer.pop()
            cut(n, end)
        cut(outer[-1][0] if outer else -1, stop)

    def cut(n: int, stop: int) -> None:
        nonlocal at
        if at < stop:
            found.extend(_cut(data, Chunk(n, at, stop)))
            at = stop

    for n, one in enumerate(declarations):
        if one.kind not in SHOWN or one.start < at:
            continue
        # a signature without a body says most among the others
        inner = one.kind in INNER and one.body_start < one.end and data.find(OVERLOAD, one.start, one.name_start) < 0
        if not (inner or one.kind in OUTER):
            continue
        until(lead(data, at, one.start))
        end = _line_end(data, one.end)
        if inner:
            cut(n, end)
        else:
            outer.append((n, end))
    until(len(data))
    return found


def lead(data: bytes, least: int, start: int) -> int:
    """Where the comments directly above begin, `least` at the earliest."""
    start = max(least, data.rfind(b"\n", 0, start) + 1)
    while start > least:
        above = max(least, data.rfind(b"\n", 0, start - 1) + 1)
        if not data[above:start].lstrip().startswith(LEADS):
            break
        start = above
    return start


def _line_end(data: bytes, at: int) -> int:
    return data.find(b"\n", at) + 1 or len(data)


def _cut(data: bytes, chunk: Chunk) -> Iterable[Chunk]:
    """Those that have something in them."""
    symbol, start, end = chunk
    if data.count(b"\n", start, end) > LINES:
        return _pieces(data, symbol, start, end)
    return (chunk,) if INK.search(data, start, end) else ()


def _pieces(data: bytes, symbol: int, start: int, end: int) -> Iterator[Chunk]:
    while data.count(b"\n", start, end) > LINES:
        ends = start
        blank = 0
        for n in range(LINES):
            next_end = data.find(b"\n", ends, end) + 1
            if n > LINES * 2 // 3 and not data[ends:next_end].strip():
                blank = next_end
            ends = next_end
        stop = blank or ends
        yield Chunk(symbol, start, stop)
        start = stop
    if INK.search(data, start, end):
        yield Chunk(symbol, start, end)
