"""Where the characters of a long line are, without counting all of them: the line in blocks, and the code units of each.

A line of a megabyte is asked about with every key. The blocks are counted once; an edit counts those again that it touches.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, byte_column, column, count_units

LONG_LINE_BYTES = 4096
"""Bytes of a line from which on this pays."""
BLOCK_BYTES = 2048


class ColumnIndex:
    """An immutable index of one line of valid UTF-8, lone surrogates included."""

    __slots__ = ("_encoding", "_ends", "_sizes", "_units", "_widths")

    def __init__(self, encoding: Encoding, sizes: list[int], widths: list[int]) -> None:
        """`sizes` are the bytes of each block, which ends with a character; `widths` are its code units."""
        self._encoding: Encoding = encoding
        self._sizes, self._widths = sizes, widths
        self._ends, self._units = [0, *accumulate(sizes)], [0, *accumulate(widths)]

    @classmethod
    def of(cls, line: bytes, encoding: Encoding) -> "ColumnIndex | None":
        """None for what is not UTF-8: its bytes have no characters to end a block with."""
        try:
            sizes, widths = _blocks(line, encoding)
        except UnicodeDecodeError:
            return None
        return cls(encoding, sizes, widths)

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return self._ends[-1]

    def byte_column(self, line: bytes, character: int) -> int:
        """As the function of that name."""
        if character <= 0:
            return 0
        n = min(bisect_right(self._units, character), len(self._sizes)) - 1
        block = line[self._ends[n] : self._ends[n + 1]]
        return self._ends[n] + byte_column(block, character - self._units[n], self._encoding)

    def column(self, line: bytes, byte: int) -> int:
        """As the function of that name."""
        n = min(bisect_right(self._ends, byte), len(self._sizes)) - 1
        block = line[self._ends[n] : self._ends[n + 1]]
        return self._units[n] + column(block, byte - self._ends[n], self._encoding)

    def edited(self, edit: Edit, line: bytes) -> "ColumnIndex | None":
        """Of `line`, which is the line with an edit applied that has no line end; its offsets are those of the line before."""
        start, end, new = edit
        first = max(0, bisect_right(self._ends, start) - 2)
        last = min(len(self._sizes), bisect_right(self._ends, end) + 1)
        shift = len(new) - (end - start)
        try:
            sizes, widths = _blocks(line[self._ends[first] : self._ends[last] + shift], self._encoding)
        except UnicodeDecodeError:
            return None
        return ColumnIndex(
            self._encoding,
            [*self._sizes[:first], *sizes, *self._sizes[last:]],
            [*self._widths[:first], *widths, *self._widths[last:]],
        )


def _blocks(data: bytes, encoding: Encoding) -> tuple[list[int], list[int]]:
    """Sizes and code units of blocks. Raises UnicodeDecodeError."""
    blocks = list(_cut(data))
    return [len(one) for one in blocks], [count_units(one.decode("utf-8", "surrogatepass"), encoding) for one in blocks]


def _cut(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        end = min(at + BLOCK_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        yield data[at:end]
        at = end
