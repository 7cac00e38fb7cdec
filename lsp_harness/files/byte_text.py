"""Byte text: a text that has one character for each byte.

git compares the bytes of names and patterns. For git `?` matches one byte, even of a letter that has two.
"""

import os

HIGH_BYTE_OFFSET = 0x100
HIGH_BYTE_CHARACTERS = {byte: HIGH_BYTE_OFFSET + byte for byte in (*range(0x80, 0x100), ord("\n"))}
"""Characters for bytes beyond ASCII and for the line feed. Python does not treat them as blanks or line ends."""


def to_byte_text(data: bytes) -> str:
    """Return the byte text of some bytes."""
    return data.decode("latin-1").translate(HIGH_BYTE_CHARACTERS)


def path_to_byte_text(path: str) -> str:
    """Return the byte text of a path."""
    return path if path.isascii() and "\n" not in path else to_byte_text(os.fsencode(path))
