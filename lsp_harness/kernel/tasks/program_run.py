"""The run of a program as a task."""

import asyncio
import os
from contextlib import suppress

from lsp_harness.disk.file_reading import system_message
from lsp_harness.errors import UsageError
from lsp_harness.kernel.tasks.task_output import TaskOutput
from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.process.command_shell import clean_environment
from lsp_harness.process.process_tree import GRACE_S, ProcessTree

READ_CHUNK_BYTES = 65_536
DRAIN_S = 1.0
"""Wait for the rest of the output after the end. A process that could not be ended may hold the output open."""


async def run_program(work: ShellWork, output: TaskOutput, grace_s: float = GRACE_S) -> int:
    """Run a program, and end all processes that it leaves. Return its exit status.

    Args:
        work: The program.
        output: Receives its output.
        grace_s: Time to end after SIGTERM.

    Raises:
        UsageError: The program cannot be started.
        TimeoutError: It did not end in time.
    """
    if not work.cwd.is_dir():
        raise UsageError(f"there is no folder {work.cwd}; run the command in a folder that exists")
    if not work.argv:
        raise UsageError("an empty command cannot be started; name a program")
    try:
        # what a shell reads from its environment is no part of the command that was judged
        environment = clean_environment(os.environ if work.env is None else work.env)
        tree = await ProcessTree.start_supervised(work.argv, mark=output.task_id, cwd=work.cwd, env=environment)
    except (OSError, ValueError) as error:
        raise UsageError(f"{work.argv[0]} cannot be started: {system_message(error).lower()}") from error
    copying = asyncio.ensure_future(_copy(tree, output))
    try:
        async with asyncio.timeout(work.timeout_s):
            return await tree.wait()
    finally:
        try:
            await tree.end(grace_s)
            await asyncio.wait({copying}, timeout=DRAIN_S)
        finally:
            copying.cancel()
            tree.close()
            with suppress(asyncio.CancelledError):
                await copying


async def _copy(tree: ProcessTree, output: TaskOutput) -> None:
    while piece := await tree.output.read(READ_CHUNK_BYTES):
        output.write(piece)
