"""What was typed at a place since it was looked at, whatever the editor closed behind the cursor by itself."""

from typing import NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
PAIRS = frozenset({*(f"{opening}{closing}".encode() for opening, closing in CLOSING.items()), b"<>"})
"""Put in for one key, the cursor between the two."""


class Since(NamedTuple):
    """`closed` are the brackets and quotes behind the cursor that the editor put in."""

    typed: str
    closed: str


def since(old: Document, begin: int, new: Document, offset: int) -> Since | None:
    """What was typed at byte `begin` of `old` to come to `offset` of `new`; None where the text changed elsewhere, too."""
    if offset < begin or new.data[:begin] != old.data[:begin]:
        return None
    typed, before, behind = decode(new.data[begin:offset]), old.data[begin:], new.data[offset:]
    if behind == before:
        return Since(typed, "")
    closed = closers(typed)
    return Since(typed, closed) if closed and behind == encode(closed) + before else None


def closers(typed: str) -> str:
    """What an editor that closes brackets has behind the cursor after this was typed, character by character."""
    stack: list[str] = []
    for character in typed:
        if stack and character == stack[-1]:
            stack.pop()
        elif character in CLOSING:
            stack.append(CLOSING[character])
    return "".join(reversed(stack))


def before_cursor(new: bytes) -> int:
    """How many bytes of what an edit put in are before the cursor."""
    return 1 if new in PAIRS else len(new)
