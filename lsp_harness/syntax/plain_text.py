"""Whether a text looks like what people write: such a text is parsed at once, any other in a process first.

Parsers crash, and never end, on texts that hardly any rule of their grammar fits: signs without words, control characters, one bracket
a thousand times. That can be seen from the bytes alone, in a hundredth of the time of a parse.
"""

BLOCK = 4096
LEAST_WORDS = 0.3
"""Of what is not blank in a block of a text, the least share of letters, digits and underscores. Code has two thirds and more."""
LARGEST = 500_000
"""Bytes of what people write in a file."""
CONTROL = bytes({*range(32), 127} - {*b"\t\n\f\r\x1b"})
BLANK = b" \t\n\r\f"
WORD = b"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + bytes(range(128, 256))
SHORT = 64
"""Characters that are not blank of a block from which on its words are counted: a last line may be `});`."""


def plain(data: bytes, start: int = 0, end: int | None = None) -> bool:
    """Whether the bytes from `start` to `end` look so, with the rest of the blocks around them."""
    end = len(data) if end is None else end
    if len(data) > LARGEST:
        return False
    return all(_plain(data[at : at + BLOCK]) for at in range(start - start % BLOCK, max(end, 1), BLOCK))


def _plain(block: bytes) -> bool:
    ink = block.translate(None, BLANK)
    if len(ink.translate(None, CONTROL)) != len(ink):
        return False
    return len(ink) < SHORT or len(ink) - len(ink.translate(None, WORD)) >= LEAST_WORDS * len(ink)
