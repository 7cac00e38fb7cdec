"""A session in a child process, `lsp-harness session`."""

import asyncio
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.sdk.process_session import SESSION_OPTIONS, ProcessSession
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_connection import Frame, read_frame, write_frame
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES

EXIT_WAIT_S = 5.0
"""Time for the child to end after the command `exit`."""
TERM_WAIT_S = 5.0
"""Time for the child to end after SIGTERM."""
KILL_WAIT_S = 5.0
"""Time for the child to end after SIGKILL. A process that waits for a disk ends later."""
STREAM_WAIT_S = 0.5
"""Time for the rest of its output after its end. A process that left the session may still have the pipe open."""
STDERR_TAIL_BYTES = 64 * 2**10
"""The end of standard error that is kept."""
READ_BYTES = 64 * 2**10
STDOUT, STDERR = 1, 2


class _ChildProtocol(SubprocessStreamProtocol):
    """The streams of a child, and the event that it has ended.

    `Process.wait` is of no use for that: it also waits until the pipes are closed, which a process that the child
    started may have open.
    """

    def __init__(self) -> None:
        super().__init__(limit=MAX_LINE_BYTES, loop=asyncio.get_running_loop())
        self.has_exited = asyncio.Event()

    def process_exited(self) -> None:
        self.has_exited.set()
        super().process_exited()


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
        self._transport: asyncio.SubprocessTransport | None = None
        self._process: Process | None = None
        self._session: ProcessSession | None = None
        self._stderr = bytearray()
        self._tasks: list[asyncio.Task[None]] = []
        self._has_exited = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {"cwd": self._folder, "env": self._environment, **SESSION_OPTIONS}
        pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
        try:
            transport, protocol = await loop.subprocess_exec(_ChildProtocol, *self._command, **pipes, **options)
        except (OSError, ValueError) as error:
            raise HarnessError(f"{self._command[0]} cannot be started: {error}", code="start_failed") from error
        self._transport = transport
        self._session = ProcessSession.of_leader(transport.get_pid())
        self._process = Process(transport, protocol, loop)
        self._has_exited = protocol.has_exited
        self._tasks = [asyncio.create_task(self._drain_stderr()), asyncio.create_task(self._end_output())]

    async def _drain_stderr(self) -> None:
        # always read: a child whose pipe is full stops in the middle of a turn
        stream = _require_stream(self._require_process().stderr)
        with suppress(OSError):
            while chunk := await stream.read(READ_BYTES):
                self._stderr += chunk
                del self._stderr[:-STDERR_TAIL_BYTES]

    async def _end_output(self) -> None:
        """End the output after the end of the child, also if another process still has the pipes open."""
        await self._has_exited.wait()
        await asyncio.sleep(STREAM_WAIT_S)
        for descriptor in (STDOUT, STDERR):
            pipe = self._transport.get_pipe_transport(descriptor) if self._transport else None
            if pipe:
                pipe.close()

    async def read(self) -> dict[str, Any] | None:
        return await read_frame(_require_stream(self._require_process().stdout))

    async def write(self, frame: Frame) -> None:
        process = self._require_process()
        assert process.stdin
        try:
            await write_frame(process.stdin, frame)
        except OSError as error:
            raise await self.end_error() from error

    async def end_error(self) -> HarnessError:
        # the end of its output comes a moment before the end of the child
        await self._wait_for_exit(EXIT_WAIT_S)
        await asyncio.wait(self._tasks, timeout=2 * STREAM_WAIT_S, return_when=asyncio.FIRST_COMPLETED)
        stderr = self._stderr.decode("utf-8", "replace")
        status = self._require_process().returncode
        what = "closed its output" if status is None else f"ended with status {status}"
        last = stderr.strip().rpartition("\n")[2]
        message = f"the session {what}{f': {last}' if last else ''}"
        return HarnessError(message, code="exited", stderr=stderr, exit_code=status)

    async def close(self, at_once: bool) -> None:
        transport, session = self._transport, self._session
        if not transport or not session:
            return
        try:
            if not at_once:
                await self._ask_to_exit()
            if at_once or not await self._wait_for_exit(EXIT_WAIT_S):
                # not `transport.send_signal`, which may take the exit status away from asyncio
                session.terminate_leader()
                await self._wait_for_exit(TERM_WAIT_S)
        finally:
            # also after a normal end: what a tool left behind in the session ends with it
            session.kill()
        await self._wait_for_exit(KILL_WAIT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        transport.close()

    async def _ask_to_exit(self) -> None:
        stream = self._require_process().stdin
        assert stream
        with suppress(OSError, HarnessError):
            await asyncio.wait_for(write_frame(stream, {"command": "exit"}), STREAM_WAIT_S)
        with suppress(OSError):
            stream.close()

    async def _wait_for_exit(self, limit_s: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_exited.wait(), limit_s)
        return self._has_exited.is_set()

    def kill(self) -> None:
        if self._session:
            self._session.kill()

    def _require_process(self) -> Process:
        if not self._process:
            raise HarnessError("the session is not open", code="closed")
        return self._process


def _require_stream(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    assert stream
    return stream
