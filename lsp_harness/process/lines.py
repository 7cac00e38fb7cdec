"""Run a program that tells of its work line by line, and leave no process behind."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress


async def lines(argv: Sequence[str]) -> AsyncGenerator[str]:
    """The lines of its standard output as they come; whoever leaves early kills it and what it started.

    Its errors go to our own standard error stream, which is a log.
    """
    child = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        assert child.stdout
        async for line in child.stdout:
            yield line.decode("utf-8", "replace").rstrip("\n")
        await child.wait()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
