"""Notices the end of the editor that started the server. A pipe closes with the editor, but a socket may stay open."""

import asyncio
import logging
import os

from lsp_harness.process.process_table import is_alive

log = logging.getLogger(__name__)

POLL_INTERVAL_S = 2.0


async def wait_for_end(pid: int) -> None:
    """Return when a process has ended.

    If there is no such process at the first call, never return: the number is from another PID namespace (a container)
    and says nothing about the client.
    """
    if not is_alive(pid):
        log.info("process %d is not visible from here and is not watched", pid)
        await asyncio.Event().wait()
    is_parent = os.getppid() == pid
    while is_alive(pid) and (not is_parent or os.getppid() == pid):  # noqa: ASYNC110 - no event tells of the end
        await asyncio.sleep(POLL_INTERVAL_S)
