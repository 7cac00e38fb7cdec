"""An LSP client that can also misbehave: JSON-RPC over a server process's pipes or a socket, nothing in between.

It keeps every message, answers what the server asks of it, and at the end fails the test if any request was answered
not at all or more than once.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.support.forked_process import ForkedProcess

CLIENTS = Path(__file__).parents[1] / "clients"
WAIT = 20.0

Message = dict[str, Any]


class ResponseError(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]


def read_capabilities(client: str) -> Message:
    """Return the capabilities that a client of this name declares. They are a file in `tests/clients`."""
    return json.loads((CLIENTS / f"{client}.json").read_text())


def frame_message(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def encode_messages(*messages: Message) -> bytes:
    return b"".join(frame_message(json.dumps({"jsonrpc": "2.0", **message}).encode()) for message in messages)


class Editor:
    """A connection to one server process."""

    def __init__(self, process: ForkedProcess) -> None:
        self.process = process
        self.received: list[Message] = []
        self.request_ids: list[Any] = []
        """Ids of our requests, as they were sent."""
        self.replies: dict[str, Any] = {"workspace/applyEdit": {"applied": True}}
        """Results for the server's requests, by method; an exception is sent as an error, a function is called."""
        self.muted: set[str] = set()
        """Methods of the server's requests that get no answer."""
        self.errors = ""
        self._changed = asyncio.Condition()
        self._answers: dict[str, Message] = {}
        self._next = 0
        self._shut = False
        self._gone = False
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._tasks: list[asyncio.Task[None]] = []

    # -- connecting
    @classmethod
    async def spawn(cls, *command: str, **options: Any) -> "Editor":
        """Start a server and connect to its standard streams."""
        editor = await cls.start(*command, **options)
        editor.use(editor.process.stdout, editor.process.stdin)
        return editor

    @classmethod
    async def start(cls, *command: str, **options: Any) -> "Editor":
        """Start only the process, for other transports."""
        process = await ForkedProcess.start(*command, limit=2**27, **options)
        editor = cls(process)
        editor._tasks.append(asyncio.create_task(editor._collect_errors()))
        return editor

    def use(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._tasks.append(asyncio.create_task(self._read()))

    async def listening(self, scheme: str) -> int:
        """Return the port that the server reports."""
        mark = f"listening on {scheme}://"
        await self.until(lambda: mark in self.errors and "\n" in self.errors.split(mark)[1])
        return int(self.errors.split(mark)[1].split("\n")[0].rpartition(":")[2])

    async def connect(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", await self.listening("tcp"), limit=2**27)
        self.use(reader, writer)

    # -- talking
    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def hang_up(self) -> None:
        self._writer.close()

    def send(self, *messages: Message) -> None:
        """Send messages in one write. Their ids are recorded, so that missing answers are found at the end."""
        self._shut = self._shut or any(message.get("method") == "shutdown" for message in messages)
        self.request_ids += [message["id"] for message in messages if "id" in message and "method" in message]
        self.write(encode_messages(*messages))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request, and return its id."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params})
        return self._next

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.answer(self.ask(method, params))

    async def answer(self, id: Any) -> Any:
        """Return the result for an id. Raises ResponseError."""
        await self.until(lambda: encode_id(id) in self._answers)
        message = self._answers[encode_id(id)]
        if "error" in message:
            raise ResponseError(message["error"])
        return message["result"]

    async def find_params(self, method: str, accept: Callable[[Any], bool] = lambda params: True) -> Any:
        """Wait for a notification or request of the server, past or future, and return its params."""
        result = await self.find(lambda m: m.get("method") == method and accept(m.get("params")))
        return result.get("params")

    async def find(self, accept: Callable[[Message], bool]) -> Message:
        await self.until(lambda: any(map(accept, self.received)))
        return next(filter(accept, self.received))

    async def until(self, condition: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(WAIT), self._changed:
                await self._changed.wait_for(lambda: condition() or self._gone)
                if not condition():
                    raise TimeoutError  # the server is gone: nothing more will come
        except TimeoutError:
            raise AssertionError(f"waited in vain; last received: {self.received[-3:]}; log: {self.errors}") from None

    # -- the usual course
    async def initialize(self, client: str = "vscode", **params: Any) -> Message:
        whole = {"processId": None, "rootUri": None, "capabilities": read_capabilities(client), **params}
        result = await self.request("initialize", whole)
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, *, version: int = 1, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def close_document(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def leave(self) -> int:
        """Shut the server down, and return its exit status. Fail if an id did not get exactly one answer."""
        if self.process.returncode is None:
            if not self._shut:
                await self.request("shutdown")
            self.notify("exit")
        return await self.ended()

    async def ended(self) -> int:
        """Wait until the process ends by itself, and return its exit status."""
        async with asyncio.timeout(WAIT):
            status = await self.process.wait()
            await asyncio.gather(*self._tasks)
        return status

    def check_answers(self) -> None:
        """Check that each request got exactly one answer."""
        answers = Counter(encode_id(m["id"]) for m in self.received if "method" not in m and m.get("id") is not None)
        assert answers == Counter(map(encode_id, self.request_ids)), self.errors

    async def kill(self) -> None:
        """Kill the process at the end of a test, whatever happened in it."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._tasks and hasattr(self, "_writer"):
            self._writer.close()
        self.process.close()

    # -- underneath
    async def _read(self) -> None:
        try:
            while True:
                header = await self._reader.readuntil(b"\r\n\r\n")
                length = next(int(h.split(b":")[1]) for h in header.split(b"\r\n") if h.startswith(b"Content-Length"))
                await self.take(json.loads(await self._reader.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass

    async def take(self, message: Message) -> None:
        async with self._changed:
            self.received.append(message)
            if "method" not in message:
                self._answers.setdefault(encode_id(message.get("id")), message)
            self._changed.notify_all()
        if "method" in message and "id" in message and message["method"] not in self.muted:
            reply = self.replies.get(message["method"])
            if callable(reply):
                reply = reply(message.get("params"))
            if isinstance(reply, Exception):
                self.write(encode_messages({"id": message["id"], "error": {"code": -32601, "message": str(reply)}}))
            else:
                self.write(encode_messages({"id": message["id"], "result": reply}))

    async def _collect_errors(self) -> None:
        while data := await self.process.stderr.read(2**16):
            async with self._changed:
                self.errors += data.decode(errors="replace")
                self._changed.notify_all()
        async with self._changed:
            self._gone = True
            self._changed.notify_all()


def encode_id(id: Any) -> str:
    """Return an id as it is written in JSON: 1, 1.0 and "1" are three different ids."""
    return json.dumps(id)


async def leave_all(editors: Iterable[Editor]) -> None:
    """End editors properly after a test. Fail if an id was not answered exactly once. No process is left."""
    editors = list(editors)
    try:
        for editor in editors:
            if editor.process.returncode is None:
                await editor.leave()
            editor.check_answers()
    finally:
        for editor in editors:
            await editor.kill()
