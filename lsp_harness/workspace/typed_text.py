"""The text that a user typed at a place, apart from the brackets that the editor inserted by itself."""

from typing import NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
PAIRS = frozenset({*(f"{opening}{closing}".encode() for opening, closing in CLOSING.items()), b"<>"})
"""Texts that editors insert for one key, with the cursor in the middle."""


class TypedText(NamedTuple):
    """The text that the user typed between two cursors.

    Attributes:
        typed: The text that the user typed.
        closers: The brackets and quotes that the editor inserted behind the cursor.
    """

    text: str
    closers: str


def find_typed_text(old: Document, start: int, new: Document, offset: int) -> TypedText | None:
    """Return the text that was typed at byte `start` of `old` to arrive at byte `offset` of `new`.

    Returns:
        None if the text changed elsewhere, too.
    """
    if offset < start or new.data[:start] != old.data[:start]:
        return None
    typed_text, text_after, new_text_after = decode(new.data[start:offset]), old.data[start:], new.data[offset:]
    if new_text_after == text_after:
        return TypedText(typed_text, "")
    inserted_closers = find_closers(typed_text)
    return (
        TypedText(typed_text, inserted_closers)
        if inserted_closers and new_text_after == encode(inserted_closers) + text_after
        else None
    )


def find_closers(typed_text: str) -> str:
    """Return the text behind the cursor in an editor that closes brackets, after `typed` was typed key by key."""
    stack: list[str] = []
    for character in typed_text:
        if stack and character == stack[-1]:
            stack.pop()
        elif character in CLOSING:
            stack.append(CLOSING[character])
    return "".join(reversed(stack))


def count_bytes_before_cursor(inserted_text: bytes) -> int:
    """Return how many bytes of an inserted text stand before the cursor."""
    return 1 if inserted_text in PAIRS else len(inserted_text)
