"""A session in a child process, `lsp-harness session`."""

import asyncio
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.sdk.process_session import ProcessSession
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_connection import Frame, read_frame, write_frame
from lsp_harness.wire.session_frames import MAX_FRAME_BYTES

EXIT_WAIT_S = 5.0
"""Time for the child to end after the command `exit`."""
TERM_WAIT_S = 5.0
"""Time for the child to end after SIGTERM."""
KILL_WAIT_S = 5.0
"""Time for the child to end after SIGKILL. A process that waits for a disk ends later."""
STREAM_WAIT_S = 0.5
"""Time for the rest of its output after its end. A process that left the session may still have the pipe open."""
POLL_INTERVAL_S = 0.005
STDERR_TAIL_BYTES = 64 * 2**10
"""The end of standard error that is kept."""
READ_BYTES = 64 * 2**10


class ChildConnection:
    """The connection to a child process.

    Args:
        command: The command line.
        folder: The working folder.
        environment: All environment variables.
    """

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._command = command
        self._folder = folder
        self._environment = environment
        self._process: Process | None = None
        self._session: ProcessSession | None = None
        self._stderr = bytearray()
        self._drain: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def open(self) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self._folder,
                env=self._environment,
                start_new_session=True,
                limit=MAX_FRAME_BYTES,
            )
        except (OSError, ValueError) as error:
            raise HarnessError(f"{self._command[0]} cannot be started: {error}", code="start_failed") from error
        self._session = ProcessSession.of_leader(self._process.pid)
        self._drain = asyncio.create_task(self._drain_stderr(_stream(self._process.stderr)))

    async def _drain_stderr(self, stream: asyncio.StreamReader) -> None:
        # always read: a child whose pipe is full stops in the middle of a turn
        with suppress(OSError):
            while chunk := await stream.read(READ_BYTES):
                self._stderr += chunk
                del self._stderr[:-STDERR_TAIL_BYTES]

    async def read(self) -> dict[str, Any] | None:
        return await read_frame(_stream(self._running().stdout))

    async def write(self, frame: Frame) -> None:
        process = self._running()
        assert process.stdin
        try:
            await write_frame(process.stdin, frame)
        except OSError as error:
            raise await self.end_error() from error

    async def end_error(self) -> HarnessError:
        process = self._running()
        # the end of its output comes a moment before the end of the child
        await _has_ended(process, STREAM_WAIT_S)
        if self._drain:
            await asyncio.wait({self._drain}, timeout=STREAM_WAIT_S)
        stderr = self._stderr.decode("utf-8", "replace")
        status = process.returncode
        what = "closed its output" if status is None else f"ended with status {status}"
        last = stderr.strip().rpartition("\n")[2]
        return HarnessError(
            f"the session {what}{f': {last}' if last else ''}", code="exited", stderr=stderr, exit_code=status
        )

    async def close(self, at_once: bool) -> None:
        process, session = self._process, self._session
        if not process or not session:
            return
        try:
            if not at_once:
                await self._ask_to_exit(process)
            if at_once or not await _has_ended(process, EXIT_WAIT_S):
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
                await _has_ended(process, TERM_WAIT_S)
        finally:
            # also after a normal end: what a tool left behind in the session ends with it
            session.kill()
        await _has_ended(process, KILL_WAIT_S)
        if self._drain:
            await asyncio.wait({self._drain}, timeout=STREAM_WAIT_S)
            self._drain.cancel()
        _close_pipes(process)

    async def _ask_to_exit(self, process: Process) -> None:
        assert process.stdin
        with suppress(OSError, HarnessError):
            await asyncio.wait_for(write_frame(process.stdin, {"command": "exit"}), STREAM_WAIT_S)
        with suppress(OSError):
            process.stdin.close()

    def kill(self) -> None:
        if self._session:
            self._session.kill()

    def _running(self) -> Process:
        if not self._process:
            raise HarnessError("the session is not open", code="closed")
        return self._process


def _stream(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    assert stream
    return stream


async def _has_ended(process: Process, limit_s: float) -> bool:
    """Wait for the end of a child, but not longer than `limit_s`. Return whether it has ended.

    `Process.wait` also waits until the pipes are closed, which a process that the child started may have open.
    """
    deadline = asyncio.get_running_loop().time() + limit_s
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(POLL_INTERVAL_S)
    return process.returncode is not None


def _close_pipes(process: Process) -> None:
    """Close the pipes of a child that has ended. asyncio offers no public way to do so."""
    transport = getattr(process, "_transport", None)
    if transport:
        transport.close()
