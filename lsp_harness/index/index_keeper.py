"""Sees that one process keeps the index of a folder, however many front ends have the folder open.

Whoever gets the lock first starts it and hands the lock over; when it ends, its front end with it or not, the lock is free and
the next in line does the same. So there is nothing to find, nothing to ask, and nobody to ask whether the other still lives.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast

from lsp_harness.index.index_place import Place
from lsp_harness.process.activity import POLL_INTERVAL_S, SILENCE_LIMIT_S, ProcessActivity, session_pids
from lsp_harness.process.detached_process import open_log
from lsp_harness.process.leader_lock import wait_for_lock
from lsp_harness.process.line_output import read_line
from lsp_harness.process.termination import STOPPED_STATES, process_state
from lsp_harness.process.tool_run import kill_group

log = logging.getLogger(__name__)

SHORT_SECONDS = 10.0
"""A process that ends within it did not do its work."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
SOON = 2.0
"""The longest wait after one that got something done: what it has written need not be done again, so that the next comes further."""
LEAVE_SECONDS = 1.0


class Keeper:
    """Of one folder, for one front end. `tell` is called with what the process says, while it is ours, which takes up what
    changes on disk where it is to `follow` that."""

    def __init__(self, place: Place, tell: Callable[[Mapping[str, Any]], None], *, follow: bool = True) -> None:
        self._place = place
        self._tell = tell
        self._follow = follow
        self._process: asyncio.subprocess.Process | None = None
        self._did_something = False
        self._first: set[str] = set()
        self._task = asyncio.create_task(self._keep(), name=f"index of {place.root}")

    def first(self, paths: Collection[str]) -> None:
        """Files that should be read before others, by their paths in the folder."""
        self._first |= set(paths)
        self._order(first=sorted(paths))

    def changed(self, paths: Collection[str]) -> None:
        """Files that were written, by their paths in the folder. Where the process is another front end's, its own eyes must do; one
        that begins looks at everything."""
        self._order(changed=sorted(paths))

    def scan(self) -> None:
        """Every file is to be looked at again."""
        self._order(scan=True)

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _keep(self) -> None:
        pause = 0.0
        while True:
            began = monotonic()
            try:
                # who wants the room on the disk may have deleted it
                self._place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._say({"state": "waiting"})
                lock = await wait_for_lock(self._place.lock)
                began, self._did_something = monotonic(), False
                await self._run(lock)
            except OSError as error:
                self._say({"state": "paused", "why": f"its process cannot be started: {error.strerror or error}"})
            except Exception:
                # a bug of ours must not be the end of the index
                log.exception("keeping the index failed")
                self._say({"state": "paused", "why": "the process that updates the index failed; see the log"})
            longest = SOON if self._did_something else LONGEST_WAIT
            pause = min(max(2 * pause, FIRST_WAIT), longest) if monotonic() - began < SHORT_SECONDS else 0.0
            await asyncio.sleep(pause)

    async def _run(self, lock: int) -> None:
        try:
            process = await self._start(lock)
        finally:
            # from here on it is held by the process alone
            os.close(lock)
        self._process = process
        try:
            self._order(first=sorted(self._first))
            assert process.stdout
            said: dict[str, Any] = {"state": "scanning"}

            def idle() -> bool:
                return said["state"] != "scanning" and process_state(process.pid) not in STOPPED_STATES

            activity = ProcessActivity(lambda: session_pids(process.pid), SILENCE_LIMIT_S, idle)
            while line := await read_line(process.stdout, activity, POLL_INTERVAL_S):
                if (known := _said(line)) is None:
                    continue
                said = known
                self._did_something |= said["state"] == "ready" or said.get("done", 0) > 0
                self._say(said)
            async with asyncio.timeout(LEAVE_SECONDS):
                self._say({"state": "ended", "code": await process.wait()})
        except TimeoutError:
            self._say(
                {"state": "paused", "why": "its process gives no sign of life and is ended; another one is started"}
            )
        finally:
            self._process = None
            # it ends with its input; in the middle of something it may be killed, as what it writes are transactions
            if process.stdin:
                process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
            await kill_group(process)

    async def _start(self, lock: int) -> asyncio.subprocess.Process:
        argv = ["--root", str(self._place.root), "--database", str(self._place.database)]
        argv += [] if self._follow else ["--no-follow"]
        with open_log(self._place.log) as log:
            return await asyncio.create_subprocess_exec(
                # -P: what is called like a module in the current folder, which is a workspace's, is none
                *(sys.executable, "-P", "-m", "lsp_harness.index.index_process", *argv),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,
            )

    def _say(self, said: Mapping[str, Any]) -> None:
        try:
            self._tell(said)
        except Exception:
            # whatever becomes of the news, the index is kept
            log.exception("telling of the index failed")

    def _order(self, **order: Any) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")


def _said(line: bytes) -> dict[str, Any] | None:
    """What the process says in a line; None where it was killed in the middle of it."""
    try:
        said: Any = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", said) if isinstance(said, dict) and "state" in said else None
