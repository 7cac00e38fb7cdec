"""A check whether a text looks hand-written. Such a text is parsed at once, any other text in a separate process first.

Parsers crash or loop on texts that fit hardly any rule of their grammar: symbols without words, control characters, one
bracket a thousand times. The bytes alone show this, in a hundredth of the time of a parse.
"""

BLOCK_BYTES = 4096
MIN_WORD_SHARE = 0.3
"""Minimum share of letters, digits and underscores among the non-blank bytes of a block. In code they make up two
thirds or more."""
MAX_PLAIN_BYTES = 500_000
"""A larger file is not taken for hand-written."""
CONTROL_CHARS = bytes({*range(32), 127} - {*b"\t\n\f\r\x1b"})
BLANK_CHARS = b" \t\n\r\f"
WORD_CHARS = b"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + bytes(range(128, 256))
MIN_COUNTED_BYTES = 64
"""The share of words is not checked in a block with fewer non-blank bytes: the last block may hold just `});`."""


def is_plain_text(data: bytes, start: int = 0, end: int | None = None) -> bool:
    """Return whether the bytes from `start` to `end` look hand-written.

    The blocks at both ends are checked as a whole.
    """
    end = len(data) if end is None else end
    if len(data) > MAX_PLAIN_BYTES:
        return False
    offsets = range(start - start % BLOCK_BYTES, max(end, 1), BLOCK_BYTES)
    return all(_is_plain_block(data[offset : offset + BLOCK_BYTES]) for offset in offsets)


def _is_plain_block(block: bytes) -> bool:
    ink = block.translate(None, BLANK_CHARS)
    if len(ink.translate(None, CONTROL_CHARS)) != len(ink):
        return False
    return len(ink) < MIN_COUNTED_BYTES or len(ink) - len(ink.translate(None, WORD_CHARS)) >= MIN_WORD_SHARE * len(ink)
