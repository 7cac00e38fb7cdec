"""The editor at the other end of the connection: its capabilities, the messages to it, and its harness."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp_harness.config.load import Problem
from lsp_harness.config.schema import Config
from lsp_harness.harness.events import (
    FindingsChanged,
    HarnessEvent,
    OpenFindingsChanged,
    StateChanged,
    TroubleReported,
    VerificationReported,
)
from lsp_harness.harness.harness import Harness
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.lsp_conversion import lsp_diagnostics
from lsp_harness.server.protocol import LspServer
from lsp_harness.server.terminal_views import TerminalViews
from lsp_harness.text.document import Document
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.agents.agent_verbs import AgentVerbs
    from lsp_harness.sessions.session_verbs import SessionVerbs


class PushedDiagnostics:
    """A part of an open document: when the document closes, the client shows no diagnostics of ours on it any more."""

    def __init__(self, server: LspServer, uri: str) -> None:
        self._server = server
        self._uri = uri
        self._is_empty = True

    def push(self, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Replace the diagnostics that the client shows."""
        self._is_empty = not diagnostics
        params = types.PublishDiagnosticsParams(self._uri, diagnostics, version)
        self._server.text_document_publish_diagnostics(params)

    def close(self) -> None:
        """Remove the diagnostics that the server has pushed."""
        if not self._is_empty:
            self.push(None, [])


STATUS_METHOD = "lspHarness/status"
STATUS_DELAY_S = 0.1
"""Requests begin and end many times a second. A state that lasts less than this is not sent."""


