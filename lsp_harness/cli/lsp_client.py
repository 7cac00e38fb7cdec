"""A small LSP client over the standard streams of a server, for the demo and for measurements.

It writes plain JSON-RPC and answers the requests of the server. It uses no code of the server, so it gets what an
editor would get.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from lsp_harness.errors import HarnessError
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Position, decode, encode
from lsp_harness.wire.message_stream import MessageReader, UnreadableStream, frame

Json = dict[str, Any]
INVOKED, AUTOMATIC = 1, 2
"""The values of `InlineCompletionTriggerKind`: the user asks, or the editor asks while the user types."""
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "configuration": True},
    "textDocument": {
        "inlineCompletion": {"dynamicRegistration": False},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "publishDiagnostics": {"versionSupport": True},
    },
}


class RpcError(HarnessError):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"the server answered {code}: {message}")
        self.code = code


class LspClient:
    """A connection to one server process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.initialize_ms = 0.0
        self.notifications: list[Json] = []
        self.on_progress: Callable[[str], None] = lambda message: None
        self.on_message: Callable[[Json], None] = lambda message: None
        """Called with each notification and each request of the server."""
        self.settings: Json | None = None
        """The settings of the editor that the server gets when it requests them."""
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ids = 0
        self._texts: dict[str, Document] = {}
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        root: Path,
        *command: str,
        env: dict[str, str] | None = None,
        experimental: Json | None = None,
        capabilities: Json = CAPABILITIES,
    ) -> AsyncGenerator["LspClient"]:
        """Start a server for the workspace `root` and initialize it. Shut it down at the end.

        Args:
            root: The workspace folder.
            command: The command of the server. By default it is ours.
            env: The environment of the server.
            experimental: Experimental capabilities of the client.
            capabilities: The other capabilities of the client.
        """
        argv = command or (sys.executable, "-P", "-m", "lsp_harness", "serve")
        start = perf_counter()
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=root, env=env
        )
        client = cls(process)
        try:
            folder = {"uri": root.as_uri(), "name": root.name}
            params = {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": capabilities | ({"experimental": experimental} if experimental else {}),
                "workspaceFolders": [folder],
            }
            await client.request("initialize", params)
            client.initialize_ms = (perf_counter() - start) * 1000
            client.notify("initialized", {})
            yield client
            await client.request("shutdown", None)
            client.notify("exit", None)
            await process.wait()
        finally:
            client._reader.cancel()
            if process.returncode is None:
                process.kill()
                await process.wait()

    # -- messages
    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, method: str, params: Any) -> tuple[int, "asyncio.Future[Any]"]:
        """Send a request without waiting, and return its id and the future of its answer."""
        self._ids += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._ids] = answer
        self._send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        return self._ids, answer

    async def request(self, method: str, params: Any) -> Any:
        """Send a request and return its answer. Raise RpcError."""
        return await self.begin(method, params)[1]

    def _send(self, message: Json) -> None:
        assert self.process.stdin
        body = json.dumps(message).encode()
        self.process.stdin.write(frame(body))

    async def _read(self) -> None:
        assert self.process.stdout
        reader = MessageReader(self.process.stdout)
        try:
            while body := await reader.read():
                self._handle(json.loads(body))
        except (asyncio.IncompleteReadError, UnreadableStream):
            pass
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(HarnessError("the server ended"))

    def _handle(self, message: Json) -> None:
        if "method" not in message:
            answer = self._waiting.pop(message["id"])
            if answer.done():
                return
            if error := message.get("error"):
                answer.set_exception(RpcError(error["code"], error["message"]))
            else:
                answer.set_result(message.get("result"))
        elif "id" in message:
            params: Json = message.get("params") or {}
            is_about_settings = message["method"] == "workspace/configuration"
            result = [self.settings] * len(params["items"]) if is_about_settings else None
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            self.on_message(message)
        else:
            self.notifications.append(message)
            self.on_message(message)
            if message["method"] == "$/progress" and (line := message["params"]["value"].get("message")):
                self.on_progress(line)

    def last_state(self, name: str) -> Any:
        """Return one value of the last `lspHarness/status`, or None. The client must announce that it reads them."""
        states: list[Json] = [note["params"] for note in self.notifications if note["method"] == "lspHarness/status"]
        return states[-1].get(name) if states else None

    # -- documents
    def open(self, file: Path, text: str, language: str) -> str:
        """Open a document, and return its URI."""
        uri = file.as_uri()
        self._texts[uri] = Document.from_text(uri, text, language=language, version=1)
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, text: str) -> None:
        """Replace the whole text."""
        old = self._texts[uri]
        self._texts[uri] = Document.from_text(uri, text, language=old.language, version=old.version + 1)
        document = {"uri": uri, "version": old.version + 1}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def edit(self, uri: str, range: Json, new: str) -> None:
        """Replace a range in UTF-16 positions by `new`, as typing does."""
        old = self._texts[uri]
        start, end = (
            old.offset(Position(range[side]["line"], range[side]["character"]), "utf-16") for side in ("start", "end")
        )
        self._texts[uri] = old.apply_edit(Edit(start, end, encode(new)), old.version + 1)
        document = {"uri": uri, "version": old.version + 1}
        changes = [{"range": range, "text": new}]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def text(self, uri: str) -> Document:
        """Return the document in its current version."""
        return self._texts[uri]

    def close(self, uri: str) -> None:
        """Close a document."""
        del self._texts[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def place_after(self, uri: str, before: str) -> Json:
        """Return the parameters of a message about the cursor right after the text `before`."""
        position = self._texts[uri].position(len(encode(before)), "utf-16")
        return {
            "textDocument": {"uri": uri},
            "position": {"line": position.line, "character": position.character},
        }

    async def inline_completion(self, uri: str, before: str, *, trigger: int = AUTOMATIC) -> list[Json]:
        """Return the items for the cursor right after the text `before`. `trigger` is `INVOKED` if the user asks."""
        params = self.place_after(uri, before) | {"context": {"triggerKind": trigger}}
        answer = await self.request("textDocument/inlineCompletion", params)
        return answer["items"]

    async def run(self, command: Json | None) -> Any:
        """Execute the command of an item or an action, as an editor does after it has applied the edit."""
        if command is None:
            return None
        arguments = command.get("arguments", [])
        return await self.request("workspace/executeCommand", {"command": command["command"], "arguments": arguments})

    def apply_edit(self, edit: Json) -> str:
        """Return the text of the only document that a workspace edit changes, after the edit."""
        [change] = edit["documentChanges"]
        document = self._texts[change["textDocument"]["uri"]]
        if change["textDocument"]["version"] not in (None, document.version):
            raise HarnessError("the edit is for another version of the document")

        def offset(position: Json) -> int:
            return document.offset(Position(position["line"], position["character"]), "utf-16")

        edits = [
            Edit(offset(e["range"]["start"]), offset(e["range"]["end"]), encode(e["newText"])) for e in change["edits"]
        ]
        return decode(apply(document.data, edits))
