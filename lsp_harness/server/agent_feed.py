"""Shows agents in the editor: their events, the questions that they ask, and the findings about files they changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lsprotocol import types

from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.events import AgentFindingsChanged, AgentReported, HarnessEvent, TurnReported
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import lsp_diagnostics
from lsp_harness.server.question_message import choose_in_message
from lsp_harness.text.uri import local_path
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.wire.event import Event

if TYPE_CHECKING:
    from lsp_harness.runtime.agent_events import AgentEvent

EVENT_METHOD = "$/lspHarness/event"
QUESTION_METHOD = "$/lspHarness/question"
ALLOW, DENY, OPEN, LATER = "Allow", "Deny", "Open in the browser", "Not now"
MAX_OPTIONS = 8
"""Answers of an agent that are buttons. Editors show few."""
MAX_TEXT_CHARS = 300
ASKING_EVENTS = ("question", "blocking_prompt", "login_required")
"""Events of questions that a person must answer. The permission gate is asked first about the others."""


class AgentFeed:
    """The events and questions of all agents of one client.

    Args:
        client: The client.
    """

    def __init__(self, client: EditorClient) -> None:
        self._client = client

    def handle(self, event: HarnessEvent) -> None:
        """Handle an event of the harness, if it is about an agent."""
        match event:
            case AgentReported(reported):
                self._send(reported)
                if reported.event in ASKING_EVENTS:
                    self._show_question(reported.agent_id, reported.data)
                elif reported.event == "permission_decided":
                    self._client.asked_questions.discard((reported.agent_id, str(reported.data.get("questionId"))))
            case TurnReported(recorded) if recorded.type == "permission.requested":
                self._show_gate_question(recorded)
            case _:
                pass

    def _send(self, event: "AgentEvent") -> None:
        capabilities = self._client.capabilities
        if capabilities.agents or capabilities.events:
            self._client.server.protocol.notify(EVENT_METHOD, {**event.fields, "agentId": event.agent_id})

    # -- questions
    def _show_gate_question(self, event: Event) -> None:
        """Ask the user what the gate wants to know of a person. The gate knows the question as a call of a tool."""
        from lsp_harness.runtime.question_desk import question_fields

        asking = [agent for agent in self._client.agents.list() if agent.id == event.data.get("agent_id")]
        for agent in asking:
            for question in agent.open_questions:
                if question.id == event.data.get("call_id"):
                    self._client.asked_questions.add((agent.id, question.id))
                    asked = {**question_fields(question), "text": event.data["text"], "agent": agent.fields()}
                    self._show_question(agent.id, asked)

    def _show_question(self, agent_id: str, data: Mapping[str, Any]) -> None:
        if "questionId" not in data:
            return
        if self._client.capabilities.questions:
            self._client.server.protocol.notify(QUESTION_METHOD, {**data, "agentId": agent_id})
        else:
            self._client.spawn(self._ask(agent_id, data), "asking the user what an agent asks")

    async def _ask(self, agent_id: str, data: Mapping[str, Any]) -> None:
        """Ask with a standard message. Not every client can show one."""
        kind, text = data.get("kind"), describe_agent_question(data)
        if kind == "auth":
            await self._ask_login(text, str(data.get("loginUrl") or ""))
        elif kind in ("permission", "trust"):
            chosen, is_shown = await choose_in_message(self._client, text, [ALLOW, DENY])
            reason = "the user denied it" if chosen else "the user closed the question without an answer"
            reason = reason if is_shown else "nobody can be asked in this editor"
            await self._answer(agent_id, data, is_allowed=chosen == ALLOW, reason="" if chosen == ALLOW else reason)
        elif options := [str(option) for option in data.get("options") or ()][:MAX_OPTIONS]:
            shown = {clean_line(option): option for option in options}
            chosen, _ = await choose_in_message(self._client, text, list(shown))
            if chosen:
                await self._answer(agent_id, data, is_allowed=True, text=shown[chosen])
        else:
            # a message has no field for a text
            self._client.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=text))

    async def _ask_login(self, text: str, url: str) -> None:
        """Open the page of a login if the user agrees."""
        if not (address := web_address(url)) or not self._client.capabilities.show_document:
            message = f"{text}: {address}" if address else text
            self._client.server.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Warning, message=message)
            )
            return
        chosen, _ = await choose_in_message(self._client, f"{text} at {urlsplit(address).hostname}", [OPEN, LATER])
        if chosen == OPEN:
            await self._client.server.window_show_document_async(types.ShowDocumentParams(uri=address, external=True))

    async def _answer(
        self, agent_id: str, data: Mapping[str, Any], *, is_allowed: bool, reason: str = "", text: str = ""
    ) -> None:
        from lsp_harness.runtime.agent_errors import AgentError
        from lsp_harness.runtime.connection import QuestionAnswer

        answer = QuestionAnswer(is_allowed, reason, text)
        try:
            await self._client.agents.require(agent_id).answer(str(data["questionId"]), answer)
        except AgentError as error:
            # somebody answered in the terminal, or the agent has ended; an answer that is lost is an event of its own
            self._client.warn(f"an answer did not reach the agent: {error.message}")


def clean_line(text: str) -> str:
    """Return a text of an agent as one short line without control characters and marks of the writing direction."""
    from lsp_harness.runtime.terminal.terminal_signals import clean_text

    line = clean_text(" ".join(text.split()), MAX_TEXT_CHARS + 1)
    return line if len(line) <= MAX_TEXT_CHARS else f"{line[:MAX_TEXT_CHARS]}…"


def describe_agent_question(data: Mapping[str, Any]) -> str:
    """Return a question: who asks, and all of what is asked."""
    agent = dict[str, Any](data.get("agent") or {})
    name = clean_line(str(agent.get("name") or "an agent"))
    if data.get("kind") == "auth":
        return f"{name} wants you to log in"
    if text := data.get("text"):
        return f"{name} asks:\n{text}"
    return f"{name} asks a question that no rule knows; look at its terminal"


def web_address(url: str) -> str:
    """Return an address that may be opened, or an empty text: one of the web, and not of a program of this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    return url if is_web and url.isprintable() and " " not in url else ""


