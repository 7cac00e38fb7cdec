"""Who of several processes does what only one must do: whoever locks a file first, until its child ends."""

import asyncio
import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import FileProblem


async def wait_for_lock(path: Path) -> int:
    """Waits until nobody else holds the lock. Its descriptor: the lock is held until it, and what a child inherits of it,
    are closed, by a crash at the latest."""
    loop = asyncio.get_running_loop()
    descriptor = os.open(
        remove_irregular_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o600
    )
    locked: asyncio.Future[int] = loop.create_future()

    def tell(error: OSError | None) -> None:
        if locked.cancelled():
            os.close(descriptor)
        elif error:
            os.close(descriptor)
            locked.set_exception(error)
        else:
            locked.set_result(descriptor)

    def wait() -> None:
        failed: OSError | None = None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            failed = error
        try:
            loop.call_soon_threadsafe(tell, failed)
        except RuntimeError:
            # nobody waits any more, the loop included
            os.close(descriptor)

    # not one of the loop's threads: those are waited for at the end, and this one may wait for ever
    threading.Thread(target=wait, name="lead", daemon=True).start()
    try:
        return await locked
    except asyncio.CancelledError:
        # it may have been got in the same moment
        if locked.done() and not locked.cancelled() and not locked.exception():
            os.close(locked.result())
        raise


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock."""
    with suppress(FileProblem), open_regular(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
