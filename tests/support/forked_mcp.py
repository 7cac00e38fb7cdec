"""A client's transport to an MCP server that starts as a copy of a process with its modules.

The official one starts a new Python, which imports for seconds. It is tested where the transport is the subject.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from tests.support.forked_process import ForkedProcess

LINE_LIMIT = 2**24
END_S = 30.0


@asynccontextmanager
async def open_forked_stdio_client(
    arguments: Sequence[str], environment: Mapping[str, str], modules: tuple[str, ...]
) -> AsyncGenerator[tuple[Any, Any]]:
    """Start a server, and yield the streams of its messages.

    Args:
        arguments: Those after `python`.
        environment: The environment of the server.
        modules: The modules that it need not import.
    """
    process = await ForkedProcess.start(*arguments, env=environment, limit=LINE_LIMIT, preload=modules)
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with received:
            while line := await process.stdout.readline():
                message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                await received.send(SessionMessage(message))

    async def write() -> None:
        async with sent:
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()

    tasks = [asyncio.create_task(work) for work in (read(), write(), _read_to_end(process.stderr))]
    try:
        yield incoming, outgoing
    finally:
        outgoing.close()
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_S)
        finally:
            process.kill()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            incoming.close()
            process.close()


async def _read_to_end(stream: asyncio.StreamReader) -> None:
    while await stream.read(2**16):
        pass
