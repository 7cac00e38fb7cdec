"""A language server as a child process, with JSON-RPC over its standard input and output."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.verify.types.message_child import Json, MessageChild, start_process
from lsp_harness.wire.message_stream import frame

START_LIMIT_S = 20.0
"""How long a child may take to answer `initialize`."""
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "window": {"workDoneProgress": False},
    # with a dynamic registration, `ty` answers no request for diagnostics before it has registered
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False},
        "publishDiagnostics": {"versionSupport": True},
        "synchronization": {},
    },
}


class LspChild(MessageChild):
    """A connection to one language server.

    Args:
        process: The process, with pipes.
        settings: The answer to `workspace/configuration`.

    Attributes:
        capabilities: What the server offers.
        encoding: The encoding of columns that the server chose.
        on_notification: Called with the name and the parameters of each notification.
    """

    def __init__(self, process: asyncio.subprocess.Process, settings: Callable[[], Json]) -> None:
        self._settings = settings
        self.capabilities: Json = {}
        self.encoding = "utf-16"
        self.on_notification: Callable[[str, Json], None] = lambda name, params: None
        super().__init__(process)

    @classmethod
    async def start(cls, argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> "LspChild":
        """Start a server for a workspace folder, and initialize it.

        Args:
            argv: The command.
            root: The workspace folder, in which the server runs.
            settings: Returns the settings that the server gets.

        Raises:
            OSError: The command cannot be run.
            ChildFailed: The server ended.
            TimeoutError: The server did not answer.
        """
        child = cls(await start_process(argv, root), settings)
        try:
            await child._initialize(root)
        except BaseException:
            await child.close()
            raise
        return child

    async def _initialize(self, root: Path) -> None:
        params = {
            "processId": os.getpid(),
            # rules about the text of a message need to know its language
            "locale": "en",
            "rootUri": root.as_uri(),
            "capabilities": CAPABILITIES,
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
            "initializationOptions": self._settings(),
        }
        answer = await self.request("initialize", params, START_LIMIT_S)
        self.capabilities = answer["capabilities"]
        self.encoding = self.capabilities.get("positionEncoding", "utf-16")
        self.notify("initialized", {})

    # -- messages
    def notify(self, method: str, params: Any) -> None:
        """Send a notification. Nothing is sent to a server that ended."""
        self._send({"method": method, "params": params})

    def _send_request(self, number: int, name: str, arguments: Any) -> None:
        self._send({"id": number, "method": name, "params": arguments})

    def _send(self, message: Json) -> None:
        self._write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def _handle(self, message: Json) -> None:
        method, params = message.get("method"), cast("Json", message.get("params") or {})
        if method is None:
            if error := cast("Mapping[str, Any] | None", message.get("error")):
                self._refuse(message["id"], f"it answered: {error.get('message')}")
            else:
                self.resolve(message["id"], message.get("result"))
        elif "id" in message:
            # other requests are registrations and progress, whose answer is empty
            items = params.get("items", [])
            result = [self._settings() for _ in items] if method == "workspace/configuration" else None
            self._send({"id": message["id"], "result": result})
        else:
            self.on_notification(method, params)
