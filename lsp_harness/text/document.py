"""One version of one text, as an immutable value: its bytes and the offsets at which its lines start.

Lines end at `\\r\\n`, `\\n` or `\\r` and at nothing else, as the protocol says. `str.splitlines` also splits at form
feeds and U+2028, which would move every later edit.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import accumulate

from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, byte_column, column, count_units, decode, encode
from lsp_harness.text.shifted_offsets import ShiftedOffsets

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
        """Number of bytes of the line."""
        return self._ends[-1]

    def byte_column(self, line: bytes, character: int) -> int:
        """Return the byte column of an LSP position, by `position.byte_column`."""
        if character <= 0:
            return 0
        n = min(bisect_right(self._units, character), len(self._sizes)) - 1
        block = line[self._ends[n] : self._ends[n + 1]]
        return self._ends[n] + byte_column(block, character - self._units[n], self._encoding)

    def column(self, line: bytes, byte: int) -> int:
        """Return the column of an LSP position, by `position.column`."""
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


LINE_END = re.compile(rb"\r\n|\n|\r")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The bytes before the first character of some files, often of Windows. No edit moves or removes them."""
ColumnIndexes = dict[tuple[int, Encoding], ColumnIndex]
"""Indexes of long lines by the start of the line and the encoding."""


def line_starts(data: bytes) -> list[int]:
    """Return the offset of the first byte of every line. A text always has at least one line."""
    return [0, *(match.end() for match in LINE_END.finditer(data))]


