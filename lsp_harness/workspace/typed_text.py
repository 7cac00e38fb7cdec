"""The text that a user typed at a place, apart from the brackets that the editor inserted by itself."""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

BURST_END_S = 0.6
"""Seconds without a key after which a burst has ended."""
MAX_GAPS = 48
"""Number of gaps that are remembered: about two lines of code."""
MIN_GAPS = 8
"""With fewer gaps, nothing is known of the user's speed."""
MAX_KEY_BYTES = 3
"""Maximum number of bytes that one key inserts: a pair of brackets, or a character of any script."""
COVERED_SHARE = 0.9
"""Share of the short gaps that the wait covers."""
MIN_SHORT_SHARE = 0.5
"""Share of all gaps that must be short enough to wait for. For a slower typist a wait would only delay every answer."""


class TypingRhythm:
    """The speed at which one user types, measured over all documents.

    Args:
        clock: Returns the present time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._gaps_s: deque[float] = deque(maxlen=MAX_GAPS)
        self._last_s: float | None = None

    def add(self, time_s: float, edit: Edit) -> None:
        """Record that the user typed or deleted something at a time of the clock."""
        inserted_text = edit.new.strip(b" \t")
        is_key = edit.end - edit.start <= MAX_KEY_BYTES and (
            len(edit.new) <= MAX_KEY_BYTES or inserted_text in (b"\n", b"\r\n", b"\r")
        )
        if is_key and self._last_s is not None and 0 <= time_s - self._last_s < BURST_END_S:
            self._gaps_s.append(time_s - self._last_s)
        self._last_s = time_s if is_key else None

    def wait_s(self, max_wait_s: float) -> float:
        """Return the seconds to wait for the next key after a key, at most `max_wait_s`."""
        gaps = sorted(self._gaps_s)
        short_gaps = [gap for gap in gaps if gap <= max_wait_s]
        if len(gaps) < MIN_GAPS or len(short_gaps) < MIN_SHORT_SHARE * len(gaps):
            return 0.0
        return short_gaps[min(len(short_gaps) - 1, int(COVERED_SHARE * len(short_gaps)))]


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
