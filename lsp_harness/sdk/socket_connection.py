"""A session of a running server, on its local channel."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_connection import Frame, read_frame, write_frame
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES
from lsp_harness.wire.session_socket import session_channel

CLOSE_WAIT_S = 2.0


class SocketConnection:
    """The connection to a server. The command `open` with the options is the first frame.

    Args:
        path: The path of the socket.
        options: The options of the session.
    """

    pid: int | None = None

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        self._path = path
        self._channel = session_channel(path)
        self._options = options
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        if problem := self._channel.problem():
            raise HarnessError(f"{problem}; start `lsp-harness serve` for this folder", code="no_server")
        try:
            self._reader, self._writer = await self._channel.connect(MAX_LINE_BYTES)
            if greeting := self._channel.greeting():
                self._writer.write(greeting)
        except OSError as error:
            raise HarnessError(
                f"no server answers on {self._path}: {error.strerror or error}", code="no_server"
            ) from error
        if problem := self._channel.peer_problem(self._writer.get_extra_info("socket")):
            raise HarnessError(f"{self._path}: {problem}", code="no_server")
        await self.write({"command": "open", "options": self._options})

    async def read(self) -> dict[str, Any] | None:
        assert self._reader
        return await read_frame(self._reader)

    async def write(self, frame: Frame) -> None:
        assert self._writer
        try:
            await write_frame(self._writer, frame)
        except OSError as error:
            raise await self.end_error() from error

    async def end_error(self) -> HarnessError:
        return HarnessError(f"the server closed the connection on {self._path}", code="exited")

    async def close(self, at_once: bool) -> None:
        writer = self._writer
        if not writer:
            return
        with suppress(OSError, HarnessError, TimeoutError):
            if not at_once:
                await asyncio.wait_for(write_frame(writer, {"command": "exit"}), CLOSE_WAIT_S)
        writer.close()
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), CLOSE_WAIT_S)

    def kill(self) -> None:
        if self._writer:
            self._writer.transport.abort()
