"""Sends the events of sessions to a client that announced them, and shows questions about permissions."""

from collections.abc import Mapping
from typing import Any

from lsp_harness.errors import UsageError
from lsp_harness.harness.events import ConversationReported, HarnessEvent, TurnReported
from lsp_harness.permission.person import TITLES, Choice, offered_choices
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.question_message import choose_in_message
from lsp_harness.wire.event import Event
from lsp_harness.wire.session_frames import encode_frame

EVENT_METHOD = "$/lspHarness/event"
DELTA_METHOD = "$/lspHarness/delta"
PERMISSION_METHOD = "$/lspHarness/permission"
NO_ANSWER: Mapping[str, Any] = {"decision": "ask"}
"""The answer of a client that has nobody to ask. The action is denied then."""


class SessionFeed:
    """The events of all sessions of one client.

    Args:
        client: The client.
    """

    def __init__(self, client: EditorClient) -> None:
        self._client = client

    def handle(self, event: HarnessEvent) -> None:
        """Send an event of the harness, if it belongs to a session and the client wants it."""
        match event:
            case ConversationReported(reported):
                self._send(reported)
                if reported.type == "permission.requested":
                    self._show_question(reported)
            case TurnReported(reported):
                self._send(reported)
            case _:
                pass

    def _send(self, event: Event) -> None:
        if self._client.capabilities.events and (frame := encode_frame(event)) is not None:
            self._client.server.protocol.notify(DELTA_METHOD if event.seq is None else EVENT_METHOD, frame)

    # -- questions
    def _show_question(self, event: Event) -> None:
        if self._client.capabilities.permissions:
            self._client.server.protocol.notify(PERMISSION_METHOD, encode_frame(event))
        else:
            self._client.spawn(self._ask(event), "asking the user about a permission")

    async def _ask(self, event: Event) -> None:
        """Ask with a standard message. Not every client can show one."""
        choices: Mapping[str, Choice] = {
            TITLES[choice]: choice for choice in offered_choices(event.data["suggestions"])
        }
        message = f"lsp-harness asks:\n{event.data['text']}"
        chosen, is_shown = await choose_in_message(self._client, message, list(choices))
        answer = _read_choice(choices.get(chosen)) if is_shown else NO_ANSWER
        try:
            self._client.sessions.answer_question(str(event.data["request_id"]), answer)
        except UsageError:
            # the turn has ended meanwhile
            return


def _read_choice(choice: Choice | None) -> Mapping[str, Any]:
    """Return the answer that a button gives."""
    match choice:
        case None:
            return {"decision": "deny", "reason": "the user closed the question without an answer"}
        case "reject":
            return {"decision": "deny", "reason": "the user rejected it"}
        case _:
            return {"decision": "allow", "remember": choice}
