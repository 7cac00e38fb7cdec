"""The watch of a folder: a large one does not stop the event loop, and no change is missed."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from lsp_harness.agents.agent_watch import FolderWatch

DEADLINE_S = 60.0


async def test_the_event_loop_runs_while_a_folder_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    loop_runs, watch = threading.Event(), watchfiles.watch
    did_run: list[bool] = []

    def register_slowly(*paths: Any, **options: Any) -> Iterator[Any]:
        """Register the folder only after the event loop did something else."""
        did_run.append(loop_runs.wait(DEADLINE_S))
        return watch(*paths, **options)

    monkeypatch.setattr(watchfiles, "watch", register_slowly)
    watched = FolderWatch(tmp_path)
    asyncio.get_running_loop().call_soon(loop_runs.set)
    await watched.start()
    assert did_run == [True]

    # from the end of the registration on, no change is missed
    (tmp_path / "a.py").write_text("x = 1\n")
    async with asyncio.timeout(DEADLINE_S):
        assert await anext(watched.changes()) == {tmp_path / "a.py"}
        watched.stop()
        assert [batch async for batch in watched.changes()] == []


async def test_a_folder_that_does_not_exist_is_reported(tmp_path: Path):
    watched = FolderWatch(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="No path was found"):
        await watched.start()
    async with asyncio.timeout(DEADLINE_S):
        assert [batch async for batch in watched.changes()] == []
