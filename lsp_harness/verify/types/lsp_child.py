"""A language server as a child process, with JSON-RPC over its standard input and output.

The child ends with this process, because its standard input ends then. It leads a process group of its own, so that
what it starts ends with it.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import HarnessError
from lsp_harness.process.tool_run import kill_group
from lsp_harness.wire.message_stream import MessageReader, UnreadableStream, frame

Json = dict[str, Any]
START_LIMIT_S = 20.0
"""How long a child may take to answer `initialize`."""
MAX_MESSAGE_BYTES = 64_000_000
MAX_ERROR_LINE_BYTES = 4096
"""How much of the standard error output is kept."""
READ_CHUNK_BYTES = 65536
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "window": {"workDoneProgress": False},
    # with a dynamic registration, `ty` answers no request for diagnostics before it has registered
    "textDocument": {"diagnostic": {"dynamicRegistration": False}, "synchronization": {}},
}


class ChildFailed(HarnessError):
    """The child ended, or it answered with an error."""


class LspChild:
    """A connection to one child process.

    Args:
        process: The process, with pipes.
        settings: The answer to `workspace/configuration`.

    Attributes:
        encoding: The encoding of columns that the child chose.
    """

    def __init__(self, process: asyncio.subprocess.Process, settings: Callable[[], Json]) -> None:
        self._process = process
        self._settings = settings
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._has_ended = False
        self._last_words = b""
        self.encoding = "utf-16"
        self._tasks = [asyncio.ensure_future(self._read()), asyncio.ensure_future(self._drain())]

    @classmethod
    async def start(cls, argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> "LspChild":
        """Start a child for a workspace folder, and initialize it.

        Args:
            argv: The command.
            root: The workspace folder, in which the child runs.
            settings: Returns the settings that the child gets.

        Raises:
            OSError: The command cannot be run.
            ChildFailed: The child ended.
            TimeoutError: The child did not answer.
        """
        pipe = asyncio.subprocess.PIPE
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=root, env=os.environ, start_new_session=True
            )
        )
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await kill_group(await starting)
            raise
        child = cls(process, settings)
        try:
            await child._initialize(root)
        except BaseException:
            await child.close()
            raise
        return child

    async def _initialize(self, root: Path) -> None:
        params = {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "capabilities": CAPABILITIES,
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
            "initializationOptions": self._settings(),
        }
        answer = await self.request("initialize", params, START_LIMIT_S)
        self.encoding = answer["capabilities"].get("positionEncoding", "utf-16")
        self.notify("initialized", {})

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
    def notify(self, method: str, params: Any) -> None:
        """Send a notification. Nothing is sent to a child that ended."""
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: Any, limit_s: float) -> Any:
        """Send a request and return its answer.

        Raises:
            ChildFailed: The child ended or answered with an error.
            TimeoutError: There was no answer within the limit.
        """
        if self._has_ended:
            raise ChildFailed("the process has ended")
        self._last_id += 1
        number, answer = self._last_id, asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._send({"id": number, "method": method, "params": params})
        try:
            async with asyncio.timeout(limit_s):
                return await answer
        finally:
            self._waiting.pop(number, None)

    def _send(self, message: Json) -> None:
        if self._has_ended:
            return
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(frame(body))

    async def _read(self) -> None:
        assert self._process.stdout
        reader = MessageReader(self._process.stdout, max_bytes=MAX_MESSAGE_BYTES)
        try:
            while body := await reader.read():
                self._handle(json.loads(body))
        except (asyncio.IncompleteReadError, UnreadableStream, OSError, ValueError, TypeError, KeyError):
            # an answer that is no JSON-RPC is the end of the conversation, too
            pass
        finally:
            self._has_ended = True
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ChildFailed("the process has ended"))

    async def _drain(self) -> None:
        # a full pipe would stop the child
        assert self._process.stderr
        while part := await self._process.stderr.read(READ_CHUNK_BYTES):
            self._last_words = (self._last_words + part)[-MAX_ERROR_LINE_BYTES:]

    def _handle(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            answer = self._waiting.get(message["id"])
            if answer is None or answer.done():
                return
            if error := cast("Mapping[str, Any] | None", message.get("error")):
                answer.set_exception(ChildFailed(f"it answered: {error.get('message')}"))
            else:
                answer.set_result(message.get("result"))
        elif "id" in message:
            # other requests are registrations and progress, whose answer is empty
            items = cast("Json", message.get("params") or {}).get("items", [])
            result = [self._settings() for _ in items] if method == "workspace/configuration" else None
            self._send({"id": message["id"], "result": result})

    # -- the end
    async def close(self) -> None:
        """End the child and all that it started."""
        self._has_ended = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OSError):
            await kill_group(self._process)
