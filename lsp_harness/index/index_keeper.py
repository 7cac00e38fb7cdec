"""Keep one process that updates the index of a folder, however many servers have the folder open.

The server that gets the lock of the index starts the process and passes the lock to it. When the process ends, with or
without its server, the lock is free and the next server in the queue does the same. So no server has to find or watch
another one.
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
from lsp_harness.process.activity import POLL_INTERVAL_S, SILENCE_LIMIT_S, ProcessActivity, session_pids
from lsp_harness.process.detached_process import open_log
from lsp_harness.process.inherited_descriptors import inheriting_options
from lsp_harness.process.leader_lock import wait_for_lock
from lsp_harness.process.line_output import read_line
from lsp_harness.process.process_group import group_options
from lsp_harness.process.process_table import process_state
from lsp_harness.process.termination import STOPPED_STATES
from lsp_harness.process.tool_run import kill_group

log = logging.getLogger(__name__)

SHORT_RUN_S = 10.0
"""A process that ends within this time did not do its work."""
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 60.0
LONGEST_DELAY_AFTER_PROGRESS_S = 2.0
"""The longest delay after a process that wrote something: its results are stored, so the next process gets further."""
EXIT_TIMEOUT_S = 1.0


class IndexKeeper:
    """The index process of one folder, for one server."""

    def __init__(
        self, place: IndexPlace, on_state: Callable[[Mapping[str, Any]], None], *, follow: bool = True
    ) -> None:
        """Start to wait for the lock of the index.

        Args:
            place: The folder and its index.
            on_state: Is called with each status of the process, as long as this server owns it.
            follow: Whether the process updates the index when files change on disk.
        """
        self._place = place
        self._on_state = on_state
        self._follow = follow
        self._process: asyncio.subprocess.Process | None = None
        self._made_progress = False
        self._priority_paths: set[str] = set()
        self._task = asyncio.create_task(self._keep(), name=f"index of {place.root}")

    @property
    def is_running(self) -> bool:
        """True if the process of this server runs."""
        return self._process is not None

    def prioritize(self, paths: Collection[str]) -> None:
        """Read these files before others. The paths are relative to the folder."""
        self._priority_paths |= set(paths)
        self._send_order(first=sorted(paths))

    def report_changes(self, paths: Collection[str]) -> None:
        """Report files that were written, by their paths relative to the folder.

        If another server owns the process, nothing is sent: that process notices the change itself. A new process
        checks every file.
        """
        self._send_order(changed=sorted(paths))

    def rescan(self) -> None:
        """Check every file again."""
        self._send_order(scan=True)

    async def close(self) -> None:
        """Stop the process if this server owns it."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _keep(self) -> None:
        delay = 0.0
        while True:
            start = monotonic()
            try:
                # The user may have deleted the folder to free disk space.
                self._place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._report({"state": "waiting"})
                lock = await wait_for_lock(self._place.lock)
                start, self._made_progress = monotonic(), False
                await self._run(lock)
            except OSError as error:
                self._report(
                    {"state": "paused", "why": f"the index process cannot be started: {error.strerror or error}"}
                )
            except Exception:
                # A defect in this code must not stop the updates of the index.
                log.exception("the update of the index failed")
                self._report({"state": "paused", "why": "the process that updates the index failed; see the log"})
            longest_delay = LONGEST_DELAY_AFTER_PROGRESS_S if self._made_progress else LONGEST_DELAY_S
            delay = min(max(2 * delay, FIRST_DELAY_S), longest_delay) if monotonic() - start < SHORT_RUN_S else 0.0
            await asyncio.sleep(delay)

    async def _run(self, lock: int) -> None:
        try:
            process = await self._start(lock)
        finally:
            # From now on the process alone holds the lock.
            os.close(lock)
        self._process = process
        try:
            self._send_order(first=sorted(self._priority_paths))
            assert process.stdout
            status: dict[str, Any] = {"state": "scanning"}

            def is_idle() -> bool:
                return status["state"] != "scanning" and process_state(process.pid) not in STOPPED_STATES

            activity = ProcessActivity(lambda: session_pids(process.pid), SILENCE_LIMIT_S, is_idle)
            while line := await read_line(process.stdout, activity, POLL_INTERVAL_S):
                if (parsed := _parse_status(line)) is None:
                    continue
                status = parsed
                self._made_progress |= status["state"] == "ready" or status.get("done", 0) > 0
                self._report(status)
            async with asyncio.timeout(EXIT_TIMEOUT_S):
                self._report({"state": "ended", "code": await process.wait()})
        except TimeoutError:
            self._report(
                {"state": "paused", "why": "the index process does not respond; it is stopped and started again"}
            )
        finally:
            self._process = None
            # The process ends when its input ends. It may be killed at any time, as it writes in transactions.
            if process.stdin:
                process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), EXIT_TIMEOUT_S)
            await kill_group(process)

    async def _start(self, lock: int) -> asyncio.subprocess.Process:
        argv = ["--root", str(self._place.root), "--database", str(self._place.database)]
        argv += [] if self._follow else ["--no-follow"]
        with open_log(self._place.log) as log:
            return await asyncio.create_subprocess_exec(
                # -P: Python must not import a module from the current folder, which is the workspace's.
                *(sys.executable, "-P", "-m", "lsp_harness.index.index_process", *argv),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                **inheriting_options((lock,)),
                **group_options(),
            )

    def _report(self, status: Mapping[str, Any]) -> None:
        try:
            self._on_state(status)
        except Exception:
            # A failed report must not stop the updates of the index.
            log.exception("reporting the state of the index failed")

    def _send_order(self, **order: Any) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")


def _parse_status(line: bytes) -> dict[str, Any] | None:
    """Return the status in a line of output, or None if the process was killed while it wrote the line."""
    try:
        status: Any = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", status) if isinstance(status, dict) and "state" in status else None