class StatusFeed:
    """The status notifications of one client."""

    def __init__(self, server: LspServer, harness: Harness) -> None:
        self._server = server
        self._harness = harness
        self._timer: asyncio.TimerHandle | None = None
        self._last_state: dict[str, Any] = {}

    def schedule(self) -> None:
        """Send the state after a delay, if it is another one by then."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(STATUS_DELAY_S, self._send)

    def _send(self) -> None:
        self._timer = None
        state = self._harness.state()
        if state != self._last_state:
            self._last_state = state
            self._server.protocol.notify(STATUS_METHOD, state)


log = logging.getLogger(__name__)

MAX_WARNINGS = 1000
"""Number of warnings that `warn_once` remembers."""
MAX_VERSION = 2**31 - 1
"""The protocol has no larger number."""
TEXT_METHODS = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE)


class EditorClient:
    """The client of this process: there is one connection for each process. Handlers get it as their first argument.

    Attributes:
        server: Sends messages to the client.
        harness: Does the work for the requests.
        capabilities: What the client can do.
        base_config: The settings without those that the editor sent after `initialize`.
        initial_settings: The settings of the editor in `initialize`. They are a part of `base_config`.
        editor_settings: The settings that the editor sent last.
        project: The folder whose settings files count, or None.
        load_project: Reads the settings files again.
        settings_files: The URIs of the settings files on which problems are reported.
        exit_status: Is resolved with the exit status when the client ends the server.
        cancellable: The tasks that show progress which can be cancelled, by progress token.
        terminals: The views of the terminals of agents.
        asked_questions: The questions about permissions of agents that wait for the user: their agents and ids.
        is_recording_files: Whether files are recorded at the moment of which the client itself reported a change.
        text_listeners: Functions that are called with the URI of a document that was opened, changed, closed or lost.
    """

    def __init__(
        self, server: LspServer, harness: Harness, capabilities: ClientCapabilities, base_config: Config
    ) -> None:
        self.server = server
        self.harness = harness
        self.capabilities = capabilities
        self.base_config = base_config
        self.initial_settings: dict[str, Any] = {}
        self.editor_settings: dict[str, Any] = {}
        self.project: Path | None = None
        self.load_project: Callable[[], tuple[Config, list[Problem]]] = lambda: (base_config, [])
        self.settings_files: set[str] = set()
        self.exit_status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.cancellable: dict[int | str, asyncio.Task[Any]] = {}
        self.terminals = TerminalViews()
        self.asked_questions: set[tuple[str, str]] = set()
        self.is_recording_files = False
        self.text_listeners: list[Callable[[str], None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failure = ""
        self._warnings: dict[str, None] = {}
        self._due_refreshes: set[str] = set()
        self._status = StatusFeed(server, harness) if capabilities.status else None
        server.lsp.on_unreadable = self.handle_unreadable
        harness.events.subscribe(self._handle_event)

    def _handle_event(self, event: HarnessEvent) -> None:
        match event:
            case FindingsChanged(uri, findings):
                self.publish(uri, findings)
            case OpenFindingsChanged(uri, version):
                document = self.harness.documents.find(uri)
                if document and document.text.version == version:
                    self.publish(uri, self.harness.verification.findings(document.text))
            case VerificationReported(uri, version, "") if self.capabilities.code_lens:
                # a verification that was overtaken changes no lens
                if (document := self.harness.documents.find(uri)) and document.text.version == version:
                    self._schedule_refresh(types.WORKSPACE_CODE_LENS_REFRESH)
            case TroubleReported(message):
                self.show_warning(message)
            case StateChanged() if self._status:
                self._status.schedule()
            case _:
                pass

    # -- work of other packages
    @cached_property
    def sessions(self) -> "SessionVerbs":
        """The conversations of the client. Tools and the parser are imported at the first use."""
        from lsp_harness.sessions.session_verbs import SessionVerbs

        return SessionVerbs(self.harness.services)

    @cached_property
    def agents(self) -> "AgentVerbs":
        """The foreign agents of the client. The runtime is imported at the first use."""
        from lsp_harness.agents.agent_verbs import AgentVerbs

        return AgentVerbs(self.harness.services)

    # -- background work
    def stop(self, exit_status: int) -> None:
        """End the server with this exit status. The first call counts."""
        if not self.exit_status.done():
            self.exit_status.set_result(exit_status)

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start work that no request waits for. If it fails, its name is in the log."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._log_failure)

    def _log_failure(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("%s failed: %s", task.get_name(), error)

    async def aclose(self) -> None:
        """Cancel all work of this connection and wait until it has ended."""
        tasks = [*self._tasks, *self.server.lsp.running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- texts
    def freeze(self, uri: str) -> Snapshot:
        """Return a snapshot of a document. Raises DocumentNotOpen, DocumentOutOfSync."""
        return self.harness.snapshot(uri)

    def current_text(self, uri: str) -> Document:
        """Return the present text of a document. Raises DocumentNotOpen, DocumentOutOfSync."""
        return self.harness.documents.get(uri).text

    def version_of(self, text: Document) -> int | None:
        """Return the number that the client gave this text, or None if it gave none or one that LSP does not allow."""
        document = self.harness.documents.find(text.uri)
        version = document.client_version(text) if document else text.version
        return version if version is not None and abs(version) <= MAX_VERSION else None

    def report_text(self, uri: str) -> None:
        """Tell all listeners that a document was opened, changed, closed or lost."""
        for listener in self.text_listeners:
            listener(uri)

    def mark_out_of_sync(self, uri: str, method: str, reason: str) -> None:
        """Record that the text of a document is not known any more, and warn the client once.

        Args:
            uri: The URI of the document.
            method: The notification that could not be understood.
            reason: Why it could not be understood.
        """
        if self.harness.lose(uri, f"{method}: {reason}"):
            self.warn(
                f"lsp-harness does not know the text of {uri} ({method}: {reason}); "
                "it does nothing there until the file is closed and opened again"
            )
            self.report_text(uri)

    def handle_unreadable(self, body: bytes) -> None:
        """Mark the documents that a message which is not JSON was about.

        If it names none, it may be about any of them.
        """
        method = next((method for method in TEXT_METHODS if method.encode() in body), None)
        if method is None:
            return
        uris = [document.uri for document in self.harness.documents]
        named_uris = [
            uri for uri in uris if json.dumps(uri).encode() in body or f'"{uri}"'.encode(errors="replace") in body
        ]
        for uri in named_uris or uris:
            self.mark_out_of_sync(uri, method, "the message is not JSON")

    # -- messages
    def warn(self, message: str) -> None:
        """Write a line into our log and into the log view of the client. It is never a popup."""
        log.warning("%s", message)
        self.send_log_message(message)

    def send_log_message(self, message: str) -> None:
        """Write a line into the log view of the client. It is for messages that our log has already."""
        self.server.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=message))

    def warn_once(self, message: str) -> None:
        """Warn unless the same message was sent before."""
        if message not in self._warnings:
            self._warnings[message] = None
            while len(self._warnings) > MAX_WARNINGS:
                del self._warnings[next(iter(self._warnings))]
            self.warn(message)

    def show_warning(self, message: str) -> None:
        """Show a popup, because editors often do not show the error of a request."""
        log.warning("%s", message)
        self.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=message))

    def is_new_failure(self, message: str) -> bool:
        """Record why completions fail, and return whether the reason is a new one.

        If the model does not work, only the first request fails, not one for each key.
        """
        is_new, self._failure = message != self._failure, message
        return is_new

    def clear_failure(self) -> None:
        """Record that a completion succeeded. The next failure is a new one."""
        self._failure = ""

    # -- diagnostics
    def publish(self, uri: str, published: PublishedFindings) -> None:
        """Show findings for the version that they are about. Findings of an old text are not shown."""
        if self.capabilities.pull_diagnostics:
            self._schedule_refresh(types.WORKSPACE_DIAGNOSTIC_REFRESH)
            return
        document = self.harness.documents.find(uri)
        if document is None:
            return
        text = document.text
        if text.version != published.version and published.findings:
            return
        others = self.other_findings(text)
        diagnostics = lsp_diagnostics(text, published, self.capabilities, others)
        part = document.part(PushedDiagnostics, partial(PushedDiagnostics, self.server, uri))
        # an empty list for an older version says nothing about the present one
        is_current = text.version == published.version or bool(others)
        part.push(self.version_of(text) if is_current else published.version, diagnostics)

    def other_findings(self, text: Document) -> list[PublishedFindings]:
        """Return what is known about a text beside the verdict of its edits: by agents, and since it was opened."""
        own = self.harness.open_findings.find(text)
        return [*self.harness.services.agent_findings.find(text), *own]

    def _schedule_refresh(self, method: str) -> None:
        """Ask the client to request something again. All results of one turn of the event loop share a request."""
        if method not in self._due_refreshes:
            self._due_refreshes.add(method)
            self.spawn(self._request_refresh(method), method)

    async def _request_refresh(self, method: str) -> None:
        self._due_refreshes.discard(method)
        await self.server.protocol.send_request_async(method, None)