class AgentDiagnostics:
    """The diagnostics of files that agents changed.

    The findings about an open document are a part of its other diagnostics, pushed or pulled. A client can pull only
    those of documents that it has open, so those of other files are pushed to every client.

    Args:
        client: The client.
    """

    def __init__(self, client: EditorClient) -> None:
        self._client = client
        self._findings = client.harness.services.agent_findings
        self._shown_uris: set[str] = set()
        """The open documents that had findings of agents when they were last looked at."""
        self._pushed: dict[Path, str] = {}
        """File → the URI of the diagnostics that were pushed while it was not open."""

    def handle(self, event: HarnessEvent) -> None:
        """Show the findings about a file again if they have changed."""
        if isinstance(event, AgentFindingsChanged):
            uris = self._find_uris(event.file)
            for uri in uris:
                self._show_open(uri)
            self._show_closed(event.file, is_open=bool(uris))

    def follow(self, uri: str) -> None:
        """Show the findings about a document whose text was opened, changed, closed or lost.

        Args:
            uri: The URI of the document.
        """
        if not self._findings and not self._shown_uris and not self._pushed:
            return
        file = local_path(uri)
        if file is None:
            return
        file = resolve_links(file)
        self._show_closed(file, is_open=bool(self._find_uris(file)))
        self._show_open(uri)

    def _show_open(self, uri: str) -> None:
        opened = self._client.harness.documents.find(uri)
        has_findings = opened is not None and bool(self._findings.find(opened.text))
        if opened and (has_findings or uri in self._shown_uris):
            self._client.publish(uri, self._client.harness.verification.findings(opened.text))
        (self._shown_uris.add if has_findings else self._shown_uris.discard)(uri)

    def _show_closed(self, file: Path, *, is_open: bool) -> None:
        """Push the findings about a file that is not open, or remove them."""
        found = [] if is_open else self._findings.find_by_file(file)
        old_uri = self._pushed.pop(file, "")
        if found:
            text = found[0].text
            results = [each.published for each in found if each.text.hash == text.hash]
            diagnostics = lsp_diagnostics(text, PublishedFindings(0), self._client.capabilities, results)
            self._push(text.uri, diagnostics)
            self._pushed[file] = text.uri
        elif old_uri:
            self._push(old_uri, [])

    def _push(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self._client.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    def _find_uris(self, file: Path) -> list[str]:
        """Return the URIs of a file that the client has open, also of those whose text is not known any more."""
        documents = self._client.harness.documents
        uris = [*(opened.uri for opened in documents), *documents.lost_texts]
        return [uri for uri in uris if (path := local_path(uri)) and resolve_links(path) == file]
