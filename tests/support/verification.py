"""A wait for the verification of accepted edits, which reports nothing if it finds nothing."""

import asyncio

from lsp_harness.harness.verification.accepted_edits import AcceptedEdits


async def wait_until_verified() -> None:
    """Wait until no accepted edit is being verified in this event loop."""
    name = AcceptedEdits._verify.__qualname__
    tasks = [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__qualname__", "") == name]
    if tasks:
        await asyncio.wait(tasks)
