"""The keys of a terminal by their names, as a person presses them."""

from collections.abc import Mapping

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "backtab": b"\x1b[Z",
    "backspace": b"\x7f",
    "space": b" ",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "delete": b"\x1b[3~",
}
"""Name of a key → what a terminal sends for it."""
CONTROL_KEYS: Mapping[str, bytes] = {letter: bytes([ord(letter) - 96]) for letter in "abcdefghijklmnopqrstuvwxyz"}
"""Letter → what a terminal sends for it together with Ctrl."""
