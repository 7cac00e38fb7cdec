"""Positions as clients count them, and the byte offsets everything below the server uses.

A column is counted in code units of the negotiated encoding. Columns past the end of the line mean its end, lines
past the end mean the end of the text, and a column inside a character means that character's start, as the protocol
asks.
"""

from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class Position(NamedTuple):
    """A zero-based line and column; the unit of `character` is the negotiated encoding's."""

    line: int
    character: int


class Span(NamedTuple):
    """A half-open range of byte offsets."""

    start: int
    end: int


def encode(text: str) -> bytes:
    """UTF-8, keeping lone surrogates (JSON can carry them) so that nothing is lost."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """The inverse of `encode`; bytes that are not UTF-8 at all become U+FFFD."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def count_units(text: str, encoding: Encoding) -> int:
    """How many code units `text` takes."""
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(encode(text))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def byte_column(line: bytes, character: int, encoding: Encoding) -> int:
    """The byte column in `line` (without its terminator) for a column in code units."""
    if character <= 0:
        return 0
    if line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        byte = min(character, len(line))
        while 0 < byte < len(line) and line[byte] & 0xC0 == 0x80:
            byte -= 1
        return byte
    text, errors = _countable(line)
    if encoding == "utf-32":
        return len(text[:character].encode("utf-8", errors))
    seen = 0
    for index, char in enumerate(text):
        width = 2 if ord(char) > 0xFFFF else 1
        if seen + width > character:
            return len(text[:index].encode("utf-8", errors))
        seen += width
    return len(line)


def column(line: bytes, byte: int, encoding: Encoding) -> int:
    """The inverse of `byte_column`; inside a character it is that character's start."""
    if line.isascii():
        return min(byte, len(line))
    _, errors = _countable(line)
    byte = min(byte, len(line))
    while errors == "surrogatepass" and 0 < byte < len(line) and line[byte] & 0xC0 == 0x80:
        byte -= 1
    return byte if encoding == "utf-8" else count_units(line[:byte].decode("utf-8", errors), encoding)


def _countable(line: bytes) -> tuple[str, str]:
    """A text from which the very bytes can be made again, and how; of what is not UTF-8 each byte is a character."""
    try:
        return line.decode("utf-8", "surrogatepass"), "surrogatepass"
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape"), "surrogateescape"
