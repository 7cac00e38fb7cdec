"""One version of one text, as an immutable value: bytes plus the offsets at which its lines start.

Lines end at `\\r\\n`, `\\n` or `\\r` and at nothing else, as the protocol says; `str.splitlines` also splits at form
feeds and U+2028, which would move every edit after one.
"""

import re
from dataclasses import dataclass, field
from hashlib import blake2b

from lsp_harness.text.columns import LONG_LINE_BYTES, ColumnIndex
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, byte_column, column, decode, encode
from lsp_harness.text.shifted import ShiftedOffsets

LINE_END = re.compile(rb"\r\n|\n|\r")


def line_starts(data: bytes) -> list[int]:
    """Offset of the first byte of every line; a text always has at least one line."""
    return [0, *(match.end() for match in LINE_END.finditer(data))]


@dataclass(frozen=True, slots=True)
class Document:
    """A text at a version. `uri` is opaque here; `language` is the client's language id."""

    uri: str
    language: str
    version: int
    data: bytes
    starts: ShiftedOffsets = field(repr=False, compare=False)
    returns: bool = field(repr=False, compare=False)
    """There may be a `\\r` in it."""
    columns: dict[tuple[int, Encoding], ColumnIndex] = field(
        default_factory=dict[tuple[int, Encoding], ColumnIndex], repr=False, compare=False
    )
    """Where the characters of long lines are, of those that were asked about, by where the line starts."""

    @classmethod
    def of(cls, uri: str, text: str | bytes, *, language: str = "", version: int = 0) -> "Document":
        data = encode(text) if isinstance(text, str) else text
        return cls(uri, language, version, data, ShiftedOffsets(line_starts(data)), b"\r" in data)

    @property
    def text(self) -> str:
        return decode(self.data)

    @property
    def hash(self) -> str:
        """Content hash, the key under which a verdict holds."""
        return blake2b(self.data, digest_size=16).hexdigest()

    @property
    def binary(self) -> bool:
        """A NUL byte near the start: not something to complete or check."""
        return b"\0" in self.data[:8192]

    @property
    def newline(self) -> str:
        """The terminator of the first line, `\\n` where there is none."""
        match = LINE_END.search(self.data)
        return match.group().decode() if match else "\n"

    def line_of(self, offset: int) -> int:
        return self.starts.find(offset) - 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Start and end of a line, without its terminator."""
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.data)
        if end > start and self.data[end - 1 : end] == b"\n":
            end -= 1
        if end > start and self.data[end - 1 : end] == b"\r":
            end -= 1
        return start, end

    def line(self, line: int) -> bytes:
        start, end = self.line_span(line)
        return self.data[start:end]

    def offset(self, position: Position, encoding: Encoding) -> int:
        """Byte offset of a client position, clamped as the protocol asks."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.data)
        start, end = self.line_span(position.line)
        line = self.data[start:end]
        if index := self._columns(start, line, encoding):
            return start + index.byte_column(line, position.character)
        return start + byte_column(line, position.character, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """Client position of a byte offset; inside a `\\r\\n` pair it is the line's end."""
        line = self.line_of(offset)
        start, end = self.line_span(line)
        text = self.data[start:end]
        if index := self._columns(start, text, encoding):
            return Position(line, index.column(text, offset - start))
        return Position(line, column(text, offset - start, encoding))

    def _columns(self, start: int, line: bytes, encoding: Encoding) -> ColumnIndex | None:
        """The index of a line; None for one that is short, or that needs none."""
        if len(line) < LONG_LINE_BYTES or encoding == "utf-8" or line.isascii():
            return None
        known = self.columns.get((start, encoding))
        if known is None and (known := ColumnIndex.of(line, encoding)):
            self.columns[start, encoding] = known
        return known

    def point(self, offset: int) -> tuple[int, int]:
        """Row and byte column as tree-sitter counts them: rows end at `\\n` only."""
        if not self.returns:
            row = self.line_of(offset)
            return row, offset - self.starts[row]
        return self.data.count(b"\n", 0, offset), offset - (self.data.rfind(b"\n", 0, offset) + 1)

    def edited(self, edit: Edit, version: int) -> "Document":
        """This text with one edit applied; the line index is patched, not rebuilt."""
        start, end, new = edit
        text = memoryview(self.data)
        data = b"".join((text[:start], new, text[end:]))
        shift, returns = len(new) - (end - start), self.returns or b"\r" in new
        if not returns and b"\n" not in new and (start == end or b"\n" not in self.data[start:end]):
            starts = self.starts.moved(self.starts.find(start), shift)
            columns = self._moved_columns(edit, data) if self.columns else {}
        else:
            starts, columns = self._lines(edit, data), {}
        return Document(self.uri, self.language, version, data, starts, returns, columns)

    def _moved_columns(self, edit: Edit, data: bytes) -> dict[tuple[int, Encoding], ColumnIndex]:
        """The indexes of long lines after an edit within one line."""
        found: dict[tuple[int, Encoding], ColumnIndex] = {}
        here, shift = self.starts[self.line_of(edit.start)], len(edit.new) - (edit.end - edit.start)
        for (start, encoding), index in self.columns.items():
            if start < here:
                found[start, encoding] = index
            elif start > here:
                found[start + shift, encoding] = index
            else:
                line, within = (
                    data[start : start + index.size + shift],
                    Edit(edit.start - start, edit.end - start, edit.new),
                )
                if edited := index.edited(within, line):
                    found[start, encoding] = edited
        return found

    def _lines(self, edit: Edit, data: bytes) -> ShiftedOffsets:
        """The line starts of `data`, which is this text with the edit applied; only what is next to it is read."""
        start, end, new = edit
        # one byte before: an edit may join or split a \r\n pair that began earlier
        first = max(0, self.line_of(start) - 1)
        last = min(len(self.starts), self.line_of(end) + 2)
        shift = len(new) - (end - start)
        stop = self.starts[last] + shift if last < len(self.starts) else len(data)
        head = self.starts[first]
        middle = [head + at for at in line_starts(data[head:stop])[1:]]
        if last < len(self.starts) and middle and middle[-1] == stop:
            middle.pop()
        return self.starts.replaced(first + 1, last, middle, shift)
