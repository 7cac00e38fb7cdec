"""Identifiers that sort by their time: ULIDs, 48 bits of milliseconds and 80 random bits in 26 characters.

Source: https://github.com/ulid/spec. The ids of sessions, events, tasks and artifacts are of this form.
"""

import re
import threading
from secrets import randbits
from time import time_ns

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The 32 digits, in the order of their bytes (Crockford's base 32)."""
LENGTH, TIME_LENGTH = 26, 10
"""Number of characters of an identifier, and of those that say its time."""
TIME_BITS, RANDOM_BITS = 48, 80
_PATTERN = re.compile(f"[0-7][{ALPHABET}]{{{LENGTH - 1}}}")
"""The first character has three bits only, because 26 of five bits are two more than 128."""


_newest = 0
_newest_lock = threading.Lock()


def make_ulid(milliseconds: int | None = None) -> str:
    """Return a new identifier, which comes after all earlier ones of this process that have the present time.

    Args:
        milliseconds: Its time since 1970. The default is the present.

    Raises:
        ValueError: The time has more than 48 bits.
    """
    global _newest
    time = time_ns() // 1_000_000 if milliseconds is None else milliseconds
    if time >> TIME_BITS:
        raise ValueError(f"the time {time} is not one of a ULID")
    value = time << RANDOM_BITS | randbits(RANDOM_BITS)
    if milliseconds is None:
        with _newest_lock:
            # several of one millisecond, or a clock that was set back
            _newest = value = max(value, _newest + 1)
    return "".join(ALPHABET[value >> 5 * position & 31] for position in reversed(range(LENGTH)))


def read_milliseconds(ulid: str) -> int:
    """Return the time of a valid identifier in milliseconds since 1970."""
    value = 0
    for character in ulid[:TIME_LENGTH]:
        value = value << 5 | ALPHABET.index(character)
    return value


def is_ulid(text: str) -> bool:
    """Return whether a text is an identifier in its only spelling, so that it can be the name of a file."""
    return _PATTERN.fullmatch(text) is not None
