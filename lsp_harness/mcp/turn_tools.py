"""The tools that let the local model work: a proposal of a verified edit, and a turn of a session."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from lsp_harness.errors import UsageError
from lsp_harness.mcp.call_progress import CallContext, follow_call
from lsp_harness.mcp.paged_answer import PagedAnswer
from lsp_harness.mcp.served_sessions import ServedSessions, ServedTurn, session_uri
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.wire.event import Event

PROGRESS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "state.entered": lambda data: str(data.get("state", "")).capitalize(),
    "tool.started": lambda data: f"tool {data.get('tool', '')}",
    "candidate.generated": lambda data: f"candidate {data.get('candidate', '')}",
    "candidate.rejected": lambda data: f"rejected: {data.get('reason', '')}",
    "permission.requested": lambda data: f"asked: {data.get('reason', '')}",
}
"""Type of an event → its line of progress."""
FIRST_MODERN_VERSION = "2026"
"""Versions of the protocol from this year on let a server ask nothing while a call runs."""


class PermissionAnswer(BaseModel):
    """The answer of the user of the client to a question about a permission."""

    # the word "yes" or the number 1 is no answer to a question for true or false
    allow: bool = Field(description="Allow it", strict=True)


class LastingAnswer(PermissionAnswer):
    """An answer that may count for longer, because a rule can say it."""

    remember: Literal["once", "session", "always"] = Field("once", description="How long a yes counts")


class TurnTools:
    """The tools that let the local model work.

    Args:
        sessions: The sessions of the project.
    """

    def __init__(self, sessions: ServedSessions) -> None:
        self._sessions = sessions

    async def propose_edit(
        self,
        context: CallContext,
        task: Annotated[str, Field(description="What to change, and where if you know it")],
    ) -> CallToolResult:
        """Let the local model write an edit that no check fails, and return it as a diff. It is not applied.

        The first line says what was looked at. Without tests that ran the change it is form ✓, behaviour not checked.
        """

        async def run(report: Callable[[str], None]) -> ServedTurn:
            return await self._sessions.run(
                task, driver="code", is_dry=True, listen=lambda opened, event: _report(event, report)
            )

        turn = await follow_call(context, run)
        if not (proposals := turn.find("edit.proposed")):
            return _answer(turn, turn.text or turn.detail, {})
        diff, verdicts = proposals[-1]["diff"], turn.find("verify.completed")[::-1]
        verdict = next((data for data in verdicts if data["hash"] == proposals[-1]["hash"]), dict[str, Any]())
        standing = {"standing": verdict.get("standing", ""), "words": verdict.get("words", "")}
        fields = {"text": turn.text, "hash": proposals[-1]["hash"], "diff": diff, **standing}
        return _answer(turn, f"{turn.text}\n{diff}", fields)

    async def run_turn(
        self,
        context: CallContext,
        prompt: Annotated[str, Field(description="The request")],
        session: Annotated[str, Field(description="The id of a session to continue. Empty begins a new one")] = "",
        driver: Annotated[
            Literal["auto", "chat", "code"],
            Field(
                description="chat: a conversation with tools; code: an answer about the code, or one checked edit, "
                "applied if allowed; auto: chat if the model can call tools, else code"
            ),
        ] = "auto",
    ) -> CallToolResult:
        """Send a prompt to the local model, which answers it or works on it. Returns its answer.

        What the settings neither allow nor deny is asked from the user, if the client can ask, and else denied.
        """
        asker = _Asker(context)

        async def run(report: Callable[[str], None]) -> ServedTurn:
            def listen(opened: OpenSession, event: Event) -> None:
                _report(event, report)
                asker.follow(opened, event)

            return await self._sessions.run(
                prompt,
                session_id=session,
                driver=None if driver == "auto" else driver,
                listen=listen,
                has_person=asker.can_ask,
            )

        try:
            turn = await follow_call(context, run)
        finally:
            asker.close()
        return _answer(turn, turn.text or turn.detail, {})


class _Asker:
    """Asks the user of the client about permissions, while a turn runs.

    Args:
        context: The context of the call.
    """

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def can_ask(self) -> bool:
        """True if the client can ask its user while a call runs."""
        capabilities, version = self._context.client_capabilities, self._context.protocol_version or ""
        return version < FIRST_MODERN_VERSION and capabilities is not None and capabilities.elicitation is not None

    def follow(self, opened: OpenSession, event: Event) -> None:
        """Ask about the permission that an event requests."""
        if event.type == "permission.requested" and self.can_ask:
            task = asyncio.ensure_future(self._ask(opened, event.data))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Withdraw the questions that wait."""
        for task in self._tasks:
            task.cancel()

    async def _ask(self, opened: OpenSession, data: Mapping[str, Any]) -> None:
        fields: dict[str, Any] = {"decision": "deny", "reason": "the client did not answer"}
        with suppress(Exception):
            form = LastingAnswer if data.get("suggestions") else PermissionAnswer
            answer = await self._context.elicit(f"lsp-harness asks:\n{data.get('text')}", form)
            is_allowed = answer.action == "accept" and answer.data.allow
            fields = {"decision": "allow" if is_allowed else "deny", "reason": "the user of the client decided"}
            if answer.action == "accept" and isinstance(answer.data, LastingAnswer):
                fields["remember"] = answer.data.remember
        # the turn may have ended meanwhile
        with suppress(UsageError):
            opened.answer_question(str(data.get("request_id")), fields)


def _report(event: Event, report: Callable[[str], None]) -> None:
    if (describe := PROGRESS.get(event.type)) and (line := describe(event.data)):
        report(line)


def _answer(turn: ServedTurn, text: str, fields: Mapping[str, Any]) -> CallToolResult:
    remark = f"session {turn.session_id}; all of it: {session_uri(turn.session_id)}"
    shown = PagedAnswer(text.split("\n"), [remark]).page()
    content: list[Any] = [TextContent(type="text", text=shown)]
    structured = {"session": turn.session_id, "reason": turn.reason, "text": shown, **fields}
    return CallToolResult(content=content, structured_content=structured, is_error=turn.reason == "error")
