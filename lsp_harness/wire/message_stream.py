"""Messages behind a `Content-Length` header, as the Language Server Protocol sends them over a stream of bytes.

Peers differ in what a bad header means. A client over a pipe gets a parse error, and reading continues at the next
header. A child process that sends one is ended. On a socket, to which any program can connect, the first line that is
no header ends the connection.
"""

import asyncio
import re
from collections.abc import Callable
from typing import NoReturn

MAX_MESSAGE_BYTES = 512 * 2**20
LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*$", re.IGNORECASE)
HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:")
BLANK_LINES = (b"\r\n", b"\n")


class UnreadableStream(Exception):
    """A failure of framing: nobody knows where the next message begins."""


def _refuse(fault: str) -> NoReturn:
    raise UnreadableStream(fault)


def frame(body: bytes) -> bytes:
    """Return the body of a message behind its header."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class MessageReader:
    """Reads one message after the other.

    Args:
        stream: The bytes of the peer.
        report: Called with the fault of a header. Reading continues at the next header, unless it raises an exception.
        strict: Whether a line that is not a header ends the reading.
        max_bytes: The longest message that is read.
    """

    def __init__(
        self,
        stream: asyncio.StreamReader,
        report: Callable[[str], None] = _refuse,
        *,
        strict: bool = False,
        max_bytes: int = MAX_MESSAGE_BYTES,
    ) -> None:
        self._stream = stream
        self._report = report
        self._strict = strict
        self._max_bytes = max_bytes

    async def read(self) -> bytes | None:
        """Return the body of the next message, or None at the end of the stream.

        Raises:
            UnreadableStream: A header leaves open where the next message begins.
            ValueError: A line is longer than the limit of the stream.
            asyncio.IncompleteReadError: The stream ended in the middle of a message.
            ConnectionError: The connection is lost.
        """
        length = await self._read_length()
        return None if length is None else await self._stream.readexactly(length)

    async def _read_length(self) -> int | None:
        length: int | None = None
        fault = ""
        has_header = False
        while line := await self._stream.readline():
            if line in BLANK_LINES:
                if length is not None:
                    return length
                if has_header:
                    self._report(fault or "a message header without Content-Length")
                fault, has_header = "", False
                continue
            has_header = True
            # `search`, because the end of a message that was longer than its header said comes before the next header
            match = LENGTH.search(line)
            if match and not (self._strict and match.start()):
                length = int(match[1])
                if length > self._max_bytes:
                    self._report(f"a message of {length} bytes is too long")
                    raise UnreadableStream(f"a message has {length} bytes, which is too long")
            elif self._strict and not HEADER.match(line):
                raise UnreadableStream("the stream has a line that is not a message header")
            elif line.lower().startswith(b"content-length"):
                fault = "Content-Length is not a number of bytes"
        return None
