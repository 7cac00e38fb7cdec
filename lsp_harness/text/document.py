"""One version of one text, as an immutable value: bytes plus the offsets at which its lines start.

Lines end at `\\r\\n`, `\\n` or `\\r` and at nothing else, as the protocol says; `str.splitlines` also splits at form
feeds and U+2028, which would move every edit after one.
"""

import re
from dataclasses import dataclass, field
from hashlib import blake2b

from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, byte_column, column, decode, encode
from lsp_harness.text.shifted import Shifted

TERMINATOR = re.compile(rb"\r\n|\n|\r")


def line_starts(data: bytes) -> list[int]:
    """Offset of the first byte of every line; a text always has at least one line."""
    return [0, *(match.end() for match in TERMINATOR.finditer(data))]


@dataclass(frozen=True, slots=True)
class Document:
    """A text at a version. `uri` is opaque here; `language` is the client's language id."""

    uri: str
    language: str
    version: int
    data: bytes
    starts: Shifted = field(repr=False, compare=False)
    returns: bool = field(repr=False, compare=False)
    """There may be a `\\r` in it."""

    @classmethod
    def of(cls, uri: str, text: str | bytes, *, language: str = "", version: int = 0) -> "Document":
        data = encode(text) if isinstance(text, str) else text
        return cls(uri, language, version, data, Shifted(line_starts(data)), b"\r" in data)

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
        match = TERMINATOR.search(self.data)
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
        return start + byte_column(self.data[start:end], position.character, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """Client position of a byte offset; inside a `\\r\\n` pair it is the line's end."""
        line = self.line_of(offset)
        start, end = self.line_span(line)
        return Position(line, column(self.data[start:end], offset - start, encoding))

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
        else:
            starts = Shifted(self._lines(edit, data))
        return Document(self.uri, self.language, version, data, starts, returns)

    def _lines(self, edit: Edit, data: bytes) -> list[int]:
        """The line starts of `data`, which is this text with the edit applied; only what is next to it is read."""
        start, end, new = edit
        # one byte before: an edit may join or split a \r\n pair that began earlier
        first = max(0, self.line_of(start) - 1)
        last = min(len(self.starts), self.line_of(end) + 2)
        shift = len(new) - (end - start)
        stop = self.starts[last] + shift if last < len(self.starts) else len(data)
        head = self.starts[first]
        middle = [head + at for at in line_starts(data[head:stop])[1:]]
        tail = [at + shift for at in self.starts[last:]]
        if tail and middle and middle[-1] == tail[0]:
            middle.pop()
        return [*self.starts[: first + 1], *middle, *tail]
