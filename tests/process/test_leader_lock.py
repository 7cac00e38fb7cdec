"""Tests that one of several processes leads, and that another one follows when it ends."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.process.leader_lock import is_locked, wait_for_lock


async def test_the_next_process_leads_when_the_first_ends(tmp_path: Path):
    lock = tmp_path / "lock"
    assert not is_locked(lock)
    first = await wait_for_lock(lock)
    other = asyncio.create_task(wait_for_lock(lock))
    assert is_locked(lock)
    await asyncio.sleep(0)
    assert not other.done()
    os.close(first)
    os.close(await other)
    assert not is_locked(lock)


async def test_a_child_with_the_lock_leads_until_it_ends(tmp_path: Path):
    lock = tmp_path / "lock"
    descriptor = await wait_for_lock(lock)
    argv = [sys.executable, "-c", "input()"]
    # the child is a bystander, so asyncio need not watch it
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=(descriptor,))  # noqa: ASYNC220
    os.close(descriptor)
    other = asyncio.create_task(wait_for_lock(lock))
    assert is_locked(lock)
    child.kill()
    os.close(await other)
    child.communicate()


async def test_a_process_that_stops_waiting_does_not_lead_later(tmp_path: Path):
    lock = tmp_path / "lock"
    first = await wait_for_lock(lock)
    waiting = asyncio.create_task(wait_for_lock(lock))
    third = asyncio.create_task(wait_for_lock(lock))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.close(first)
    os.close(await third)
    # whichever of the two that waited came first, both have let go
    os.close(await wait_for_lock(lock))
