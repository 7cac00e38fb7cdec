"""Run a checker to its end: text in, text out, a time limit, and no process left behind."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

from lsp_harness.process.termination import KILL_WAIT_S


class ToolResult(NamedTuple):
    """`code` is None when the time ran out."""

    code: int | None
    out: bytes
    err: bytes


def find_tool(name: str) -> str | None:
    """A tool beside our own interpreter (same environment) or on PATH."""
    beside = Path(sys.executable).parent / name
    if os.access(beside, os.X_OK):
        return str(beside)
    return shutil.which(name)


def _lowered() -> None:
    # checks must not take the cores from the engine
    os.nice(5)


async def run_tool(
    argv: Sequence[str], *, stdin: bytes = b"", cwd: Path | None = None, timeout: float = 20.0
) -> ToolResult:
    """Run `argv` in its own process group; cancelled or too slow, the whole group is killed."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_lowered,
        )
    )
    try:
        async with asyncio.timeout(timeout):
            # interrupted half-way, asyncio would wait for the pipes of what the tool has started by then
            child = await asyncio.shield(starting)
            out, err = await child.communicate(stdin)
        return ToolResult(child.returncode, out, err)
    except TimeoutError:
        return ToolResult(None, b"", b"")
    finally:
        await kill_group(await starting)


async def kill_group(child: asyncio.subprocess.Process) -> None:
    """Kill the group of a child that leads one, also when it has ended by itself: what it left running holds files and
    cores."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    # a process that left the group may keep the pipes open, and `wait` waits for them too
    transport = cast("asyncio.SubprocessTransport", getattr(child, "_transport"))  # noqa: B009
    for descriptor in range(3):
        if pipe := transport.get_pipe_transport(descriptor):
            pipe.close()
    # one that waits for a disk or a driver does not end before that is back
    with suppress(TimeoutError):
        async with asyncio.timeout(KILL_WAIT_S):
            await child.wait()
