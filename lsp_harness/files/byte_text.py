"""Text with a character for each byte: git compares the bytes of names and patterns, and `?` is one byte of a letter that has two."""

import os

HIGH_BYTE_OFFSET = 0x100
HIGH_BYTE_CHARACTERS = {byte: HIGH_BYTE_OFFSET + byte for byte in (*range(0x80, 0x100), ord("\n"))}
"""Bytes beyond ASCII, and the end of a line, get characters that no rule about blanks or lines is about."""


def to_byte_text(data: bytes) -> str:
    return data.decode("latin-1").translate(HIGH_BYTE_CHARACTERS)


def path_to_byte_text(path: str) -> str:
    """A path as `bytewise` has its bytes."""
    return path if path.isascii() and "\n" not in path else to_byte_text(os.fsencode(path))
