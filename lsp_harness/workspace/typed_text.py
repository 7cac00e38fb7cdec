"""The text that a user typed at a place, apart from the brackets that the editor inserted by itself."""

from typing import NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
PAIRS = frozenset({*(f"{opening}{closing}".encode() for opening, closing in CLOSING.items()), b"<>"})
"""Texts that editors insert for one key, with the cursor in the middle."""


class TypedText(NamedTuple):
    """The text between two cursors.

    Attributes:
        typed: The text that the user typed.
        closers: The brackets and quotes that the editor inserted behind the cursor.
    """

    typed: str
    closers: str


def typed_between(old: Document, start: int, new: Document, offset: int) -> TypedText | None:
    """Return the text that was typed at byte `start` of `old` to arrive at byte `offset` of `new`.

    Returns:
        None if the text changed elsewhere, too.
    """
    if offset < start or new.data[:start] != old.data[:start]:
        return None
    typed, before, behind = decode(new.data[start:offset]), old.data[start:], new.data[offset:]
    if behind == before:
        return TypedText(typed, "")
    closed = closers(typed)
    return TypedText(typed, closed) if closed and behind == encode(closed) + before else None


def closers(typed: str) -> str:
    """Return the text behind the cursor in an editor that closes brackets, after `typed` was typed key by key."""
    stack: list[str] = []
    for character in typed:
        if stack and character == stack[-1]:
            stack.pop()
        elif character in CLOSING:
            stack.append(CLOSING[character])
    return "".join(reversed(stack))


def before_cursor(inserted: bytes) -> int:
    """Return how many bytes of an inserted text stand before the cursor."""
    return 1 if inserted in PAIRS else len(inserted)
