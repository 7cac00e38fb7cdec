"""The server of tools over standard input and output.

The transport of the library never answers a request that it cannot read, such as one with half a character, and ends at
an answer that it cannot write. Here each request gets one answer.
"""

import asyncio
import json
import os
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from lsp_harness.text.surrogates import to_scalar_value
from lsp_harness.wire import rpc_message
from lsp_harness.wire.checked_messages import CheckedMessages
from lsp_harness.wire.message_lines import MessageLines

if TYPE_CHECKING:
    from mcp.server import MCPServer

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
NO_ANSWER = {"jsonrpc": "2.0", "error": {"code": INTERNAL_ERROR, "message": "the answer is no object"}}
STREAM_BYTES = 1 << 20


async def serve_stdio(server: "MCPServer[None]") -> None:
    """Serve a client until its output ends."""
    with _claim_streams() as (source, sink):
        async with _open_lines(source, sink) as (lines, write):
            incoming, reader = anyio.create_memory_object_stream[Any](0)
            writer, outgoing = anyio.create_memory_object_stream[Any](0)
            pipe = _ServerPipe(lines, write)
            tasks = [asyncio.ensure_future(pipe.read(incoming)), asyncio.ensure_future(pipe.write(outgoing))]
            low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage] - nothing public takes streams
            try:
                await low.run(reader, writer, low.create_initialization_options())
                # the last answers
                writer.close()
                await tasks[1]
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


class _ServerPipe:
    """The messages of one client."""

    def __init__(self, lines: MessageLines, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._lines, self._write = lines, write
        self._checked = CheckedMessages(self._send)

    async def read(self, incoming: Any) -> None:
        """Give the messages of the client to the library until there are no more."""
        with incoming, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while (message := await self._checked.next(self._lines)) is not None:
                await self._give(message, incoming)

    async def write(self, outgoing: Any) -> None:
        """Write the messages of the library until it closes. A client that is gone is told nothing."""
        async for item in outgoing:
            if isinstance(item.message, JSONRPCRequest):
                self._checked.note_request(item.message.id)
            with suppress(OSError):
                await self._write(_encode(item.message))

    async def _give(self, message: dict[str, Any], incoming: Any) -> None:
        try:
            checked = jsonrpc_message_adapter.validate_python(message)
        except ValueError:
            if "method" in message:
                if "id" in message:
                    await self._checked.refuse(message["id"], INVALID_PARAMS, "the parameters must be an object")
                return
            # a request of ours would wait for ever for an answer that is left out
            checked = jsonrpc_message_adapter.validate_python({**NO_ANSWER, "id": message["id"]})
        await incoming.send(SessionMessage(checked))

    async def _send(self, message: dict[str, Any]) -> None:
        with suppress(OSError):
            await self._write(rpc_message.dump(message) + b"\n")


def _encode(message: Any) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        # a file name that is no UTF-8 has halves of characters, which JSON cannot express
        plain = to_scalar_value(message.model_dump(by_alias=True, exclude_unset=True))
        return json.dumps(plain, default=str).encode() + b"\n"


@contextmanager
def _claim_streams() -> Generator[tuple[int, int]]:
    """Yield copies of standard input and output. Children read nothing meanwhile, and stray output is an error."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        os.close(nothing)
        with suppress(OSError):
            os.dup2(source, 0)
            os.dup2(sink, 1)


@asynccontextmanager
async def _open_lines(
    source: int, sink: int
) -> AsyncGenerator[tuple[MessageLines, Callable[[bytes], Awaitable[None]]]]:
    """Yield the lines of the client, and the function that writes to it."""
    yield MessageLines(await _open_reader(source)), await _open_writer(sink)


async def _open_reader(source: int) -> Callable[[int], Awaitable[bytes]]:
    async def read_file(size: int) -> bytes:
        return os.read(source, size)

    # a file is always ready, and no loop can wait for it
    if stat.S_ISREG(os.fstat(source).st_mode):
        return read_file
    stream = asyncio.StreamReader(STREAM_BYTES)
    file = open(source, "rb", 0, closefd=False)  # noqa: SIM115 - the transport closes it
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), file)
    return stream.read


async def _open_writer(sink: int) -> Callable[[bytes], Awaitable[None]]:
    async def write_file(data: bytes) -> None:
        os.write(sink, data)

    if stat.S_ISREG(os.fstat(sink).st_mode):
        return write_file
    loop = asyncio.get_running_loop()
    file = open(sink, "wb", 0, closefd=False)  # noqa: SIM115 - the transport closes it
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    return write
