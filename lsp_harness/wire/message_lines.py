"""The lines of a program that sends one message in each, with a limit for each line."""

from collections.abc import Awaitable, Callable

from lsp_harness.errors import HarnessError
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES

CHUNK_BYTES = 65_536


class LineTooLong(HarnessError):
    """A line was too long, and was left out. The next one can be read."""


class MessageLines:
    """The reader of the output of one program that writes a message on each line.

    Args:
        read: Returns up to as many bytes as it is asked for, and none at the end.
        max_bytes: The longest line.
    """

    def __init__(self, read: Callable[[int], Awaitable[bytes]], max_bytes: int = MAX_LINE_BYTES) -> None:
        self._read, self._max_bytes = read, max_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._has_ended = False

    @property
    def has_ended(self) -> bool:
        """True after the end. A last line that was returned then has no end, so that it may be cut off."""
        return self._has_ended

    async def next(self) -> bytes | None:
        """Return the next line without its end, or None after the last one. The last line needs no end.

        Raises:
            LineTooLong: The line has more bytes than allowed.
        """
        is_cut = False
        while not self._has_ended and (end := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > self._max_bytes:
                is_cut, self._searched = True, 0
                self._buffer.clear()
            data = await self._read(CHUNK_BYTES)
            self._has_ended = not data
            self._buffer += data
        end = self._buffer.find(b"\n", self._searched)
        self._searched = 0
        line = bytes(self._buffer[: end if end >= 0 else None])
        del self._buffer[: end + 1 if end >= 0 else len(self._buffer)]
        if is_cut or len(line) > self._max_bytes:
            raise LineTooLong(f"a line has more than {self._max_bytes:,} bytes")
        return line if line or end >= 0 else None
