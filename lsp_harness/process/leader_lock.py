"""A lock for work that only one of several processes may do. It is held until the process and its child have ended."""

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.file_lock import lock, open_lock_file
from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError


async def wait_for_lock(path: Path) -> int:
    """Wait until no other process holds the lock on a file, and take it.

    Returns:
        The descriptor of the file. The lock is held until this descriptor and all copies in child processes are closed.
    """
    loop = asyncio.get_running_loop()
    descriptor = open_lock_file(path)
    locked: asyncio.Future[int] = loop.create_future()

    def set_result(error: OSError | None) -> None:
        if locked.cancelled():
            os.close(descriptor)
        elif error:
            os.close(descriptor)
            locked.set_exception(error)
        else:
            locked.set_result(descriptor)

    def wait() -> None:
        failure: OSError | None = None
        try:
            lock(descriptor, waits=True)
        except OSError as error:
            failure = error
        try:
            loop.call_soon_threadsafe(set_result, failure)
        except RuntimeError:
            # the loop is closed, so nobody waits for the lock
            os.close(descriptor)

    # asyncio waits for the threads of its own pool at the end, and this thread may wait forever
    threading.Thread(target=wait, name="wait_for_lock", daemon=True).start()
    try:
        return await locked
    except asyncio.CancelledError:
        # the lock may have been taken just before the cancellation
        if locked.done() and not locked.cancelled() and not locked.exception():
            os.close(locked.result())
        raise


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock."""
    with suppress(FileError), open_regular(path) as file:
        try:
            lock(file.fileno())
        except BlockingIOError:
            return True
    return False
