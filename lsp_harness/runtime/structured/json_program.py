"""A running program that speaks JSON on its standard input and output, one object a line."""

import asyncio
import json
import os
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.runtime.agent_errors import AgentError, CliNotFound, SpawnFailed
from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.message_lines import LineTooLong, MessageLines

KEPT_LINES = 2_000
MAX_KEPT_CHARS = 4_000
"""A longer line is remembered up to this length."""
CHUNK_BYTES = 65_536
WRITE_LIMIT_S = 10.0
"""Time for a program to read what it is sent."""
ERROR_LINES_IN_MESSAGE = 5
EXIT_SHARE = 0.5
"""The part of the time of a stop in which a program may end by itself, after its input was closed."""


class JsonProgram:
    """A running program, with all processes that it starts.

    Attributes:
        lines: The last lines that it wrote, errors included, for people.
    """

    def __init__(self, tree: ProcessTree, writer: asyncio.WriteTransport, outlet: "_Outlet") -> None:
        self._tree, self._writer, self._outlet = tree, writer, outlet
        self._incoming = MessageLines(tree.output.read)
        self._errors = deque[str](maxlen=ERROR_LINES_IN_MESSAGE)
        self._reading_errors: asyncio.Task[None] | None = None
        self.lines = deque[str](maxlen=KEPT_LINES)

    @classmethod
    async def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], mark: str) -> "JsonProgram":
        """Start a program.

        Args:
            argv: The command.
            cwd: The folder in which it runs.
            env: Its whole environment.
            mark: The name by which its processes are found.

        Raises:
            CliNotFound: It is not installed.
            SpawnFailed: It cannot be started.
        """
        if not cwd.is_dir():
            raise SpawnFailed(f"there is no folder {cwd}", "name a folder that exists")
        loop = asyncio.get_running_loop()
        input_end, own_input = os.pipe()
        own_errors, errors_end = os.pipe()
        try:
            # the program's errors are kept apart from its protocol
            tree = await ProcessTree.start(
                argv, mark=mark, cwd=cwd, env=env, stdin=input_end, prepare=lambda: _redirect_errors(errors_end)
            )
        except OSError as error:
            os.close(own_input)
            os.close(own_errors)
            if isinstance(error, FileNotFoundError):
                raise CliNotFound(f"{argv[0]} is not installed", f"install {argv[0]}") from error
            raise SpawnFailed(f"{argv[0]} cannot be started: {error.strerror}", "run it in a terminal") from error
        finally:
            os.close(input_end)
            os.close(errors_end)
        outlet = _Outlet()
        writer, _ = await loop.connect_write_pipe(lambda: outlet, os.fdopen(own_input, "wb", 0))
        program = cls(tree, writer, outlet)
        errors = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(errors), os.fdopen(own_errors, "rb", 0)
        )
        program._reading_errors = asyncio.ensure_future(program._read_errors(errors, transport))
        return program

    @property
    def error_text(self) -> str:
        """The last lines on its standard error."""
        return "\n".join(self._errors)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object.

        Raises:
            AgentError: The program has ended, or it does not read.
        """
        if self._writer.is_closing():
            raise AgentError("the agent has ended", "start another agent")
        self._writer.write(json.dumps(message).encode() + b"\n")
        try:
            async with asyncio.timeout(WRITE_LIMIT_S):
                await self._outlet.drained.wait()
        except TimeoutError:
            raise AgentError("the agent does not read what it is sent", "stop it") from None

    async def receive(self) -> dict[str, Any] | None:
        """Return the next object, or None at the end of the output. Lines that are no objects are left out."""
        while True:
            try:
                line = await self._incoming.next()
            except LineTooLong as error:
                self._remember(error.message.encode())
                continue
            if line is None:
                return None
            self._remember(line)
            if (message := _parse(line)) is not None:
                return message

    async def wait(self) -> int:
        """Wait until the program has ended, and return its exit status or minus the number of a signal."""
        return await self._tree.wait()

    async def end(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and all processes that it started: end of input, SIGTERM, SIGKILL.

        Args:
            force: Kill it at once.
            timeout_s: Time for it to end before it is killed.

        Returns:
            The numbers of processes that still run.
        """
        self._writer.close()
        grace_s = 0.0
        if not force:
            share_s = timeout_s * EXIT_SHARE
            await asyncio.wait({asyncio.ensure_future(self._tree.wait())}, timeout=share_s)
            grace_s = timeout_s - share_s
        left = await self._tree.end(grace_s=grace_s)
        self._tree.close()
        if self._reading_errors:
            # a process that could not be ended may hold the pipe open
            self._reading_errors.cancel()
        return left

    async def _read_errors(self, errors: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        pending = b""
        try:
            while data := await errors.read(CHUNK_BYTES):
                *lines, pending = (pending + data).split(b"\n")
                pending = pending[:MAX_KEPT_CHARS]
                for line in lines:
                    self._remember(line, is_error=True)
        finally:
            transport.close()

    def _remember(self, line: bytes, *, is_error: bool = False) -> None:
        text = line[:MAX_KEPT_CHARS].decode(errors="replace").rstrip()
        self.lines.append(text)
        if is_error and text:
            self._errors.append(text)


class _Outlet(asyncio.BaseProtocol):
    """The state of the pipe to the program.

    Attributes:
        drained: Is set while the program keeps up with reading, and after the end of the pipe.
    """

    def __init__(self) -> None:
        self.drained = asyncio.Event()
        self.drained.set()

    def pause_writing(self) -> None:
        """Wait from now on."""
        self.drained.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self.drained.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        self.drained.set()


def _redirect_errors(descriptor: int) -> None:
    os.dup2(descriptor, 2)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(to_scalar_json(line))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", message) if isinstance(message, dict) else None
