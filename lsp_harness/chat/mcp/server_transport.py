"""The ways to reach a server of tools: the standard streams of a program, and streamable HTTP."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.chat.mcp.error_output import ErrorOutput
from lsp_harness.chat.mcp.server_messages import CheckedStream, MessageReader, ServerSigns, make_error
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.errors import ConfigError
from lsp_harness.process.tool_run import kill_group
from lsp_harness.wire.message_lines import LineTooLong, MessageLines

if TYPE_CHECKING:
    from mcp.client._transport import Transport

HTTP_READ_S = 3600.0
"""Time between two parts of an answer. The limit of a call is shorter."""
GRACE_S = 2.0
"""Time for a program to end after the end of its input, and again after SIGTERM."""
LOOK_S = 0.01
"""Time between two looks at whether it has ended."""
DISCOVER_S = 4.0
"""Time for a program to answer the first request of the newest protocol. An older one may say nothing to it."""
DISCOVER = "server/discover"


def open_transport(spec: ServerSpec, folder: Path | None, error_output: ErrorOutput, signs: ServerSigns) -> "Transport":
    """Return the transport to a server.

    Args:
        spec: The server, with the values of variables.
        folder: The folder in which a program runs, if the settings name none.
        error_output: It gets the standard error of a program.
        signs: The signs that the messages of the server set.
    """
    return _http(spec, signs) if spec.url else _program(spec, folder, error_output, signs)


@asynccontextmanager
async def _program(
    spec: ServerSpec, folder: Path | None, error_output: ErrorOutput, signs: ServerSigns
) -> AsyncGenerator[tuple[Any, Any]]:
    import anyio
    from mcp.client.stdio import get_default_environment

    cwd = folder / spec.cwd if folder and spec.cwd else spec.cwd or folder
    if cwd and not cwd.is_dir():
        raise ConfigError(
            f"there is no folder {cwd} for the MCP server {spec.name}; correct mcp.servers.{spec.name}.cwd"
        )
    child = await asyncio.create_subprocess_exec(
        *(spec.command, *spec.args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=error_output.file,
        cwd=cwd,
        env={**get_default_environment(), **spec.env},
        start_new_session=True,
    )
    incoming, reader = anyio.create_memory_object_stream[Any](0)
    writer, outgoing = anyio.create_memory_object_stream[Any](0)
    program = _Program(child, MessageReader(signs), incoming, signs)
    tasks = [asyncio.ensure_future(program.read()), asyncio.ensure_future(program.write(outgoing))]
    try:
        yield reader, writer
    finally:
        program.stop()
        # a program must end even if this task is cancelled meanwhile
        await asyncio.shield(asyncio.ensure_future(_end(child, tasks)))
        for stream in (incoming, reader, writer, outgoing):
            stream.close()


class _Program:
    """The messages of a running program."""

    def __init__(
        self, child: asyncio.subprocess.Process, reader: MessageReader, incoming: Any, signs: ServerSigns
    ) -> None:
        self._child, self._reader, self._incoming, self._signs = child, reader, incoming, signs
        self._probing: asyncio.Task[None] | None = None

    async def read(self) -> None:
        """Give its messages to the library until its output ends."""
        import anyio

        assert self._child.stdout
        lines = MessageLines(self._child.stdout.read)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                try:
                    line = await lines.next()
                except LineTooLong as error:
                    # nobody knows which request it answers
                    for message in self._reader.fail_all(error.message):
                        await self._give(message)
                    continue
                if line is None:
                    break
                if (message := self._reader.read(line, is_whole=not lines.has_ended)) is not None:
                    await self._give(message)
        self._close()

    async def write(self, outgoing: Any) -> None:
        """Write the messages of the library until it closes."""
        assert self._child.stdin
        async for item in outgoing:
            try:
                data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            except ValueError as error:
                if (id := getattr(item.message, "id", None)) is not None:
                    await self._give(make_error(id, f"the request cannot be written: {error}"))
                continue
            self._reader.note_sent(item.message)
            if getattr(item.message, "method", "") == DISCOVER:
                self._probing = asyncio.ensure_future(self._give_up(item.message.id))
            try:
                self._child.stdin.write(data + b"\n")
                await self._child.stdin.drain()
            except OSError:
                # it has closed its input, so that no call can reach it
                self._close()
                return

    async def _give_up(self, id: int | str) -> None:
        """Let the library try an older protocol, if the program does not answer the first request."""
        await asyncio.sleep(DISCOVER_S)
        if self._reader.give_up(id):
            await self._give(make_error(id, "the program does not know the newest protocol"))

    def stop(self) -> None:
        """Let nothing wait any more."""
        if self._probing:
            self._probing.cancel()

    def _close(self) -> None:
        self._signs.is_over.set()
        self._incoming.close()

    async def _give(self, message: Any) -> None:
        from mcp.shared.message import SessionMessage

        await self._incoming.send(SessionMessage(message))


async def _end(child: asyncio.subprocess.Process, tasks: "list[asyncio.Task[None]]") -> None:
    """End a program: the end of its input, SIGTERM, and SIGKILL for it and its processes."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert child.stdin
    assert child.stdout
    child.stdin.close()
    # one that is stuck in writing ends only if somebody reads
    draining = asyncio.ensure_future(_drain(child.stdout))
    try:
        if not await _has_ended(child):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGTERM)
            await _has_ended(child)
    finally:
        draining.cancel()
        await kill_group(child)


async def _has_ended(child: asyncio.subprocess.Process) -> bool:
    """Wait for the end of a program. Its `wait` would wait for its children, too, which may hold its pipes open."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_S):
            while child.returncode is None:  # noqa: ASYNC110 - nothing else tells it before the pipes are closed
                await asyncio.sleep(LOOK_S)
    return child.returncode is not None


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.read(65_536):
        pass


@asynccontextmanager
async def _http(spec: ServerSpec, signs: ServerSigns) -> AsyncGenerator[tuple[Any, Any]]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    from lsp_harness.chat.mcp.http_body import MendedBody

    async def mend(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream) and not response.headers.get("content-encoding"):
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            response.stream = MendedBody(response.stream, is_stream=is_stream)

    timeout = httpx2.Timeout(30.0, read=HTTP_READ_S)
    headers = {**spec.headers, "Accept-Encoding": "identity"}
    # a redirection could send the headers, which have keys, to another machine
    async with (
        httpx2.AsyncClient(
            headers=headers, timeout=timeout, follow_redirects=False, event_hooks={"response": [mend]}
        ) as http,
        streamable_http_client(spec.url, http_client=http) as (reader, writer),
    ):
        yield CheckedStream(reader, signs), writer
