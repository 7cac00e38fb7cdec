"""The words with which a person at a terminal says yes or no, and the moment from which a line is an answer."""

import sys
from contextlib import suppress

YES, NO = frozenset({"y", "yes"}), frozenset({"n", "no"})


def forget_typed_lines() -> None:
    """Drop what was typed before a question was there: it is no answer to it."""
    with suppress(ImportError, OSError, ValueError):
        import termios

        with suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
