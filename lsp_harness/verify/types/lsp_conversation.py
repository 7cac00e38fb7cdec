"""Conversations with checkers that are language servers: they are asked for findings, or publish them by themselves.

The server is a child process, with JSON-RPC over its standard input and output.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.text.document import Document
from lsp_harness.text.position import Encoding, Position
from lsp_harness.verify.finding import Finding, Severity
from lsp_harness.verify.types.conversation import CheckerConversation
from lsp_harness.verify.types.message_child import Json, MessageChild, start_process
from lsp_harness.wire.message_stream import frame
from lsp_harness.workspace.folder_stamps import ChangedFile, ChangeKind

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


CHANGE_TYPES: dict[ChangeKind, int] = {"created": 1, "changed": 2, "deleted": 3}
SEVERITIES: dict[int, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint"}


async def start_lsp_conversation(argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> CheckerConversation:
    """Start a language server, and return a conversation of the kind that it offers."""
    child = await LspChild.start(argv, root, settings)
    # an empty object offers it, too
    answers = child.capabilities.get("diagnosticProvider", False) not in (None, False)
    return PullConversation(child) if answers else PushConversation(child)


class LspConversation(CheckerConversation):
    """The documents of a language server."""

    def __init__(self, child: LspChild) -> None:
        super().__init__(child)
        self._child = child

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        # a checker does nothing about a changed file that it does not know, so a new one must be called new
        items = [{"uri": change.path.as_uri(), "type": CHANGE_TYPES[change.kind]} for change in changes]
        self._child.notify("workspace/didChangeWatchedFiles", {"changes": items})

    def _open(self, document: Document) -> None:
        item = {"uri": document.uri, "languageId": document.language, "version": 1, "text": document.text}
        self._child.notify("textDocument/didOpen", {"textDocument": item})

    def _change(self, before: Document, document: Document, version: int) -> None:
        item = {"uri": document.uri, "version": version}
        changes = [{"text": document.text}]
        self._child.notify("textDocument/didChange", {"textDocument": item, "contentChanges": changes})

    def _close_text(self, uri: str) -> None:
        self._child.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _read_findings(self, items: Iterable[Json], document: Document) -> tuple[Finding, ...]:
        encoding = cast("Encoding", self._child.encoding)
        return tuple(_read_finding(item, document, encoding) for item in items)


class PullConversation(LspConversation):
    """A server that is asked for the findings of a text (`textDocument/diagnostic`)."""

    async def find_findings(self, document: Document, limit_s: float) -> tuple[Finding, ...]:
        params = {"textDocument": {"uri": document.uri}}
        answer = cast("Json", await self._child.request("textDocument/diagnostic", params, limit_s) or {})
        return self._read_findings(answer.get("items") or [], document)


class PushConversation(LspConversation):
    """A server that publishes the findings of each version of a text by itself.

    What it publishes without a version is not used, because it may be about an earlier text.
    """

    def __init__(self, child: LspChild) -> None:
        super().__init__(child)
        self._published: dict[tuple[str, int], list[Json]] = {}
        """The findings of the present version of each document."""
        child.on_notification = self._record

    async def find_findings(self, document: Document, limit_s: float) -> tuple[Finding, ...]:
        key = document.uri, self._sent_texts[document.uri].version
        if key not in self._published:
            await self._child.wait_for(key, limit_s)
        return self._read_findings(self._published[key], document)

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        super().record_file_changes(changes)
        # what was published is about the old files, and a new version of each text makes the server look again
        self._published.clear()
        for sent in self._sent_texts.values():
            sent.version += 1
            super()._change(sent.document, sent.document, sent.version)

    def _record(self, name: str, params: Json) -> None:
        if name != "textDocument/publishDiagnostics":
            return
        uri, version = cast("str", params["uri"]), cast("Any", params.get("version"))
        sent_text = self._sent_texts.get(uri)
        if sent_text and version == sent_text.version:
            self._published[uri, version] = params["diagnostics"]
            self._child.resolve((uri, version), None)

    def _change(self, before: Document, document: Document, version: int) -> None:
        self._published.pop((document.uri, version - 1), None)
        super()._change(before, document, version)

    def _close_text(self, uri: str) -> None:
        self._published = {key: items for key, items in self._published.items() if key[0] != uri}
        super()._close_text(uri)


def _read_finding(item: Json, document: Document, encoding: Encoding) -> Finding:
    start, end = (
        document.offset(Position(item["range"][side]["line"], item["range"][side]["character"]), encoding)
        for side in ("start", "end")
    )
    # the lines below the first say where was searched
    message = str(item.get("message", "")).split("\n", 1)[0]
    severity = SEVERITIES.get(item.get("severity", 1), "error")
    return Finding(start, max(start, end), message, "", str(item.get("code") or ""), severity)
