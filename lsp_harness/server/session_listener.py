"""Serves sessions to other programs of the user on a Unix socket, so that they share the model of this server."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.disk.file_lock import FileLock
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES, encode_line
from lsp_harness.wire.frame_reading import read_frames
from lsp_harness.wire.session_socket import session_channel, socket_path

if TYPE_CHECKING:
    from lsp_harness.sessions.session_host import FrameQueue

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 32
"""Sessions of other programs at the same time."""
EXIT = {"command": "exit"}


def start(client: EditorClient) -> None:
    """Listen for other programs in the background, if the workspace is trusted and the settings allow it."""
    roots = client.harness.workspace.roots
    is_wanted = client.harness.workspace.is_trusted and client.harness.config.sessions.listen
    if is_wanted and roots:
        client.spawn(SessionListener(client, roots[0]).run(), "serving sessions to other programs")


class SessionListener:
    """The socket of one workspace folder. Each connection is one session.

    Args:
        client: The client whose harness does the work.
        root: The workspace folder.
    """

    def __init__(self, client: EditorClient, root: Path) -> None:
        self._client = client
        self._path = socket_path(root)
        self._channel = session_channel(self._path)
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until the task is cancelled, unless another server of this folder does so already."""
        # the lock tells a socket that is served from one that a killed server left
        lock = FileLock(self._path.with_name(f"{self._path.name}.lock"))
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire()
        except BlockingIOError:
            log.info("another server of this folder serves %s", self._path)
            return
        except OSError as error:
            log.info("other programs cannot use this server: %s", error)
            return
        try:
            await self._serve()
        except OSError as error:
            log.info("other programs cannot use this server: %s: %s", self._path, error.strerror or error)
        finally:
            lock.release()

    async def _serve(self) -> None:
        # this process has the lock, so nobody serves this channel any more
        listening = self._channel.listen()
        try:
            if problem := self._channel.problem():
                log.warning("other programs cannot use this server: %s", problem)
                return
            server = await asyncio.start_server(self._accept_program, sock=listening, limit=MAX_LINE_BYTES)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                server.close()
                for task in self._connections:
                    task.cancel()
                await asyncio.gather(*self._connections, return_exceptions=True)
        finally:
            listening.close()
            with suppress(OSError):
                self._path.unlink()

    async def _accept_program(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            problem = self._channel.peer_problem(writer.get_extra_info("socket"))
            if not problem and not await self._channel.admits(reader):
                problem = "the program does not know the token of this server"
            if not problem and len(self._connections) > MAX_CONNECTIONS:
                problem = f"this server has {MAX_CONNECTIONS} sessions already; end one, or start a session of your own"
            if problem:
                log.warning("refused a connection: %s", problem)
                frame = {"type": "error", "message": problem, "code": "UsageError", "recoverable": False}
                writer.write(encode_line(frame))
                await writer.drain()
                return
            await self._serve_program(reader, writer)
        except (OSError, asyncio.CancelledError):
            # the program has gone, or this server ends
            return
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve_program(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # imported late, because tools import the parser
        from lsp_harness.sessions.session_host import serve_session

        incoming: FrameQueue = asyncio.Queue()
        outgoing: FrameQueue = asyncio.Queue()
        opener = self._client.sessions.open_for_program
        serving = asyncio.ensure_future(serve_session(incoming, outgoing, None, opener))
        reading = asyncio.ensure_future(_read_frames(reader, incoming))
        try:
            while (frame := await outgoing.get()) is not None:
                writer.write(encode_line(frame))
                await writer.drain()
            await serving
        finally:
            reading.cancel()
            if not serving.done():
                # the session closes its log before the harness ends
                incoming.put_nowait(EXIT)
                serving.cancel()
            await asyncio.gather(serving, reading, return_exceptions=True)


async def _read_frames(reader: asyncio.StreamReader, incoming: "FrameQueue") -> None:
    """Pass the lines of a program on. If the program has gone, its session ends."""
    try:
        async for frame in read_frames(reader):
            incoming.put_nowait(frame)
    except OSError:
        return
    finally:
        incoming.put_nowait(EXIT)
