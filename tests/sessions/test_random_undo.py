"""No text of the user is lost, whatever turns, commands, saves, undos and SIGKILL come in which order."""

import asyncio
import os
import sys

COUNT = os.environ.get("UNDO_INTERLEAVINGS", "2")
"""The number of random interleavings. 300 take twenty minutes."""


async def test_no_text_of_the_user_is_lost():
    # in a process of its own, which forks
    words = ("-m", "tests.sessions.undo_interleavings", "--count", COUNT)
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
