"""A wait for the verification of accepted edits, which reports nothing if it finds nothing."""

import asyncio

from lsp_harness.harness.verdicts.accepted_edits import AcceptedEdits

QUIET_TURNS = 3
"""Turns of the event loop without a verification. One that waits begins in the turn after another one has ended."""


async def wait_until_verified() -> None:
    """Wait until no accepted edit is being verified in this event loop."""
    name = AcceptedEdits._verify.__qualname__
    quiet_turns = 0
    while quiet_turns < QUIET_TURNS:
        tasks = [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__qualname__", "") == name]
        if tasks:
            await asyncio.wait(tasks)
        else:
            await asyncio.sleep(0)
        quiet_turns = 0 if tasks else quiet_turns + 1
