"""The lines of a person, one for each prompt, from a terminal (`terminal_lines.py`) or from standard input."""

import asyncio
import os
import stat
import sys
from typing import Protocol


async def open_standard_input(limit: int) -> asyncio.StreamReader:
    """Return a reader of standard input.

    Args:
        limit: The largest number of bytes of a line.
    """
    reader = asyncio.StreamReader(limit=limit)
    if _is_stream(sys.stdin.fileno()):
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    else:
        reader.feed_data(await asyncio.to_thread(sys.stdin.buffer.read))
        reader.feed_eof()
    return reader


def _is_stream(descriptor: int) -> bool:
    """Return whether the event loop can wait for input. It cannot for a file and for /dev/null, which have an end."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


MAX_LINE_BYTES = 1_000_000


class LineCancelledError(Exception):
    """The person pressed Ctrl-C, so there is no line."""


class LineReader(Protocol):
    """Reads the lines of a person."""

    async def read(self, prompt: str) -> str | None:
        """Return the next line, which may have been typed before, or None at the end of the input.

        Raises:
            LineCancelledError: The person pressed Ctrl-C.
        """
        ...

    async def answer(self, question: str) -> str | None:
        """Return the next line that is typed after this question has appeared, or None at the end of the input.

        Raises:
            LineCancelledError: The person pressed Ctrl-C.
        """
        ...

    def cancel(self) -> bool:
        """Let the call that waits for a line raise `LineCancelledError`. Return whether there is one."""
        ...


class PipedLines:
    """Reads lines from standard input that is no terminal: a script of a conversation, with its answers."""

    def __init__(self) -> None:
        self._reader: asyncio.StreamReader | None = None

    async def read(self, prompt: str) -> str | None:
        """Return the next line, or None at the end of the input."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        if self._reader is None:
            self._reader = await open_standard_input(MAX_LINE_BYTES)
        try:
            line = await self._reader.readline()
        except ValueError:
            # the line is too long to be one of a person
            line = b""
        sys.stdout.write("\n")
        return line.decode("utf-8", "replace") if line else None

    async def answer(self, question: str) -> str | None:
        """Return the next line, or None at the end of the input. A script writes its answers in advance."""
        return await self.read(question)

    def cancel(self) -> bool:
        """Return false: Ctrl-C ends the command."""
        return False
