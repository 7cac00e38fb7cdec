"""A child process that gets numbered requests and sends messages behind a `Content-Length` header.

The child ends with this process, because its standard input ends then. It leads a process group of its own, so that
what it starts ends with it.
"""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.errors import HarnessError
from lsp_harness.process.process_group import group_options
from lsp_harness.process.tool_run import kill_group
from lsp_harness.wire.message_stream import MessageReader, UnreadableStream

Json = dict[str, Any]
MAX_MESSAGE_BYTES = 64_000_000
MAX_ERROR_LINE_BYTES = 4096
"""How much of the standard error output is kept."""
READ_CHUNK_BYTES = 65536


class ChildFailed(HarnessError):
    """The child ended, or it answered with an error."""


async def start_process(argv: Sequence[str], root: Path) -> asyncio.subprocess.Process:
    """Start a process with pipes in a folder.

    Raises:
        OSError: The command cannot be run.
    """
    pipe = asyncio.subprocess.PIPE
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=root, env=os.environ, **group_options()
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await kill_group(await starting)
        raise


class MessageChild(ABC):
    """A connection to one child process. A subclass knows the protocol.

    Args:
        process: The process, with pipes.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[Hashable, asyncio.Future[Any]] = {}
        self._last_number = 0
        self._has_ended = False
        self._last_words = b""
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._drain())]

    # -- the protocol
    @abstractmethod
    def _send_request(self, number: int, name: str, arguments: Any) -> None: ...

    @abstractmethod
    def _handle(self, message: Json) -> None:
        """Process a message. An exception ends the conversation."""
        ...

    # -- state
    @property
    def has_ended(self) -> bool:
        return self._has_ended

    @property
    def last_words(self) -> str:
        """The last line of the child's error output."""
        lines = self._last_words.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    # -- messages
    async def request(self, name: str, arguments: Any, limit_s: float) -> Any:
        """Send a request and return its answer.

        Raises:
            ChildFailed: The child ended or answered with an error.
            TimeoutError: There was no answer within the limit.
        """
        self._last_number += 1
        answer = self._expect(self._last_number)
        self._send_request(self._last_number, name, arguments)
        return await self._wait(self._last_number, answer, limit_s)

    async def wait_for(self, key: Hashable, limit_s: float) -> Any:
        """Return what the child sends for a key without a request.

        Raises:
            ChildFailed: The child ended.
            TimeoutError: It came not within the limit.
        """
        return await self._wait(key, self._expect(key), limit_s)

    def _expect(self, key: Hashable) -> "asyncio.Future[Any]":
        if self._has_ended:
            raise ChildFailed("the process has ended")
        answer = self._waiting[key] = asyncio.get_running_loop().create_future()
        return answer

    async def _wait(self, key: Hashable, answer: "asyncio.Future[Any]", limit_s: float) -> Any:
        try:
            async with asyncio.timeout(limit_s):
                return await answer
        finally:
            self._waiting.pop(key, None)

    def resolve(self, key: Hashable, result: Any) -> None:
        """Give a result to the caller that waits for a key, if there is one."""
        answer = self._waiting.get(key)
        if answer and not answer.done():
            answer.set_result(result)

    def _refuse(self, key: Hashable, reason: str) -> None:
        answer = self._waiting.get(key)
        if answer and not answer.done():
            answer.set_exception(ChildFailed(reason))

    def _write(self, data: bytes) -> None:
        """Send bytes. Nothing is sent to a child that ended."""
        if not self._has_ended:
            assert self._process.stdin
            self._process.stdin.write(data)

    async def _read(self) -> None:
        assert self._process.stdout
        reader = MessageReader(self._process.stdout, max_bytes=MAX_MESSAGE_BYTES)
        try:
            while body := await reader.read():
                self._handle(json.loads(body))
        except (asyncio.IncompleteReadError, UnreadableStream, OSError, ValueError, TypeError, KeyError):
            # an answer that does not follow the protocol is the end of the conversation, too
            pass
        finally:
            self._has_ended = True
            for key in [*self._waiting]:
                self._refuse(key, "the process has ended")

    async def _drain(self) -> None:
        # a full pipe would stop the child
        assert self._process.stderr
        while part := await self._process.stderr.read(READ_CHUNK_BYTES):
            self._last_words = (self._last_words + part)[-MAX_ERROR_LINE_BYTES:]

    # -- the end
    async def close(self) -> None:
        """End the child and all that it started."""
        self._has_ended = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OSError):
            await kill_group(self._process)
