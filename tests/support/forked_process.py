"""Python programs that start as copies of a process that has imported their modules before."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER_MODULES = (
    "lsp_harness.server.main",
    "lsp_harness.server.client_settings",
    "lsp_harness.server.features.feature_table",
    "lsp_harness.harness.harness",
    "lsp_harness.harness.indexes.folder_indexes",
    "lsp_harness.completion.completer",
    "lsp_harness.coding.fix",
)
"""Modules that most servers import. None of them starts a thread, because a fork has no other threads than its first
one."""


class ForkedProcess:
    """A running program, with the interface of `asyncio.subprocess.Process`.

    Attributes:
        pid: The process id. The process is no child of this one.
        stdin: Its standard input.
        stdout: Its standard output.
        stderr: Its standard error.
        returncode: The exit status, negative for a signal, or None while it runs.
    """

    pid: int
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self) -> None:
        self.returncode: int | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._output: asyncio.BaseTransport
        self._watch: asyncio.Task[None]

    @classmethod
    async def start(
        cls,
        *arguments: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        limit: int = 2**16,
        preload: tuple[str, ...] = SERVER_MODULES,
    ) -> "ForkedProcess":
        """Start a program.

        Args:
            arguments: Those after `python`: a path or `-m` and a module, and the program's own.
            cwd: The working directory. The default is that of this process.
            env: The environment. The default is that of this process.
            limit: The size of the buffers of its output in bytes.
            preload: The modules that it need not import. Without any, a new Python is started.
        """
        process = cls()
        (stdin, own_stdin), (own_stdout, stdout), (own_stderr, stderr), (own_report, report) = (
            os.pipe() for _ in range(4)
        )
        message = {
            "arguments": arguments,
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "replaces": not preload,
        }
        theirs = [stdin, stdout, stderr, report]
        socket.send_fds(_fork_server(preload).socket, [json.dumps(message).encode()], theirs)
        for descriptor in theirs:
            os.close(descriptor)
        process.stdin = await process._open_writer(own_stdin)
        process.stdout = await process._open_reader(own_stdout, limit)
        process._output = process._transports[-1]
        process.stderr = await process._open_reader(own_stderr, limit)
        status = await process._open_reader(own_report, limit)
        process.pid = int(await status.readline())
        process._watch = asyncio.create_task(process._wait_for_status(status))
        return process

    async def wait(self) -> int:
        """Wait for the end of the program, and return its exit status."""
        await asyncio.shield(self._watch)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if the program still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def close_output(self) -> None:
        """Close the end of standard output that is read here, so that the program writes to nobody."""
        self._output.close()

    def close(self) -> None:
        """Close the streams."""
        for transport in self._transports:
            transport.close()

    async def _wait_for_status(self, status: asyncio.StreamReader) -> None:
        self.returncode = int(await status.readline())

    async def _open_reader(self, descriptor: int, limit: int) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        self._transports.append(transport)
        return reader

    async def _open_writer(self, descriptor: int) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        # a reader is part of the protocol, which has the flow control that a writer needs
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
        transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(descriptor, "wb", 0))
        self._transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, loop)


@dataclass(frozen=True)
class ForkServer:
    """The process that starts programs, and our socket to it. It ends when this process ends."""

    process: subprocess.Popen[bytes]
    socket: socket.socket


@cache
def _fork_server(modules: tuple[str, ...]) -> ForkServer:
    """Return the fork server of this process that has imported these modules. Start it at the first call."""
    # tests end the processes that have the home of their user in the environment
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LSP_HARNESS_")}
    own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno()), *modules],
            cwd=ROOT,
            env=environment,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
        )
    return ForkServer(process, own)
