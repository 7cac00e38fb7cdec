"""An index of one long line that converts between byte columns and client columns without counting the whole line.

The server converts positions on the current line at every key, and that line may have a megabyte. The index divides the
line into blocks and counts the code units of each block once. An edit counts only the blocks that it touches.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, byte_column, column, count_units

LONG_LINE_BYTES = 4096
"""Minimum size of a line for which an index is faster."""
BLOCK_BYTES = 2048


class ColumnIndex:
    """An immutable index of one line of valid UTF-8, lone surrogates included."""

    __slots__ = ("_encoding", "_ends", "_sizes", "_units", "_widths")

    def __init__(self, encoding: Encoding, sizes: list[int], widths: list[int]) -> None:
        """Build the index from its blocks.

        Args:
            encoding: The encoding that client columns are counted in.
            sizes: The bytes of each block. A block ends at the end of a character.
            widths: The code units of each block.
        """
        self._encoding: Encoding = encoding
        self._sizes, self._widths = sizes, widths
        self._ends, self._units = [0, *accumulate(sizes)], [0, *accumulate(widths)]

    @classmethod
    def from_line(cls, line: bytes, encoding: Encoding) -> "ColumnIndex | None":
        """Build the index of a line. Return None if the line is not UTF-8, because a block must end at a character."""
        try:
            sizes, widths = _measure_blocks(line, encoding)
        except UnicodeDecodeError:
            return None
        return cls(encoding, sizes, widths)

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return self._ends[-1]

    def byte_column(self, line: bytes, character: int) -> int:
        """Return the same as `position.byte_column`."""
        if character <= 0:
            return 0
        n = min(bisect_right(self._units, character), len(self._sizes)) - 1
        block = line[self._ends[n] : self._ends[n + 1]]
        return self._ends[n] + byte_column(block, character - self._units[n], self._encoding)

    def column(self, line: bytes, byte: int) -> int:
        """Return the same as `position.column`."""
        n = min(bisect_right(self._ends, byte), len(self._sizes)) - 1
        block = line[self._ends[n] : self._ends[n + 1]]
        return self._units[n] + column(block, byte - self._ends[n], self._encoding)

    def apply_edit(self, edit: Edit, line: bytes) -> "ColumnIndex | None":
        """Return the index of the line after an edit.

        Args:
            edit: An edit without a line end. Its byte offsets begin at the start of the line before the edit.
            line: The line after the edit.

        Returns:
            The new index, or None if the line is no longer UTF-8.
        """
        start, end, new = edit
        first = max(0, bisect_right(self._ends, start) - 2)
        last = min(len(self._sizes), bisect_right(self._ends, end) + 1)
        shift = len(new) - (end - start)
        try:
            sizes, widths = _measure_blocks(line[self._ends[first] : self._ends[last] + shift], self._encoding)
        except UnicodeDecodeError:
            return None
        return ColumnIndex(
            self._encoding,
            [*self._sizes[:first], *sizes, *self._sizes[last:]],
            [*self._widths[:first], *widths, *self._widths[last:]],
        )


def _measure_blocks(data: bytes, encoding: Encoding) -> tuple[list[int], list[int]]:
    """Return the bytes and the code units of each block. Raises UnicodeDecodeError."""
    blocks = list(_split_blocks(data))
    return (
        [len(block) for block in blocks],
        [count_units(block.decode("utf-8", "surrogatepass"), encoding) for block in blocks],
    )


def _split_blocks(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = min(start + BLOCK_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        yield data[start:end]
        start = end
