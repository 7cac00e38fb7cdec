"""Standard input as a stream that an event loop can wait for."""

import asyncio
import os
import stat
import sys


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
