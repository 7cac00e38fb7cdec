"""The editor at the other end: what it can do, what it is told, and the harness that works for it."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from lsprotocol import types

from lsp_harness.config.load import Problem
from lsp_harness.config.schema import Config
from lsp_harness.harness.events import FindingsChanged, HarnessEvent, StateChanged, TroubleReported
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.verification.published_findings import PublishedFindings
from lsp_harness.server import lsp_conversion
from lsp_harness.server.client_capabilities import Abilities
from lsp_harness.server.protocol import Server
from lsp_harness.server.status_feed import StatusFeed
from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot

log = logging.getLogger(__name__)

WARNINGS = 1000
"""That are remembered as said."""
LARGEST_VERSION = 2**31 - 1
"""The protocol has no larger number."""
TEXT_METHODS = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE)


class Client:
    """One per connection, and so one per process. Handlers get it first."""

    def __init__(self, server: Server, harness: Harness, able: Abilities, base: Config) -> None:
        self.server = server
        self.harness = harness
        self.able = able
        self.base = base
        """The configuration before the editor had its say."""
        self.project: Path | None = None
        """The folder whose settings files count."""
        self.load_project: Callable[[], tuple[Config, list[Problem]]] = lambda: (base, [])
        """Reads the settings files again."""
        self.options: dict[str, Any] = {}
        """The editor's settings of `initialize`, beneath those it gives later."""
        self.given: dict[str, Any] = {}
        """What the editor last set."""
        self.settings_files: set[str] = set()
        """URIs of settings files that have something wrong reported on them."""
        self.stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.cancellable: dict[int | str, asyncio.Task[Any]] = {}
        """Work shown as progress, by token."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._marked: set[str] = set()
        self._complaint = ""
        self._warnings: dict[str, None] = {}
        self._refresh_due = False
        self._status = StatusFeed(server, harness) if able.status else None
        server.lsp.on_unreadable = self.lose_unreadable
        harness.events.subscribe(self._handle)

    def _handle(self, event: HarnessEvent) -> None:
        match event:
            case FindingsChanged(uri, findings):
                self.publish(uri, findings)
            case TroubleReported(message):
                self.alert(message)
            case StateChanged() if self._status:
                self._status.changed()
            case _:
                pass

    # -- life
    def stop(self, code: int) -> None:
        if not self.stopped.done():
            self.stopped.set_result(code)

    def spawn(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Work that no request waits for; its failure is a line in the log."""
        task = asyncio.create_task(work, name=what)
        self._tasks.add(task)
        task.add_done_callback(self._reap)

    def _reap(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("%s failed: %s", task.get_name(), error)

    async def aclose(self) -> None:
        """Ends all work of this connection."""
        tasks = [*self._tasks, *self.server.lsp.running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- text
    def freeze(self, uri: str) -> Snapshot:
        return self.harness.snapshot(uri)

    def live(self, uri: str) -> Document:
        return self.harness.documents.get(uri).text

    def version_of(self, document: Document) -> int | None:
        """What the client calls this version of a document, where it says that and the protocol can."""
        opened = self.harness.documents.find(document.uri)
        version = opened.client_version(document) if opened else document.version
        return version if version is not None and abs(version) <= LARGEST_VERSION else None

    def lose(self, uri: str, method: str, why: str) -> None:
        """The text of a document is not known any more. The client is told once."""
        if self.harness.lose(uri, f"{method}: {why}"):
            self.forget(uri)
            self.warn(
                f"lsp-harness does not know the text of {uri} ({method}: {why}); "
                "it does nothing there until the file is closed and opened again"
            )

    def lose_unreadable(self, body: bytes) -> None:
        """A message is not JSON: where it was about a text, that is not known any more; where nobody can say which, none is."""
        method = next((method for method in TEXT_METHODS if method.encode() in body), None)
        if method is None:
            return
        opened = [document.uri for document in self.harness.documents]
        named = [
            uri for uri in opened if json.dumps(uri).encode() in body or f'"{uri}"'.encode(errors="replace") in body
        ]
        for uri in named or opened:
            self.lose(uri, method, "the message is not JSON")

    # -- telling
    def warn(self, message: str) -> None:
        """A line in the client's log view; never a popup."""
        log.warning("%s", message)
        self.tell(message)

    def tell(self, message: str) -> None:
        """The same, of what is in our own log already."""
        self.server.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=message))

    def warn_once(self, message: str) -> None:
        """A line in the client's log view that is not said again."""
        if message not in self._warnings:
            self._warnings[message] = None
            while len(self._warnings) > WARNINGS:
                del self._warnings[next(iter(self._warnings))]
            self.warn(message)

    def alert(self, message: str) -> None:
        """What the user should see, whatever the editor does with a request that failed."""
        log.warning("%s", message)
        self.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))

    def first_complaint(self, message: str) -> bool:
        """Whether this is news. A model that is down is one failed request, not one per keystroke."""
        news, self._complaint = message != self._complaint, message
        return news

    def content(self) -> None:
        """An answer came through: the next complaint is news again."""
        self._complaint = ""

    def publish(self, uri: str, published: PublishedFindings) -> None:
        """Diagnostics for exactly this version. Findings of a text that has moved on have no place to be shown at."""
        if self.able.pull_diagnostics:
            self._ask_to_pull()
            return
        opened = self.harness.documents.find(uri)
        text = opened.text if opened else None
        is_current = text is not None and text.version == published.version
        if published.findings and not is_current:
            return
        version = self.version_of(text) if text and is_current else published.version
        self._push(uri, version, lsp_conversion.diagnostics(text, published, self.able) if text else [])

    def forget(self, uri: str) -> None:
        """The document is closed; nothing of ours stays on it."""
        if uri in self._marked:
            self._push(uri, None, [])

    def _push(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        (self._marked.add if diagnostics else self._marked.discard)(uri)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def _ask_to_pull(self) -> None:
        """Findings of several documents published in one turn of the loop share a refresh."""
        if not self._refresh_due:
            self._refresh_due = True
            self.spawn(self._refresh(), "workspace/diagnostic/refresh")

    async def _refresh(self) -> None:
        self._refresh_due = False
        await self.server.workspace_diagnostic_refresh_async(None)
