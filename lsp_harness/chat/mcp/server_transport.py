"""The ways to reach a server of tools, its messages, which are checked first, and the end of its standard error.

The library drops what it cannot read, and a call then waits until its time is over. It also has codes of its own for a
lost connection and for a late answer, which a server may use for other errors.
"""

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.errors import ConfigError
from lsp_harness.process.process_group import group_options, terminate_leader_group
from lsp_harness.process.tool_run import kill_group
from lsp_harness.text.surrogates import to_scalar_json
from lsp_harness.wire.message_lines import LineTooLong, MessageLines

if TYPE_CHECKING:
    from mcp.client._transport import Transport
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

MAX_BYTES = 4_000


class ErrorOutput:
    """A file that a program writes its errors to. A thread reads it, so that the program never waits.

    It is used as a context manager. Outside of it, nothing can be written.
    """

    def __init__(self) -> None:
        self._tail = b""
        self._file: TextIO | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        reader, writer = os.pipe()
        self._file = os.fdopen(writer, "w")
        self._thread = threading.Thread(target=self._read, args=(reader,), name="MCP error output", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()
        if self._thread:
            # a child that was left running may hold the other end
            self._thread.join(0.2)

    @property
    def file(self) -> TextIO:
        """The file to write to."""
        assert self._file
        return self._file

    @property
    def last_line(self) -> str:
        """The last line that is not blank, or an empty text."""
        lines = self._tail.decode("utf-8", "replace").splitlines()
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def _read(self, reader: int) -> None:
        with open(reader, "rb", buffering=0) as pipe:
            while data := pipe.read(65_536):
                self._tail = (self._tail + data)[-MAX_BYTES:]


CLOSED_CODE, TIMEOUT_CODE = -32000, -32001
"""Codes of the library for a connection that is closed, and for a request without an answer."""
SERVER_CODE = -32099
"""The code that an error of a server has here, if the server has given it a code of the library."""
INVALID_CODE = -32603
TOOLS_CHANGED = "notifications/tools/list_changed"
ANSWER_ID = re.compile(r'"id"\s*:\s*(\d{1,15})\b')
MAX_QUOTED_CHARS = 200
RequestId = int | str


@dataclass(frozen=True, slots=True)
class ServerSigns:
    """Signs of one connection, which its messages set.

    Attributes:
        is_over: The server has ended, or cannot be reached any more.
        tools_changed: The server says that it has other tools than before.
    """

    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    tools_changed: asyncio.Event = field(default_factory=asyncio.Event)


def check_message(message: "JSONRPCMessage", signs: ServerSigns) -> "JSONRPCMessage":
    """Return a message of a server as the library should see it, and note the signs in it."""
    from mcp_types import JSONRPCError, JSONRPCNotification

    if isinstance(message, JSONRPCNotification) and message.method == TOOLS_CHANGED:
        signs.tools_changed.set()
    if isinstance(message, JSONRPCError) and message.error.code in (CLOSED_CODE, TIMEOUT_CODE):
        error = message.error.model_copy(update={"code": SERVER_CODE})
        return message.model_copy(update={"error": error})
    return message


class ServerMessageReader:
    """The reader of the lines that one server of tools writes, and the messages in them.

    Args:
        signs: The signs that its messages set.
    """

    def __init__(self, signs: ServerSigns) -> None:
        self._signs = signs
        self._asked: set[RequestId] = set()

    def note_sent(self, message: "JSONRPCMessage") -> None:
        """Expect an answer to a request of ours."""
        from mcp_types import JSONRPCRequest

        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)

    def read(self, line: bytes, *, is_whole: bool = True) -> "JSONRPCMessage | None":
        """Return the message of a line. One that looks like an answer and is none becomes an error, at once.

        Other lines that are no messages are left out: some servers print what they do.

        Args:
            line: A line of the output of the server.
            is_whole: Whether it has its end. What was cut off says nothing.
        """
        from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

        text = to_scalar_json(line).strip()
        if not text:
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            return self._read_invalid(text) if is_whole else None
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._asked.discard(message.id)
        return check_message(message, self._signs)

    def give_up(self, id: RequestId) -> bool:
        """Expect no answer to a request any more. Return whether there was none until now."""
        is_open = id in self._asked
        self._asked.discard(id)
        return is_open

    def fail_all(self, reason: str) -> "list[JSONRPCMessage]":
        """Return an error for each request that waits for its answer."""
        failed, self._asked = sorted(self._asked, key=str), set()
        return [make_error(id, reason) for id in failed]

    def _read_invalid(self, text: bytes) -> "JSONRPCMessage | None":
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            # an answer that was cut, or has something else in it
            found = ANSWER_ID.search(text.decode()) if text.startswith(b"{") else None
            id = int(found[1]) if found else None
        else:
            id = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) and "method" not in value else None
        if isinstance(id, bool) or not isinstance(id, int | str) or id not in self._asked:
            return None
        self._asked.discard(id)
        quoted = text.decode()
        shown = quoted if len(quoted) <= MAX_QUOTED_CHARS else f"{quoted[:MAX_QUOTED_CHARS]}…"
        return make_error(id, f"its answer is not valid: {shown}")


def make_error(id: RequestId, reason: str) -> "JSONRPCMessage":
    """Return an answer that says why there is none."""
    from mcp_types import ErrorData, JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=INVALID_CODE, message=reason))


class CheckedStream:
    """The messages that a transport of the library reads, each checked.

    Args:
        stream: The stream of the transport.
        signs: The signs that its messages set.
    """

    def __init__(self, stream: Any, signs: ServerSigns) -> None:
        self._stream, self._signs = stream, signs

    @property
    def last_context(self) -> Any:
        """The variables of the sender of the last message."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> "SessionMessage | Exception":
        """Return the next message."""
        return self._check(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> "CheckedStream":
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        return self._check(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._stream.__aexit__(*error)

    def _check(self, item: "SessionMessage | Exception") -> "SessionMessage | Exception":
        if not isinstance(item, Exception):
            item.message = check_message(item.message, self._signs)
        return item


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
    return _open_http(spec, signs) if spec.url else _run_program(spec, folder, error_output, signs)


@asynccontextmanager
async def _run_program(
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
        **group_options(),
    )
    incoming, reader = anyio.create_memory_object_stream[Any](0)
    writer, outgoing = anyio.create_memory_object_stream[Any](0)
    program = _Program(child, ServerMessageReader(signs), incoming, signs)
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
        self, child: asyncio.subprocess.Process, reader: ServerMessageReader, incoming: Any, signs: ServerSigns
    ) -> None:
        self._child, self._reader, self._incoming, self._signs = child, reader, incoming, signs
        self._probing: asyncio.Task[None] | None = None

    async def read(self) -> None:
        """Pass the messages of the server on to the MCP library until the output of the server ends."""
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
        """Let the library try an older protocol, if the server does not answer the first request."""
        await asyncio.sleep(DISCOVER_S)
        if self._reader.give_up(id):
            await self._give(make_error(id, "the program does not know the newest protocol"))

    def stop(self) -> None:
        """End every wait for a message or an answer of the server."""
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
            terminate_leader_group(child.pid)
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
async def _open_http(spec: ServerSpec, signs: ServerSigns) -> AsyncGenerator[tuple[Any, Any]]:
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
