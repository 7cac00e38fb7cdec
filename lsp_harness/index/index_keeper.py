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

from lsp_harness.index.index_place import IndexPlace
from lsp_harness.process.activity import LOOK_S, SILENCE_S, Activity, session
from lsp_harness.process.detached_process import open_log
from lsp_harness.process.leader_lock import lead
from lsp_harness.process.line_output import next_line
from lsp_harness.process.termination import STOPPED, state
from lsp_harness.process.tool_run import end

log = logging.getLogger(__name__)

SHORT_RUN_S = 10.0
"""A process that ends within it did not do its work."""
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 60.0
LONGEST_DELAY_AFTER_PROGRESS_S = 2.0
"""The longest wait after one that got something done: what it has written need not be done again, so that the next comes further."""
EXIT_TIMEOUT_S = 1.0


class IndexKeeper:
    """Of one folder, for one front end. `tell` is called with what the process says, while it is ours, which takes up what
    changes on disk where it is to `follow` that."""

    def __init__(
        self, place: IndexPlace, on_state: Callable[[Mapping[str, Any]], None], *, follow: bool = True
    ) -> None:
        self._place = place
        self._on_state = on_state
        self._follow = follow
        self._process: asyncio.subprocess.Process | None = None
        self._made_progress = False
        self._priority_paths: set[str] = set()
        self._task = asyncio.create_task(self._keep(), name=f"index of {place.root}")

    def prioritize(self, paths: Collection[str]) -> None:
        """Files that should be read before others, by their paths in the folder."""
        self._priority_paths |= set(paths)
        self._send_order(first=sorted(paths))

    def report_changes(self, paths: Collection[str]) -> None:
        """Files that were written, by their paths in the folder. Where the process is another front end's, its own eyes must do; one
        that begins looks at everything."""
        self._send_order(changed=sorted(paths))

    def rescan(self) -> None:
        """Every file is to be looked at again."""
        self._send_order(scan=True)

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _keep(self) -> None:
        delay = 0.0
        while True:
            start = monotonic()
            try:
                # who wants the room on the disk may have deleted it
                self._place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._report({"state": "waiting"})
                lock = await lead(self._place.lock)
                start, self._made_progress = monotonic(), False
                await self._run(lock)
            except OSError as error:
                self._report({"state": "paused", "why": f"its process cannot be started: {error.strerror or error}"})
            except Exception:
                # a bug of ours must not be the end of the index
                log.exception("keeping the index failed")
                self._report({"state": "paused", "why": "the process that updates the index failed; see the log"})
            longest_delay = LONGEST_DELAY_AFTER_PROGRESS_S if self._made_progress else LONGEST_DELAY_S
            delay = min(max(2 * delay, FIRST_DELAY_S), longest_delay) if monotonic() - start < SHORT_RUN_S else 0.0
            await asyncio.sleep(delay)

    async def _run(self, lock: int) -> None:
        try:
            process = await self._start(lock)
        finally:
            # from here on it is held by the process alone
            os.close(lock)
        self._process = process
        try:
            self._send_order(first=sorted(self._priority_paths))
            assert process.stdout
            status: dict[str, Any] = {"state": "scanning"}

            def is_idle() -> bool:
                return status["state"] != "scanning" and state(process.pid) not in STOPPED

            activity = Activity(lambda: session(process.pid), SILENCE_S, is_idle)
            while line := await next_line(process.stdout, activity, LOOK_S):
                if (parsed := _parse_status(line)) is None:
                    continue
                status = parsed
                self._made_progress |= status["state"] == "ready" or status.get("done", 0) > 0
                self._report(status)
            async with asyncio.timeout(EXIT_TIMEOUT_S):
                self._report({"state": "ended", "code": await process.wait()})
        except TimeoutError:
            self._report(
                {"state": "paused", "why": "its process gives no sign of life and is ended; another one is started"}
            )
        finally:
            self._process = None
            # it ends with its input; in the middle of something it may be killed, as what it writes are transactions
            if process.stdin:
                process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), EXIT_TIMEOUT_S)
            await end(process)

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

    def _report(self, status: Mapping[str, Any]) -> None:
        try:
            self._on_state(status)
        except Exception:
            # whatever becomes of the news, the index is kept
            log.exception("telling of the index failed")

    def _send_order(self, **order: Any) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")


def _parse_status(line: bytes) -> dict[str, Any] | None:
    """What the process says in a line; None where it was killed in the middle of it."""
    try:
        status: Any = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", status) if isinstance(status, dict) and "state" in status else None
