"""Client positions, and the byte offsets that all packages below the server use.

A column counts code units of the negotiated encoding. As the protocol asks, a column after the end of the line means
its end, a line after the end of the text means the end of the text, and a column inside a character means the start of
that character.
"""

from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class Position(NamedTuple):
    """A line and a column, both from 0. `character` counts code units of the negotiated encoding."""

    line: int
    character: int


class Span(NamedTuple):
    """A half-open range of byte offsets."""

    start: int
    end: int


def encode(text: str) -> bytes:
    """Encode a text as UTF-8. Lone surrogates, which JSON can carry, are kept."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """Decode what `encode` returns. Bytes that are not UTF-8 become U+FFFD."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def count_units(text: str, encoding: Encoding) -> int:
    """Return the number of code units of `text`."""
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(encode(text))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def byte_column(line: bytes, character: int, encoding: Encoding) -> int:
    """Return the byte column for a column in code units. `line` has no line end."""
    if character <= 0:
        return 0
    if line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        byte = min(character, len(line))
        while 0 < byte < len(line) and line[byte] & 0xC0 == 0x80:
            byte -= 1
        return byte
    text, errors = _decode_lossless(line)
    if encoding == "utf-32":
        return len(text[:character].encode("utf-8", errors))
    counted_units = 0
    for index, char in enumerate(text):
        width = 2 if ord(char) > 0xFFFF else 1
        if counted_units + width > character:
            return len(text[:index].encode("utf-8", errors))
        counted_units += width
    return len(line)


def column(line: bytes, byte: int, encoding: Encoding) -> int:
    """Return the column in code units for a byte column.

    A byte inside a character means the start of that character.
    """
    if line.isascii():
        return min(byte, len(line))
    _, errors = _decode_lossless(line)
    byte = min(byte, len(line))
    while errors == "surrogatepass" and 0 < byte < len(line) and line[byte] & 0xC0 == 0x80:
        byte -= 1
    return byte if encoding == "utf-8" else count_units(line[:byte].decode("utf-8", errors), encoding)


def _decode_lossless(line: bytes) -> tuple[str, str]:
    """Decode a line without loss. Return the text, and the error handler that encodes it again.

    If the line is not UTF-8, each invalid byte is one character.
    """
    try:
        return line.decode("utf-8", "surrogatepass"), "surrogatepass"
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape"), "surrogateescape"