@dataclass(frozen=True, slots=True)
class Document:
    """A text at one version.

    Attributes:
        uri: The URI that the client uses. This class does not interpret it.
        language: The language id of the client.
        line_starts: The byte offset at which each line starts.
        may_have_returns: Whether the text may contain `\\r`.
        column_indexes: A cache of the column indexes of long lines, by the start of the line and the encoding.
    """

    uri: str
    language: str
    version: int
    data: bytes
    line_starts: ShiftedOffsets = field(repr=False, compare=False)
    may_have_returns: bool = field(repr=False, compare=False)
    column_indexes: ColumnIndexes = field(default_factory=ColumnIndexes, repr=False, compare=False)

    @classmethod
    def from_text(cls, uri: str, text: str | bytes, *, language: str = "", version: int = 0) -> "Document":
        data = encode(text) if isinstance(text, str) else text
        return cls(uri, language, version, data, ShiftedOffsets(line_starts(data)), b"\r" in data)

    @property
    def text(self) -> str:
        return decode(self.data)

    @property
    def hash(self) -> str:
        """Hash of the content. A verdict holds for one hash."""
        return blake2b(self.data, digest_size=16).hexdigest()

    @property
    def is_binary(self) -> bool:
        """Return whether there is a NUL byte near the start. Such a text is neither completed nor checked."""
        return b"\0" in self.data[:8192]

    @property
    def mark_size(self) -> int:
        """The number of bytes of the byte order mark at the start. Code begins behind it."""
        return len(BYTE_ORDER_MARK) if self.data.startswith(BYTE_ORDER_MARK) else 0

    @property
    def newline(self) -> str:
        """The line end of the first line, or `\\n` if there is none."""
        match = LINE_END.search(self.data)
        return match.group().decode() if match else "\n"

    def line_of(self, offset: int) -> int:
        """Return the number of the line that contains a byte offset, from 0."""
        return self.line_starts.count_up_to(offset) - 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Return the start and the end of a line as byte offsets, without its line end."""
        start = self.line_starts[line]
        end = self.line_starts[line + 1] if line + 1 < len(self.line_starts) else len(self.data)
        if end > start and self.data[end - 1 : end] == b"\n":
            end -= 1
        if end > start and self.data[end - 1 : end] == b"\r":
            end -= 1
        return start, end

    def line(self, line: int) -> bytes:
        start, end = self.line_span(line)
        return self.data[start:end]

    def offset(self, position: Position, encoding: Encoding) -> int:
        """Return the byte offset of a client position, clamped as the protocol asks."""
        if position.line < 0:
            return 0
        if position.line >= len(self.line_starts):
            return len(self.data)
        start, end = self.line_span(position.line)
        line = self.data[start:end]
        if index := self._find_column_index(start, line, encoding):
            return start + index.byte_column(line, position.character)
        return start + byte_column(line, position.character, encoding)

    def tool_offset(self, position: Position, encoding: Encoding) -> int:
        """Return the byte offset of a position of a tool, which does not count the byte order mark."""
        if position.line == 0 and self.mark_size:
            first = Document.from_text(self.uri, self.data[self.mark_size : self.line_span(0)[1]])
            return self.mark_size + first.offset(position, encoding)
        return self.offset(position, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """Return the client position of a byte offset. An offset inside a `\\r\\n` pair is the end of its line."""
        line = self.line_of(offset)
        start, end = self.line_span(line)
        text = self.data[start:end]
        if index := self._find_column_index(start, text, encoding):
            return Position(line, index.column(text, offset - start))
        return Position(line, column(text, offset - start, encoding))

    def _find_column_index(self, start: int, line: bytes, encoding: Encoding) -> ColumnIndex | None:
        """Return the index of a line, or None if the line is short or its columns need no counting."""
        if len(line) < LONG_LINE_BYTES or encoding == "utf-8" or line.isascii():
            return None
        index = self.column_indexes.get((start, encoding))
        if index is None and (index := ColumnIndex.from_line(line, encoding)):
            self.column_indexes[start, encoding] = index
        return index

    def point(self, offset: int) -> tuple[int, int]:
        """Return the row and the byte column as tree-sitter counts them. Its rows end at `\\n` only."""
        if not self.may_have_returns:
            row = self.line_of(offset)
            return row, offset - self.line_starts[row]
        return self.data.count(b"\n", 0, offset), offset - (self.data.rfind(b"\n", 0, offset) + 1)

    def apply_edit(self, edit: Edit, version: int) -> "Document":
        """Return this text with one edit applied. The line starts are patched, not computed again."""
        start, end, new = edit
        text = memoryview(self.data)
        data = b"".join((text[:start], new, text[end:]))
        shift, may_have_returns = len(new) - (end - start), self.may_have_returns or b"\r" in new
        if not may_have_returns and b"\n" not in new and (start == end or b"\n" not in self.data[start:end]):
            starts = self.line_starts.shift_from(self.line_starts.count_up_to(start), shift)
            indexes = self._edit_column_indexes(edit, data) if self.column_indexes else {}
        else:
            starts, indexes = self._edit_line_starts(edit, data), {}
        return Document(self.uri, self.language, version, data, starts, may_have_returns, indexes)

    def _edit_column_indexes(self, edit: Edit, data: bytes) -> ColumnIndexes:
        """Return the indexes of long lines after an edit within one line. `data` is the text after the edit."""
        indexes: ColumnIndexes = {}
        edited_line = self.line_starts[self.line_of(edit.start)]
        shift = len(edit.new) - (edit.end - edit.start)
        for (start, encoding), index in self.column_indexes.items():
            if start < edited_line:
                indexes[start, encoding] = index
            elif start > edited_line:
                indexes[start + shift, encoding] = index
            else:
                line = data[start : start + index.size + shift]
                edit_in_line = Edit(edit.start - start, edit.end - start, edit.new)
                if new_index := index.apply_edit(edit_in_line, line):
                    indexes[start, encoding] = new_index
        return indexes

    def _edit_line_starts(self, edit: Edit, data: bytes) -> ShiftedOffsets:
        """Return the line starts of `data`, the text after the edit. Only the lines next to the edit are read."""
        start, end, new = edit
        # one line before the edit is read too: the edit may join or split a \r\n pair that begins earlier
        first = max(0, self.line_of(start) - 1)
        last = min(len(self.line_starts), self.line_of(end) + 2)
        shift = len(new) - (end - start)
        stop = self.line_starts[last] + shift if last < len(self.line_starts) else len(data)
        head = self.line_starts[first]
        middle = [head + offset for offset in line_starts(data[head:stop])[1:]]
        if last < len(self.line_starts) and middle and middle[-1] == stop:
            middle.pop()
        return self.line_starts.replace_range(first + 1, last, middle, shift)
