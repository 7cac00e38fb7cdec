"""Removal of secrets from a text that arrives in pieces. A piece may end within a secret."""

import re
from collections.abc import Collection

from lsp_harness.files.secret_values import list_hidden_values
from lsp_harness.files.secrets import KEY_BLOCK, KEY_START, redact

MAX_HELD_BYTES = 65_536
"""Maximum number of bytes that are held back because they may be the start of a secret."""
MAX_END_BYTES = 64
"""Maximum length of the last line of a key."""
BLANKS = (b"\n", b" ", b"\t", b"\r")
KEY_LINE = re.compile(rb"[ +-]?[ \t]*[A-Za-z0-9+/=]{32,}[ \t]*\r?\n")
LAST_KEY_LINE = re.compile(rb"[ +-]?[ \t]*[A-Za-z0-9+/=]{8,}[ \t]*\r?\n")
"""Lines that may be those of a private key. The last one of a key may be short."""
KEY_END = re.compile(rb"-----END [A-Z0-9 ]*-----")
KEY_START_LINE = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")


class SecretStream:
    """The redaction of one text. Give it the pieces in order, and call `finish` at the end.

    Args:
        values: More secrets, which the caller replaces. No piece of the result ends within one.
    """

    def __init__(self, values: Collection[bytes] = ()) -> None:
        self._values = values
        self._held = b""
        self._is_in_key = False

    def feed(self, piece: bytes) -> bytes:
        """Take the next piece. Return what can be shown by now, without secrets."""
        held = self._skip_key(self._held + piece)
        cut = self._cut(held)
        if len(held) - cut > MAX_HELD_BYTES:
            if KEY_START_LINE.search(held, cut):
                # a key without an end: its lines are dropped as they arrive
                self._is_in_key, self._held = True, b""
                return _redact(held)
            cut = len(held)
        self._held = held[cut:]
        return _redact(held[:cut])

    def finish(self) -> bytes:
        """Return the rest, without secrets."""
        rest, self._held = b"" if self._is_in_key else self._held, b""
        return _redact(rest)

    def _skip_key(self, data: bytes) -> bytes:
        if not self._is_in_key:
            return data
        if end := KEY_END.search(data):
            self._is_in_key = False
            return data[end.end() :]
        # the end may arrive in two pieces
        return data[-MAX_END_BYTES:]

    def _cut(self, data: bytes) -> int:
        """Return the number of bytes after which a secret may begin that is not complete."""
        if self._is_in_key:
            return 0
        # no secret but a key contains a blank
        cut = max(data.rfind(blank) for blank in BLANKS) + 1
        # the last line may be the end of a key
        line = data.rfind(b"\n") + 1
        if (lines := _key_lines_start(data, line)) < line:
            cut = lines
        start = data.rfind(KEY_START)
        if (
            start >= 0
            and not KEY_END.search(data, start)
            and (data.find(b"\n", start) < 0 or KEY_BLOCK.match(data, start))
        ):
            # a token may end at the start of the key
            cut = min(cut, max(data.rfind(blank, 0, start) for blank in BLANKS) + 1)
        return _before_values(data, cut, (*self._values, *list_hidden_values()))


def _before_values(data: bytes, cut: int, values: Collection[bytes]) -> int:
    """Return the last place up to `cut` that is not within a value, or within the start of one at the end."""
    while True:
        last = cut
        for value in values:
            # a value may contain blanks, so it may begin before the cut
            start = max(0, cut - len(value) + 1)
            while (start := data.find(value[:1], start, cut)) >= 0:
                if value.startswith(data[start : start + len(value)]):
                    # a token may end at the start of the value
                    cut = max(data.rfind(blank, 0, start) for blank in BLANKS) + 1
                    break
                start += 1
        if cut == last:
            return cut


def _key_lines_start(data: bytes, end: int) -> int:
    """Return where the lines before `end` begin that may be those of a private key whose last line is to come."""
    lines = 0
    while end > 0 and data[end - 1 : end] == b"\n":
        start = data.rfind(b"\n", 0, end - 1) + 1
        is_long = KEY_LINE.fullmatch(data, start, end)
        if not is_long and (lines or not LAST_KEY_LINE.fullmatch(data, start, end)):
            break
        if not is_long and not _is_key_line_before(data, start):
            break
        end, lines = start, lines + 1
    return end


def _is_key_line_before(data: bytes, end: int) -> bool:
    start = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    return bool(KEY_LINE.fullmatch(data, start, end))


def _redact(data: bytes) -> bytes:
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") if data else b""
