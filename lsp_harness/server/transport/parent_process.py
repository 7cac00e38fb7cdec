"""Ends the server when the editor that started it is gone; a socket does not say so the way a pipe does."""

import asyncio
import logging
import os

log = logging.getLogger(__name__)

INTERVAL = 2.0


async def gone(pid: int) -> None:
    """Returns when the process `pid` is no more. Never, if there was no such process to begin with: then the number
    comes from another PID namespace (a container) and says nothing about the client."""
    if not alive(pid):
        log.info("process %d is not visible from here and is not watched", pid)
        await asyncio.Event().wait()
    ours = os.getppid() == pid
    while alive(pid) and (not ours or os.getppid() == pid):  # noqa: ASYNC110 - no event announces another process's end
        await asyncio.sleep(INTERVAL)


def alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
