"""Programs that report their work line by line. No process is left when the caller stops reading."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

from lsp_harness.process.activity import POLL_INTERVAL_S, SILENCE_LIMIT_S, ProcessActivity, session_pids
from lsp_harness.process.process_group import group_options, kill_leader_group
from lsp_harness.process.termination import KILL_WAIT_S


async def stream_lines(
    argv: Sequence[str], look_s: float = POLL_INTERVAL_S, silence_s: float = SILENCE_LIMIT_S
) -> AsyncGenerator[str]:
    """Run a program and yield the lines of its standard output. At the end the program and all its children are killed.

    Its standard error is that of this process, which is a log.

    Args:
        argv: The command.
        look_s: Time between two checks of its activity.
        silence_s: Time without output and without work after which TimeoutError is raised.
    """
    child = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, **group_options()
    )
    activity = ProcessActivity(lambda: session_pids(child.pid), silence_s)
    try:
        assert child.stdout
        while line := await read_line(child.stdout, activity, look_s):
            yield line.decode("utf-8", "replace").rstrip("\r\n")
        async with asyncio.timeout(silence_s):
            await child.wait()
    finally:
        kill_leader_group(child.pid)
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_WAIT_S):
                await child.wait()


async def read_line(stream: asyncio.StreamReader, activity: ProcessActivity, look_s: float = POLL_INTERVAL_S) -> bytes:
    """Read the next line of a process.

    It is empty at the end. Raises TimeoutError if `activity` shows that the process is stuck.
    """
    reading = asyncio.ensure_future(stream.readline())
    try:
        while True:
            await asyncio.wait({reading}, timeout=look_s)
            if reading.done():
                activity.record_sign()
                return reading.result()
            if activity.is_stuck():
                raise TimeoutError("the process gives no sign of life")
    finally:
        reading.cancel()
