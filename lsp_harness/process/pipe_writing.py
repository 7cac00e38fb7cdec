"""Writing into a pipe whose reader may be stuck."""

import os
import sys

if sys.platform != "win32":
    import select


def write_some(descriptor: int, data: bytes, wait_ms: int) -> bytes:
    """Write the start of some data as soon as the pipe takes any, and return the rest. Raises OSError.

    Args:
        descriptor: The writing end of the pipe.
        data: The data.
        wait_ms: Milliseconds after which nothing is written. Windows cannot wait for a pipe, and writes everything.
    """
    if sys.platform == "win32":
        return data[os.write(descriptor, data) :]
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    if not poll.poll(wait_ms):
        return data
    # so many bytes fit whenever the pipe can take any
    return data[os.write(descriptor, data[: select.PIPE_BUF]) :]
