"""Division of a file into chunks, the units of search: each function, each class without its methods, and the
remaining lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration

MAX_CHUNK_LINES = 80
"""A longer chunk is divided, at a blank line if there is one in its last third."""
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "macro"})
CONTAINER_KINDS = TYPE_KINDS | {"module", "namespace"}
CHUNK_KINDS = FUNCTION_KINDS | CONTAINER_KINDS
NON_BLANK = re.compile(rb"\S")
OVERLOAD_MARK = b"overload"
"""A decorator of signatures that add nothing to the function itself."""
LEADING_MARKS = (b"#", b"//", b"/*", b"*", b"--", b"@", b"[", b"///")
"""Starts of lines that belong to the declaration below: comments and attributes."""


class FileChunk(NamedTuple):
    """A range of bytes in a file. `symbol` is the position of its declaration in the file's list, -1 outside of
    declarations."""

    symbol: int
    start: int
    end: int


def make_embedding_text(names: str, text: str) -> str:
    """Return the text that the vector of a chunk is made of."""
    return f"{names}\n{text}"


def split_chunks(data: bytes, declarations: Sequence[Declaration] = ()) -> list[FileChunk]:
    """Divide a text into chunks of whole lines, in order. Blank chunks are left out, the others cover the rest of
    the text."""
    result: list[FileChunk] = []
    containers: list[tuple[int, int]] = []
    position = 0

    def close_until(stop: int) -> None:
        """Add the text before `stop` to the innermost container around it."""
        nonlocal position
        while containers and containers[-1][1] <= stop:
            n, end = containers.pop()
            add_chunk(n, end)
        add_chunk(containers[-1][0] if containers else -1, stop)

    def add_chunk(n: int, stop: int) -> None:
        nonlocal position
        if position < stop:
            result.extend(_split_long(data, FileChunk(n, position, stop)))
            position = stop

    for n, declaration in enumerate(declarations):
        if declaration.kind not in CHUNK_KINDS or declaration.start < position:
            continue
        # A signature without a body is most useful together with its neighbours.
        is_function = (
            declaration.kind in FUNCTION_KINDS
            and declaration.body_start < declaration.end
            and data.find(OVERLOAD_MARK, declaration.start, declaration.name_start) < 0
        )
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
    """Return the start of the comments and attributes directly above a declaration, but not less than `earliest`.

    Args:
        data: The text.
        earliest: The smallest byte offset to return.
        start: The byte offset of the declaration.
    """
    start = max(earliest, data.rfind(b"\n", 0, start) + 1)
    while start > earliest:
        above = max(earliest, data.rfind(b"\n", 0, start - 1) + 1)
        if not data[above:start].lstrip().startswith(LEADING_MARKS):
            break
        start = above
    return start


def _line_end(data: bytes, offset: int) -> int:
    return data.find(b"\n", offset) + 1 or len(data)


def _split_long(data: bytes, chunk: FileChunk) -> Iterable[FileChunk]:
    """Divide a chunk that is too long, and drop chunks without text."""
    symbol, start, end = chunk
    if data.count(b"\n", start, end) > MAX_CHUNK_LINES:
        return _split_at_blank_lines(data, symbol, start, end)
    return (chunk,) if NON_BLANK.search(data, start, end) else ()


def _split_at_blank_lines(data: bytes, symbol: int, start: int, end: int) -> Iterator[FileChunk]:
    while data.count(b"\n", start, end) > MAX_CHUNK_LINES:
        line_end = start
        blank_end = 0
        for n in range(MAX_CHUNK_LINES):
            next_end = data.find(b"\n", line_end, end) + 1
            if n > MAX_CHUNK_LINES * 2 // 3 and not data[line_end:next_end].strip():
                blank_end = next_end
            line_end = next_end
        stop = blank_end or line_end
        yield FileChunk(symbol, start, stop)
        start = stop
    if NON_BLANK.search(data, start, end):
        yield FileChunk(symbol, start, end)
