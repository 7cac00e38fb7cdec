"""Runs of a command line tool with a time limit. No process of the tool is left afterwards."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

from lsp_harness.process.process_group import group_options, kill_leader_group
from lsp_harness.process.termination import KILL_WAIT_S

PROGRAM_ENDINGS = (".exe", ".cmd", ".bat")
"""Endings of the files of programs on Windows."""


class ToolRunResult(NamedTuple):
    """The result of a run. `exit_code` is None if the time limit was exceeded."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes


def find_tool(name: str) -> str | None:
    """Return the path of a tool in the environment of this interpreter or on PATH, or None."""
    own = Path(sys.executable).parent
    if sys.platform == "win32":
        # not `shutil.which`: it looks into the current folder first, which is the workspace
        folders = [own, *map(Path, filter(None, os.environ.get("PATH", "").split(os.pathsep)))]
        files = (folder / f"{name}{end}" for folder in folders if folder.is_absolute() for end in PROGRAM_ENDINGS)
        return next((str(file) for file in files if file.is_file()), None)
    return str(own / name) if os.access(own / name, os.X_OK) else shutil.which(name)


async def run_tool(
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limit_s: float = 20.0,
) -> ToolRunResult:
    """Run `argv` in its own process group. The whole group is killed at the end.

    Args:
        argv: The command.
        stdin: The standard input of the command.
        cwd: The folder in which the command runs.
        env: The environment of the command. The default is that of this process.
        limit_s: Maximum run time. After it the result has no exit code.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=env,
            **group_options(is_background=True),
        )
    )
    try:
        async with asyncio.timeout(limit_s):
            # without the shield a cancelled start would wait for the pipes of processes that the tool has started
            child = await asyncio.shield(starting)
            stdout, stderr = await child.communicate(stdin)
        return ToolRunResult(child.returncode, stdout, stderr)
    except TimeoutError:
        return ToolRunResult(None, b"", b"")
    finally:
        await kill_group(await starting)


async def kill_group(child: asyncio.subprocess.Process) -> None:
    """Kill the process group that a child leads.

    This is necessary even if the child has ended, because processes that it started may still run.
    """
    kill_leader_group(child.pid)
    # `wait` also waits for the pipes, and a process that left the group may keep them open
    transport = cast("asyncio.SubprocessTransport", getattr(child, "_transport"))  # noqa: B009
    for descriptor in range(3):
        if pipe := transport.get_pipe_transport(descriptor):
            pipe.close()
    # a process that waits for a disk or a driver does not end before that answers
    with suppress(TimeoutError):
        async with asyncio.timeout(KILL_WAIT_S):
            await child.wait()
