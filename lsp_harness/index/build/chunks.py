"""A file cut into what is found as one: each function whole, of a class what is around its methods, and the rest by lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsp_harness.syntax.symbols.declarations import TYPES, Declaration

MAX_CHUNK_LINES = 80
"""A longer chunk is cut, at an empty line where there is one in its last third."""
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "macro"})
CONTAINER_KINDS = TYPES | {"module", "namespace"}
CHUNK_KINDS = FUNCTION_KINDS | CONTAINER_KINDS
NON_BLANK = re.compile(rb"\S")
OVERLOAD_MARK = b"overload"
"""In the decorator of a signature that says nothing the function itself does not."""
LEADING_MARKS = (b"#", b"//", b"/*", b"*", b"--", b"@", b"[", b"///")
"""What a line may begin with that belongs to what is declared below it: comments and attributes."""


class Chunk(NamedTuple):
    """Bytes of a file; `symbol` is the place of the declaration it shows, -1 for what is in none."""

    symbol: int
    start: int
    end: int


def split_chunks(data: bytes, declarations: Sequence[Declaration] = ()) -> list[Chunk]:
    """In the order of the text, whole lines, without those that are blank; the others are all of the text."""
    result: list[Chunk] = []
    containers: list[tuple[int, int]] = []
    position = 0

    def close_until(stop: int) -> None:
        """What is before `stop` and in no function belongs to what is around it."""
        nonlocal position
        while containers and containers[-1][1] <= stop:
            n, end = containers.pop()
            add_chunk(n, end)
        add_chunk(containers[-1][0] if containers else -1, stop)

    def add_chunk(n: int, stop: int) -> None:
        nonlocal position
        if position < stop:
            result.extend(_split_long(data, Chunk(n, position, stop)))
            position = stop

    for n, declaration in enumerate(declarations):
        if declaration.kind not in CHUNK_KINDS or declaration.start < position:
            continue
        # a signature without a body says most among the others
        is_function = declaration.kind in FUNCTION_KINDS and declaration.body < declaration.end and data.find(OVERLOAD_MARK, declaration.start, declaration.named) < 0
        if not (is_function or declaration.kind in CONTAINER_KINDS):
            continue
        close_until(find_lead(data, position, declaration.start))
        end = _line_end(data, declaration.end)
        if is_function:
            add_chunk(n, end)
        else:
            containers.append((n, end))
    close_until(len(data))
    return result


def find_lead(data: bytes, earliest: int, start: int) -> int:
    """Where the comments directly above begin, `least` at the earliest."""
    start = max(earliest, data.rfind(b"\n", 0, start) + 1)
    while start > earliest:
        above = max(earliest, data.rfind(b"\n", 0, start - 1) + 1)
        if not data[above:start].lstrip().startswith(LEADING_MARKS):
            break
        start = above
    return start


def _line_end(data: bytes, at: int) -> int:
    return data.find(b"\n", at) + 1 or len(data)


def _split_long(data: bytes, chunk: Chunk) -> Iterable[Chunk]:
    """Those that have something in them."""
    symbol, start, end = chunk
    if data.count(b"\n", start, end) > MAX_CHUNK_LINES:
        return _split_at_blank_lines(data, symbol, start, end)
    return (chunk,) if NON_BLANK.search(data, start, end) else ()


def _split_at_blank_lines(data: bytes, symbol: int, start: int, end: int) -> Iterator[Chunk]:
    while data.count(b"\n", start, end) > MAX_CHUNK_LINES:
        line_end = start
        blank_end = 0
        for n in range(MAX_CHUNK_LINES):
            next_end = data.find(b"\n", line_end, end) + 1
            if n > MAX_CHUNK_LINES * 2 // 3 and not data[line_end:next_end].strip():
                blank_end = next_end
            line_end = next_end
        stop = blank_end or line_end
        yield Chunk(symbol, start, stop)
        start = stop
    if NON_BLANK.search(data, start, end):
        yield Chunk(symbol, start, end)
