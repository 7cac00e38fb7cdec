"""Escape sequences of terminals: where they end, so that no chunk of output is cut within one or within a character.

An escape character begins a new sequence wherever it stands (the model of the VT500). So the last one in a chunk
decides whether the chunk ends within a sequence.
"""

import re

ESCAPE = b"\x1b"
MAX_SEQUENCE_BYTES = 65_536
"""Maximum length of a sequence. A longer one is dropped, such as a picture or the rest of a file that is no text."""
COMPLETE_SEQUENCE = re.compile(
    # control characters within a control sequence take effect at once and do not end it
    rb"\x1b(?:\[[0-?\x00-\x17\x19\x1c-\x1f]*[ -/]*(?:[@-~]|[\x18\x1a\x80-\xff\x7f])"
    rb"|\][^\x07\x18\x1a]*[\x07\x18\x1a]"
    rb"|[PX^_][^\x18\x1a]*[\x18\x1a]"
    rb"|[ -/]*[0-OQ-WYZ\\`-~\x18\x1a\x00-\x17\x19\x1c-\x1f\x7f-\xff]"
    rb"|[ -/]+[0-~])",
    re.DOTALL,
)
"""A sequence that begins with the last escape character of a text, and that has its end in the text."""
STRING_OPENING = re.compile(rb"\x1b[\]PX^_]")
STRING_ENDS = re.compile(rb"[\x18\x1a]|\x1b(?!\Z)")
"""The ends of a string that is dropped. `BEL` ends those of operating system commands only."""


class OutputSplitter:
    """The output of one program, in chunks that end neither within an escape sequence nor within a character."""

    def __init__(self) -> None:
        self._held = b""
        self._skipped_opening = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes. Return those before the first unfinished sequence or character."""
        data = self._held + data
        if self._skipped_opening:
            data = self._skip(data)
        cut = find_cut(data)
        self._held = data[cut:]
        if len(self._held) > MAX_SEQUENCE_BYTES:
            self._skipped_opening, self._held = self._held[:2], self._skip_tail(self._held)
        return data[:cut]

    def finish(self) -> bytes:
        """Return the rest at the end of the output, which may be an unfinished sequence."""
        rest, self._held = self._held, b""
        return b"" if self._skipped_opening else rest

    def _skip(self, data: bytes) -> bytes:
        end = STRING_ENDS.search(data)
        bell = data.find(b"\x07") if self._skipped_opening == b"\x1b]" else -1
        if bell >= 0 and (not end or bell < end.start()):
            self._skipped_opening = b""
            return data[bell + 1 :]
        if end:
            self._skipped_opening = b""
            return data[end.start() :].removeprefix(b"\x18").removeprefix(b"\x1a").removeprefix(b"\x1b\\")
        return self._skip_tail(data)

    @staticmethod
    def _skip_tail(data: bytes) -> bytes:
        # the escape character of the end may be there already
        return ESCAPE if data.endswith(ESCAPE) else b""


def find_cut(data: bytes) -> int:
    """Return the number of bytes before the first unfinished sequence or character at the end of a text."""
    last = data.rfind(ESCAPE)
    if last < 0 or COMPLETE_SEQUENCE.match(data, last):
        return len(data) - unfinished_character(data)
    if last == len(data) - 1:
        # it may be the first half of the end of a string
        before = data.rfind(ESCAPE, 0, last)
        if before >= 0 and STRING_OPENING.match(data, before) and not COMPLETE_SEQUENCE.match(data, before, last):
            return before
    return last


def unfinished_character(data: bytes) -> int:
    """Return the number of bytes at the end that begin a character in UTF-8 without its end."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if length < needed and byte < 0xF8 else 0
        if byte < 0x80:
            return 0
    return 0
